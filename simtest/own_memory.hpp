// Where one rank keeps the sources and destinations of its operations: half of them in a slab that
// it registers, so that NICs may know it for long, half elsewhere, as it comes.
//
// Invariant: what was taken stays where it is until the end of the run.
// Owner: the oracle; registered by the runner. Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace photon::simtest {

class OwnMemory {
 public:
  static constexpr std::size_t kSlabBytes = 32 << 10;

  std::span<std::byte> slab() noexcept { return slab_; }

  std::span<std::byte> take(std::size_t size_bytes) {
    if (++taken_ % 2 == 0 && size_bytes <= kSlabBytes - used_) {
      used_ += size_bytes;
      return std::span(slab_).subspan(used_ - size_bytes, size_bytes);
    }
    return elsewhere_.emplace_back(size_bytes);
  }

 private:
  std::vector<std::byte> slab_ = std::vector<std::byte>(kSlabBytes);
  std::size_t used_ = 0;
  std::uint64_t taken_ = 0;
  std::deque<std::vector<std::byte>> elsewhere_;
};

}  // namespace photon::simtest
