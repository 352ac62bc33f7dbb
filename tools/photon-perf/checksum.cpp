#include "checksum.hpp"

#include <algorithm>
#include <cstring>

namespace photon::perf {
namespace {

// Vectors in registers; in memory they have any alignment, so they are copied there and back.
template <std::size_t size>
struct Lanes;
template <>
struct Lanes<16> {
  typedef std::uint64_t Vector __attribute__((vector_size(16)));
};
template <>
struct Lanes<32> {
  typedef std::uint64_t Vector __attribute__((vector_size(32)));
};

// Bytes a turn of the wide loops: four cache lines, enough loads in flight to hide a miss.
constexpr std::size_t kStrideBytes = 256;

// Sum `strides` strides, copying them on the way if `to` is not null. Eight accumulators: an add
// need not wait for the one before. Inlined, so that each caller's target decides the registers.
template <std::size_t width, bool copies>
[[gnu::always_inline]] inline std::uint64_t sum_strides(std::byte* to, const std::byte* from,
                                                        std::size_t strides) noexcept {
  using Vector = typename Lanes<width>::Vector;
  constexpr std::size_t kVectors = kStrideBytes / width;
  constexpr std::size_t kSums = 8;
  Vector sums[kSums] = {};
  for (; strides > 0; --strides, from += kStrideBytes, to += copies ? kStrideBytes : 0) {
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kVectors; ++i) {
      Vector in;
      std::memcpy(&in, from + i * width, width);
      sums[i % kSums] += in;
      if constexpr (copies) std::memcpy(to + i * width, &in, width);
    }
  }
  std::uint64_t total = 0;
  for (auto& sum : sums) {
    for (std::size_t i = 0; i < width / 8; ++i) total += sum[i];
  }
  return total;
}

template <bool copies>
std::uint64_t sum_narrow(std::byte* to, const std::byte* from, std::size_t strides) noexcept {
  return sum_strides<16, copies>(to, from, strides);
}

template <bool copies>
[[gnu::target("avx2")]] std::uint64_t sum_wide(std::byte* to, const std::byte* from,
                                               std::size_t strides) noexcept {
  return sum_strides<32, copies>(to, from, strides);
}

template <bool copies>
std::uint64_t sum_best(std::byte* to, const std::byte* from, std::size_t strides) noexcept {
  if (__builtin_cpu_supports("avx2")) return sum_wide<copies>(to, from, strides);
  return sum_narrow<copies>(to, from, strides);
}

std::uint64_t sum_tail(const std::byte* data, std::size_t size_bytes) noexcept {
  std::uint64_t sum = 0;
  std::uint64_t word = 0;
  for (; size_bytes >= sizeof word; data += sizeof word, size_bytes -= sizeof word) {
    std::memcpy(&word, data, sizeof word);
    sum += word;
  }
  if (size_bytes == 0) return sum;
  word = 0;
  std::memcpy(&word, data, size_bytes);
  return sum + word;
}

}  // namespace

std::uint64_t checksum_of(const void* data, std::size_t size_bytes) noexcept {
  const auto* from = static_cast<const std::byte*>(data);
  if (size_bytes < kStrideBytes) return sum_tail(from, size_bytes);
  const auto strides = size_bytes / kStrideBytes;
  const auto wide_bytes = strides * kStrideBytes;
  const auto sum = sum_best<false>(nullptr, from, strides);
  return sum + sum_tail(from + wide_bytes, size_bytes - wide_bytes);
}

std::uint64_t copy_and_checksum(void* destination, const void* source,
                                std::size_t size_bytes) noexcept {
  const auto* from = static_cast<const std::byte*>(source);
  auto* to = static_cast<std::byte*>(destination);
  const auto strides = size_bytes / kStrideBytes;
  const auto wide_bytes = strides * kStrideBytes;
  const auto sum = sum_best<true>(to, from, strides);
  std::memcpy(to + wide_bytes, from + wide_bytes, size_bytes - wide_bytes);
  return sum + sum_tail(to + wide_bytes, size_bytes - wide_bytes);
}

void fill_pattern(void* data, std::size_t size_bytes, std::uint64_t seed) noexcept {
  auto* to = static_cast<std::byte*>(data);
  std::uint64_t word = seed * 0x9e3779b97f4a7c15U + 1;
  for (std::size_t offset = 0; offset < size_bytes; offset += sizeof word) {
    word = word * 6364136223846793005U + 1442695040888963407U;
    std::memcpy(to + offset, &word, std::min(sizeof word, size_bytes - offset));
  }
}

}  // namespace photon::perf
