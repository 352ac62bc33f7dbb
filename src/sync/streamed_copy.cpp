#include "sync/streamed_copy.hpp"

#include <emmintrin.h>
#include <immintrin.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace photon::sync {

namespace {

constexpr std::size_t kLineBytes = 64;

// `to` begins a line.
void stream_lines_narrow(std::byte* to, const std::byte* from, std::size_t lines) noexcept {
  for (; lines > 0; --lines, to += kLineBytes, from += kLineBytes) {
    __m128i part[4];
    std::memcpy(part, from, sizeof part);
    for (int i = 0; i < 4; ++i) _mm_stream_si128(reinterpret_cast<__m128i*>(to) + i, part[i]);
  }
}

[[gnu::target("avx2")]] void stream_lines_wide(std::byte* to, const std::byte* from,
                                               std::size_t lines) noexcept {
  for (; lines > 0; --lines, to += kLineBytes, from += kLineBytes) {
    const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from) + 1);
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to), low);
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to) + 1, high);
  }
}

bool overlap(const std::byte* to, const std::byte* from, std::size_t size_bytes) noexcept {
  const auto a = reinterpret_cast<std::uintptr_t>(to);
  const auto b = reinterpret_cast<std::uintptr_t>(from);
  return a < b + size_bytes && b < a + size_bytes;
}

}  // namespace

// A line that is written in part is written in the ordinary way.
void copy_streamed_unfenced(std::byte* to, const std::byte* from, std::size_t size_bytes) noexcept {
  if (overlap(to, from, size_bytes)) {
    std::memmove(to, from, size_bytes);
    return;
  }
  const std::size_t before = (0 - reinterpret_cast<std::uintptr_t>(to)) % kLineBytes;
  const std::size_t head = std::min(before, size_bytes);
  const std::size_t lines = (size_bytes - head) / kLineBytes;
  const std::size_t tail = head + lines * kLineBytes;
  std::memcpy(to, from, head);
  if (__builtin_cpu_supports("avx2"))
    stream_lines_wide(to + head, from + head, lines);
  else
    stream_lines_narrow(to + head, from + head, lines);
  std::memcpy(to + tail, from + tail, size_bytes - tail);
}

void copy_streamed(std::byte* to, const std::byte* from, std::size_t size_bytes) noexcept {
  copy_streamed_unfenced(to, from, size_bytes);
  _mm_sfence();
}

}  // namespace photon::sync
