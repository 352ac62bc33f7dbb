// Blocks of one size at equal distances: how tables of scatter chunks and of gathers name memory
// (docs/wire-format.md).
// Invariant: the bytes of one run fit 64 bits, whatever a peer wrote. Owner: none.
#pragma once

#include <cstdint>
#include <optional>

namespace photon::wire {

struct Run {
  std::uint64_t address = 0;  // of its first block
  std::uint64_t key = 0;
  std::uint32_t size_bytes = 0;  // of a block; not 0
  std::uint32_t count = 0;       // of blocks; not 0
  std::int64_t stride_bytes = 0;
};
static_assert(sizeof(Run) == 32);

inline constexpr std::uint64_t kRunBytes = sizeof(Run);
inline constexpr std::uint32_t kMostGathered = 128;  // runs of one gather record

constexpr std::uint64_t bytes_of(const Run& run) noexcept {
  return std::uint64_t{run.size_bytes} * run.count;
}

// The smallest range around all blocks. It lies in a region exactly if all of them do.
struct Extent {
  std::uint64_t address = 0;
  std::uint64_t size_bytes = 0;
};

// Of `count` blocks, not 0. None: some lie outside of the address space.
constexpr std::optional<Extent> extent_of(std::uint64_t address, std::uint64_t size_bytes,
                                          std::uint64_t count, std::int64_t stride_bytes) noexcept {
  std::int64_t way = 0;
  Extent all{address, size_bytes};
  std::uint64_t end = 0;
  if (count - 1 > INT64_MAX ||
      __builtin_mul_overflow(stride_bytes, static_cast<std::int64_t>(count - 1), &way))
    return std::nullopt;
  const std::uint64_t back = way < 0 ? -static_cast<std::uint64_t>(way) : 0;
  const std::uint64_t on = way < 0 ? 0 : static_cast<std::uint64_t>(way);
  if (back > address || __builtin_add_overflow(size_bytes, back + on, &all.size_bytes))
    return std::nullopt;
  all.address = address - back;
  if (__builtin_add_overflow(all.address, all.size_bytes, &end)) return std::nullopt;
  return all;
}
constexpr std::optional<Extent> extent_of(const Run& run) noexcept {
  return extent_of(run.address, run.size_bytes, run.count, run.stride_bytes);
}

}  // namespace photon::wire
