#include "limit_fold.hpp"

#include <immintrin.h>

namespace photon::perf {
namespace {

void add_rest(double* out, const double* left, const double* right, std::uint64_t count) noexcept {
  for (std::uint64_t i = 0; i < count; ++i) out[i] = left[i] + right[i];
}

[[gnu::target("avx2")]] void add_avx2(double* out, const double* left, const double* right,
                                      std::uint64_t count) noexcept {
  std::uint64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const auto low = _mm256_add_pd(_mm256_loadu_pd(left + i), _mm256_loadu_pd(right + i));
    const auto high = _mm256_add_pd(_mm256_loadu_pd(left + i + 4), _mm256_loadu_pd(right + i + 4));
    _mm256_storeu_pd(out + i, low);
    _mm256_storeu_pd(out + i + 4, high);
  }
  add_rest(out + i, left + i, right + i, count - i);
}

[[gnu::target("avx512f")]] void add_avx512(double* out, const double* left, const double* right,
                                           std::uint64_t count) noexcept {
  std::uint64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    _mm512_storeu_pd(out + i, _mm512_add_pd(_mm512_loadu_pd(left + i), _mm512_loadu_pd(right + i)));
  }
  add_rest(out + i, left + i, right + i, count - i);
}

}  // namespace

AddDoubles widest_add() noexcept {
  if (__builtin_cpu_supports("avx512f")) return add_avx512;
  return __builtin_cpu_supports("avx2") ? add_avx2 : add_rest;
}

}  // namespace photon::perf
