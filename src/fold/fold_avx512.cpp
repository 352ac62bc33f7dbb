// Folds by AVX-512: its foundation and its instructions for bytes, words and double words.
#include <immintrin.h>

#include <cstring>

#include "fold/table.hpp"

namespace photon::fold {

namespace {

using Packed = __m256i;  // 16 elements of 16 bits
using Twice = __m512i;   // 32 of them

// For masked instructions: GCC 12 warns of what its others leave undefined.
constexpr __mmask16 kAll = 0xffff;

// Operand order is kept, which a compiler may change: of two NaN the left one is passed on. A sum
// is 1 * left + right, which has the same bits: multipliers are free where conversions keep the
// adders busy.
template <class Operation>
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl"), gnu::always_inline]] inline __m512
ordered_wide(__m512 left, __m512 right) noexcept {
  if constexpr (std::same_as<Operation, Add>)
    __asm__("vfmadd213ps %2, %1, %0" : "+v"(left) : "v"(_mm512_set1_ps(1)), "v"(right));
  else
    __asm__("vmulps %1, %0, %0" : "+v"(left) : "v"(right));
  return left;
}

template <class Operation>
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl"), gnu::always_inline]] inline Packed
fold_halves_wide(Packed left, Packed right) noexcept {
  const __m512 result = ordered_wide<Operation>(_mm512_maskz_cvtph_ps(kAll, left),
                                                _mm512_maskz_cvtph_ps(kAll, right));
  return _mm512_maskz_cvtps_ph(kAll, result, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

// Two neighbours are widened within their 32 bits, so that nothing is moved across lanes.
template <class Operation>
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl"), gnu::always_inline]] inline Twice
fold_bfloats_wide(Twice left, Twice right) noexcept {
  constexpr __mmask32 kOdd = 0xaaaaaaaa;
  const Twice high_bits = _mm512_set1_epi32(static_cast<int>(0xffff0000U));
  const Twice low = _mm512_castps_si512(
      ordered_wide<Operation>(_mm512_castsi512_ps(_mm512_maskz_slli_epi32(kAll, left, 16)),
                              _mm512_castsi512_ps(_mm512_maskz_slli_epi32(kAll, right, 16))));
  const Twice high = _mm512_castps_si512(
      ordered_wide<Operation>(_mm512_castsi512_ps(_mm512_and_si512(left, high_bits)),
                              _mm512_castsi512_ps(_mm512_and_si512(right, high_bits))));
  const Twice kept = _mm512_mask_blend_epi16(kOdd, _mm512_maskz_srli_epi32(kAll, low, 16), high);
  const Twice lost = _mm512_mask_blend_epi16(kOdd, low, _mm512_maskz_slli_epi32(kAll, high, 16));
  // Upwards if more than half a place is lost, or half of one and the last kept bit is set.
  const Twice weighed = _mm512_adds_epu16(lost, _mm512_and_si512(kept, _mm512_set1_epi16(1)));
  const __mmask32 upwards =
      _mm512_cmpgt_epu16_mask(weighed, _mm512_set1_epi16(static_cast<short>(0x8000)));
  return _mm512_mask_sub_epi16(kept, upwards, kept, _mm512_set1_epi16(-1));
}

template <class Operation, Short T>
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl"), gnu::always_inline]] inline void fold_32(
    const void* left, const void* right, void* to) noexcept {
  if constexpr (std::same_as<T, Half>) {
    const auto* a = static_cast<const Packed*>(left);
    const auto* b = static_cast<const Packed*>(right);
    auto* c = static_cast<Packed*>(to);
    const Packed low = fold_halves_wide<Operation>(_mm256_loadu_si256(a), _mm256_loadu_si256(b));
    const Packed high =
        fold_halves_wide<Operation>(_mm256_loadu_si256(a + 1), _mm256_loadu_si256(b + 1));
    _mm256_storeu_si256(c, low);
    _mm256_storeu_si256(c + 1, high);
  } else {
    _mm512_storeu_si512(
        to, fold_bfloats_wide<Operation>(_mm512_loadu_si512(left), _mm512_loadu_si512(right)));
  }
}

template <class Operation, Short T>
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl"), gnu::always_inline]] inline void loop_by_32(
    const void* left, const void* right, void* to, std::size_t count) noexcept {
  constexpr std::size_t kStep = 32, kStepBytes = kStep * sizeof(T);
  const auto* a = static_cast<const char*>(left);
  const auto* b = static_cast<const char*>(right);
  auto* c = static_cast<char*>(to);
  for (; count >= kStep; count -= kStep, a += kStepBytes, b += kStepBytes, c += kStepBytes)
    fold_32<Operation, T>(a, b, c);
  if (count == 0) return;
  T rest[2][kStep] = {};
  std::memcpy(rest[0], a, count * sizeof(T));
  std::memcpy(rest[1], b, count * sizeof(T));
  fold_32<Operation, T>(rest[0], rest[1], rest[0]);
  std::memcpy(c, rest[0], count * sizeof(T));
}

struct Avx512 {
  template <class Operation, class T>
  [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]] static void fold(
      const void* left, const void* right, void* to, std::size_t count) noexcept {
    if constexpr (Short<T> && (std::same_as<Operation, Add> || std::same_as<Operation, Multiply>))
      loop_by_32<Operation, T>(left, right, to, count);
    else
      loop<Operation, T>(left, right, to, count);
  }
};

constexpr Table kAvx512Folds = table_of<Avx512>();

}  // namespace

const Table& avx512_folds() noexcept { return kAvx512Folds; }

}  // namespace photon::fold
