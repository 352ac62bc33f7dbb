#include "copies.hpp"

#include <immintrin.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace photon::perf {
namespace {

constexpr std::size_t kStoredLineBytes = 64;

void by_memcpy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  std::memcpy(to, from, bytes);
}

// One instruction that copies it all (rep movsb, which the C library prefers) is slower on some
// processors from about a megabyte on, by a tenth between near cores and by more between far ones;
// pieces that fit a cache are not.
template <std::size_t piece_bytes>
void by_pieces(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  for (std::size_t done = 0; done < bytes; done += std::min(piece_bytes, bytes - done)) {
    std::memcpy(to + done, from + done, std::min(piece_bytes, bytes - done));
  }
}

void by_string_move(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

// The ends that are no whole lines of the target by memcpy, and the lines between them by
// `lines(to, from, count)`.
template <class Lines>
[[gnu::always_inline]] inline void by_lines(std::byte* to, const std::byte* from, std::size_t bytes,
                                            Lines lines) noexcept {
  const auto past = reinterpret_cast<std::uintptr_t>(to) % kStoredLineBytes;
  const auto head = std::min(bytes, (kStoredLineBytes - past) % kStoredLineBytes);
  const auto count = (bytes - head) / kStoredLineBytes;
  const auto done = head + count * kStoredLineBytes;
  std::memcpy(to, from, head);
  lines(to + head, from + head, count);
  std::memcpy(to + done, from + done, bytes - done);
}

[[gnu::target("avx2")]] void lines_avx2(std::byte* to, const std::byte* from,
                                        std::size_t count) noexcept {
  for (; count > 0; --count, to += kStoredLineBytes, from += kStoredLineBytes) {
    const auto low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    const auto high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from) + 1);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), low);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to) + 1, high);
  }
}

[[gnu::target("avx512f")]] void lines_avx512(std::byte* to, const std::byte* from,
                                             std::size_t count) noexcept {
  for (; count > 0; --count, to += kStoredLineBytes, from += kStoredLineBytes) {
    _mm512_storeu_si512(to, _mm512_loadu_si512(from));
  }
}

void streamed_sse2(std::byte* to, const std::byte* from, std::size_t count) noexcept {
  for (; count > 0; --count, to += kStoredLineBytes, from += kStoredLineBytes) {
    for (std::size_t i = 0; i < kStoredLineBytes; i += sizeof(__m128i)) {
      const auto part = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), part);
    }
  }
  _mm_sfence();
}

[[gnu::target("avx2")]] void streamed_avx2(std::byte* to, const std::byte* from,
                                           std::size_t count) noexcept {
  for (; count > 0; --count, to += kStoredLineBytes, from += kStoredLineBytes) {
    const auto low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    const auto high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from) + 1);
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to), low);
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to) + 1, high);
  }
  _mm_sfence();
}

[[gnu::target("avx512f")]] void streamed_avx512(std::byte* to, const std::byte* from,
                                                std::size_t count) noexcept {
  for (; count > 0; --count, to += kStoredLineBytes, from += kStoredLineBytes) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), _mm512_loadu_si512(from));
  }
  _mm_sfence();
}

template <void (*lines)(std::byte*, const std::byte*, std::size_t) noexcept>
void by(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  by_lines(to, from, bytes, lines);
}

constexpr CopyForm kMemcpy{"memcpy", by_memcpy};

// The widest last.
std::vector<CopyForm> vector_loops() {
  std::vector<CopyForm> forms;
  if (__builtin_cpu_supports("avx2")) forms.push_back({"AVX2 loop", by<lines_avx2>});
  if (__builtin_cpu_supports("avx512f")) forms.push_back({"AVX-512 loop", by<lines_avx512>});
  return forms;
}

std::vector<CopyForm> non_temporal_stores() {
  std::vector<CopyForm> forms{{"non-temporal SSE2", by<streamed_sse2>}};
  if (__builtin_cpu_supports("avx2")) forms.push_back({"non-temporal AVX2", by<streamed_avx2>});
  if (__builtin_cpu_supports("avx512f"))
    forms.push_back({"non-temporal AVX-512", by<streamed_avx512>});
  return forms;
}

std::vector<CopyForm> all_store_forms() {
  std::vector<CopyForm> forms{kMemcpy,
                              {"memcpy by 256 KiB", by_pieces<256 * 1024>},
                              {"memcpy by 64 KiB", by_pieces<64 * 1024>},
                              {"rep movsb", by_string_move}};
  for (const auto& form : vector_loops()) forms.push_back(form);
  for (const auto& form : non_temporal_stores()) forms.push_back(form);
  return forms;
}

std::vector<CopyForm> all_load_forms() {
  auto forms = vector_loops();
  forms.insert(forms.begin(), kMemcpy);
  return forms;
}

}  // namespace

std::span<const CopyForm> store_forms() {
  static const auto forms = all_store_forms();
  return forms;
}

std::span<const CopyForm> load_forms() {
  static const auto forms = all_load_forms();
  return forms;
}

const CopyForm& widest_non_temporal() { return store_forms().back(); }

}  // namespace photon::perf
