#include <cpuid.h>

#include "fold/fold.hpp"

namespace photon::fold {

namespace {

// The compiler's own question knows it in newer compilers only. Where the system keeps the wide
// registers, which AVX2 has been asked for, these instructions work, too.
bool has_f16c() noexcept {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

}  // namespace

Isa best_isa() noexcept {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !has_f16c())
    return Isa::baseline;
  const bool is_wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return is_wide ? Isa::avx512 : Isa::avx2;
}

const char* name_of(Isa isa) noexcept {
  switch (isa) {
    case Isa::baseline: return "baseline";
    case Isa::avx2: return "avx2";
    case Isa::avx512: return "avx512";
  }
  return "unknown";
}

}  // namespace photon::fold
