// The buffers of one collective operation at this member, what they hold, and what they must hold
// afterwards: doubles that count up, so that each element of each block of each member and each
// operation is another one, and their sums are exact.
// Invariant: all members call renew() and check() in step; element i of the block that member
// `source` has for `target` is stamp * 31 + source * 17 + target * 5 + i.
// Owner: a row; one thread.
#pragma once

#include <memory>
#include <optional>

#include "coll_kinds.hpp"
#include "job.hpp"

namespace photon::perf {

// Ordinary memory, which the library knows nothing of, or that of ph_alloc; touched.
class CollMemory {
 public:
  CollMemory(Job& job, MemoryKind kind, std::size_t size_bytes);
  std::byte* data() const noexcept { return shared_ ? shared_->data() : heap_.get(); }
  double* doubles() const noexcept { return reinterpret_cast<double*>(data()); }

 private:
  struct Free {
    void operator()(std::byte* data) const noexcept;
  };
  std::optional<Memory> shared_;
  std::unique_ptr<std::byte, Free> heap_;
};

class CollData {
 public:
  struct Shape {
    const CollKind* kind;
    std::uint64_t size_bytes;  // of a block
    MemoryKind memory;
    bool is_fresh;  // inputs are rewritten and outputs read between any two operations
  };

  CollData(Job& job, const Shape& shape);

  const CollKind& kind() const noexcept { return *shape_.kind; }
  bool is_fresh() const noexcept { return shape_.is_fresh; }
  std::uint64_t size_bytes() const noexcept { return shape_.size_bytes; }
  std::uint64_t count() const noexcept { return shape_.size_bytes / sizeof(double); }
  std::uint32_t member() const noexcept { return member_; }

  // Each member has both, whether its part of the operation uses them or not.
  double* in() const noexcept { return in_.doubles(); }
  double* out() const noexcept { return out_.doubles(); }
  // The block that this member has for `target`, and the place of that of `source`.
  double* in_for(std::uint32_t target) const noexcept;
  double* out_of(std::uint32_t source) const noexcept;

  // The owner writes all of its input anew.
  void renew() noexcept;
  // The owner reads all of its output. Throws Failure if it is not that of the last renew().
  void check() const;

  // Valid as long as this is.
  ph_coll_args args() const noexcept;

 private:
  Shape shape_;
  std::uint32_t member_;
  std::uint32_t members_;
  CollMemory in_;
  CollMemory out_;
  std::vector<std::uint64_t> counts_;
  std::uint64_t stamp_ = 0;
};

}  // namespace photon::perf
