// Equal blocks from one row of places to another: every byte of a vectored operation that a
// processor moves goes through here.
// Invariant: one block may overlap its destination; a block never another one's. Owner: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace photon::engine {

struct BlockRow {
  std::byte* first = nullptr;
  std::int64_t stride_bytes = 0;
};

// Blocks without gaps, to be read.
inline BlockRow packed_row(const std::byte* first, std::uint64_t size_bytes) noexcept {
  return {const_cast<std::byte*>(first), static_cast<std::int64_t>(size_bytes)};
}

namespace detail {

// Of a size that the compiler knows: registers instead of a call, most of what a small block costs.
template <std::size_t Size>
inline void copy_fixed(BlockRow to, BlockRow from, std::uint64_t count) noexcept {
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(count); ++i) {
    std::byte block[Size];
    std::memcpy(block, from.first + i * from.stride_bytes, Size);
    std::memcpy(to.first + i * to.stride_bytes, block, Size);
  }
}

}  // namespace detail

// `from` is only read.
inline void copy_blocks(BlockRow to, BlockRow from, std::uint64_t size_bytes,
                        std::uint64_t count) noexcept {
  switch (size_bytes) {
    case 4: return detail::copy_fixed<4>(to, from, count);
    case 8: return detail::copy_fixed<8>(to, from, count);
    case 16: return detail::copy_fixed<16>(to, from, count);
    case 32: return detail::copy_fixed<32>(to, from, count);
    case 64: return detail::copy_fixed<64>(to, from, count);
    default: break;
  }
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(count); ++i)
    std::memmove(to.first + i * to.stride_bytes, from.first + i * from.stride_bytes, size_bytes);
}

}  // namespace photon::engine
