// The operations share this: where a spot is, and how bytes of a target that this process cannot
// reach itself are read and written.
// Owner: the stack of one operation. Threads: that one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "interop/mpi/fold/fold.hpp"
#include "interop/mpi/type/walk.hpp"
#include "interop/mpi/window/operations.hpp"

namespace photon::mpi {

inline constexpr Outcome kNoWay{MPI_ERR_OTHER,
                                "the memory of a target cannot be reached any more; it may have "
                                "ended"};
inline constexpr Outcome kUneven{MPI_ERR_TYPE,
                                 "the types of origin and target do not hold the same data"};

// Finds the layout of so many elements. They are good until the type is freed.
Outcome describe(Job& job, std::int64_t count, MPI_Datatype type, Elements& elements) noexcept;

// A spot that was looked at: all its bytes lie in the memory of the target. `offset` is that of its
// displacement, in bytes; no bytes: 0.
struct Area {
  Target* target = nullptr;
  std::int64_t offset = 0;
  Elements elements{};
};
Outcome find(Window& window, const Spot& spot, Area& area) noexcept;

// Bytes of a target whose memory the kernel copies, from `offset` on. False: it refuses.
bool read_copied(Job& job, const Target& target, std::int64_t offset, void* to,
                 std::size_t bytes) noexcept;
bool write_copied(Job& job, const Target& target, std::int64_t offset, const void* from,
                  std::size_t bytes) noexcept;

// The same where the target has to take part. What is written is there when the target is settled;
// its source stays as it is until then.
bool write_served(Window& window, Target& target, std::int64_t offset,
                  ph_const_block from) noexcept;

// Reads that are under way together. Owner: the stack of one operation; end() before it goes.
class Reads {
 public:
  explicit Reads(Window& window) noexcept : window_(window) {}
  bool add(const Target& target, std::int64_t offset, ph_block to) noexcept;
  bool end() noexcept;  // all are there; false: one is not

 private:
  static constexpr std::size_t kMost = 64;

  Window& window_;
  ph_request open_[kMost] = {};
  std::size_t next_ = 0;  // what is there is waited for first
  bool is_good_ = true;
};

struct Fold {
  const void* origin;
  const Elements* own;
  const Area* area;
  FoldKind kind;
  const UserOp* user;           // null: it is a predefined operation
  std::span<std::byte> result;  // as an array; empty: nobody wants it
};
Outcome fold_served(Window& window, const Fold& fold) noexcept;
struct Swap {
  const void* origin;
  const void* compare;
  void* result;
};
Outcome swap_served(Window& window, const Area& area, const Swap& swap) noexcept;

}  // namespace photon::mpi
