// The fold of the limit programs: sums of doubles, as wide as this processor can.
// Owner: none (pure functions).
#pragma once

#include <cstdint>

namespace photon::perf {

// out[i] = left[i] + right[i]; `out` may be one of them.
using AddDoubles = void (*)(double* out, const double* left, const double* right,
                            std::uint64_t count) noexcept;
AddDoubles widest_add() noexcept;

}  // namespace photon::perf
