// Folds by AVX2 with what came with it: F16C for half, FMA.
#include <immintrin.h>

#include <cstring>

#include "fold/table.hpp"

namespace photon::fold {

namespace {

using Eight = __m128i;    // as many elements of 16 bits
using Sixteen = __m256i;  // as many again

// Operand order is kept, which a compiler may change: of two NaN the left one is passed on. A sum
// is 1 * left + right, which has the same bits: multipliers are free where conversions keep the
// adders busy.
template <class Operation>
[[gnu::target("avx2,f16c,fma"), gnu::always_inline]] inline __m256 ordered(__m256 left,
                                                                           __m256 right) noexcept {
  if constexpr (std::same_as<Operation, Add>)
    __asm__("vfmadd213ps %2, %1, %0" : "+x"(left) : "x"(_mm256_set1_ps(1)), "x"(right));
  else
    __asm__("vmulps %1, %0, %0" : "+x"(left) : "x"(right));
  return left;
}

template <class Operation>
[[gnu::target("avx2,f16c,fma"), gnu::always_inline]] inline Eight fold_halves(
    Eight left, Eight right) noexcept {
  const __m256 result = ordered<Operation>(_mm256_cvtph_ps(left), _mm256_cvtph_ps(right));
  return _mm256_cvtps_ph(result, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

// Two neighbours are widened within their 32 bits, so that nothing is moved across lanes.
template <class Operation>
[[gnu::target("avx2,f16c,fma"), gnu::always_inline]] inline Sixteen fold_bfloats(
    Sixteen left, Sixteen right) noexcept {
  const Sixteen high_bits = _mm256_set1_epi32(static_cast<int>(0xffff0000U));
  const Sixteen low =
      _mm256_castps_si256(ordered<Operation>(_mm256_castsi256_ps(_mm256_slli_epi32(left, 16)),
                                             _mm256_castsi256_ps(_mm256_slli_epi32(right, 16))));
  const Sixteen high = _mm256_castps_si256(
      ordered<Operation>(_mm256_castsi256_ps(_mm256_and_si256(left, high_bits)),
                         _mm256_castsi256_ps(_mm256_and_si256(right, high_bits))));
  const Sixteen kept = _mm256_blend_epi16(_mm256_srli_epi32(low, 16), high, 0xaa);
  const Sixteen lost = _mm256_blend_epi16(low, _mm256_slli_epi32(high, 16), 0xaa);
  // Upwards if more than half a place is lost, or half of one and the last kept bit is set.
  const Sixteen half_place = _mm256_set1_epi16(static_cast<short>(0x8000));
  const Sixteen weighed = _mm256_adds_epu16(lost, _mm256_and_si256(kept, _mm256_set1_epi16(1)));
  const Sixteen upwards =
      _mm256_cmpgt_epi16(_mm256_xor_si256(weighed, half_place), _mm256_setzero_si256());
  return _mm256_sub_epi16(kept, upwards);
}

template <class Operation, Short T>
[[gnu::target("avx2,f16c,fma"), gnu::always_inline]] inline void fold_sixteen(const void* left,
                                                                              const void* right,
                                                                              void* to) noexcept {
  const auto* a = static_cast<const Eight*>(left);
  const auto* b = static_cast<const Eight*>(right);
  auto* c = static_cast<Eight*>(to);
  if constexpr (std::same_as<T, Half>) {
    const Eight low = fold_halves<Operation>(_mm_loadu_si128(a), _mm_loadu_si128(b));
    const Eight high = fold_halves<Operation>(_mm_loadu_si128(a + 1), _mm_loadu_si128(b + 1));
    _mm_storeu_si128(c, low);
    _mm_storeu_si128(c + 1, high);
  } else {
    const auto* wide_a = static_cast<const Sixteen*>(left);
    const auto* wide_b = static_cast<const Sixteen*>(right);
    _mm256_storeu_si256(
        static_cast<Sixteen*>(to),
        fold_bfloats<Operation>(_mm256_loadu_si256(wide_a), _mm256_loadu_si256(wide_b)));
  }
}

template <class Operation, Short T>
[[gnu::target("avx2,f16c,fma"), gnu::always_inline]] inline void loop_by_sixteen(
    const void* left, const void* right, void* to, std::size_t count) noexcept {
  constexpr std::size_t kStep = 16, kStepBytes = kStep * sizeof(T);
  const auto* a = static_cast<const char*>(left);
  const auto* b = static_cast<const char*>(right);
  auto* c = static_cast<char*>(to);
  for (; count >= kStep; count -= kStep, a += kStepBytes, b += kStepBytes, c += kStepBytes)
    fold_sixteen<Operation, T>(a, b, c);
  if (count == 0) return;
  T rest[2][kStep] = {};
  std::memcpy(rest[0], a, count * sizeof(T));
  std::memcpy(rest[1], b, count * sizeof(T));
  fold_sixteen<Operation, T>(rest[0], rest[1], rest[0]);
  std::memcpy(c, rest[0], count * sizeof(T));
}

struct Avx2 {
  template <class Operation, class T>
  [[gnu::target("avx2,f16c,fma")]] static void fold(const void* left, const void* right, void* to,
                                                    std::size_t count) noexcept {
    if constexpr (Short<T> && (std::same_as<Operation, Add> || std::same_as<Operation, Multiply>))
      loop_by_sixteen<Operation, T>(left, right, to, count);
    else
      loop<Operation, T>(left, right, to, count);
  }
};

constexpr Table kAvx2Folds = table_of<Avx2>();

}  // namespace

const Table& avx2_folds() noexcept { return kAvx2Folds; }

}  // namespace photon::fold
