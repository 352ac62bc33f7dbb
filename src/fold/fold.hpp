// Folds: to[i] = left[i] op right[i] for each type and operation that the library knows, by the
// best instructions of this processor. The functions of a table were built for it by the `target`
// attribute, and are chosen once (isa.hpp); no function for more than the baseline is called
// before.
//
// Promises: integers wrap around. bfloat16 and half are widened, folded as float and rounded to
// nearest even; NaN stays NaN (the quiet bit is set). min and max give a NaN if either is one, and
// of zeros -0 < +0. The same operands give the same bits with every instruction set, so that
// members with different processors agree. Complex products are the textbook's, without the tests
// for infinity of C's Annex G. minloc, maxloc: of equal values the lower index wins. Owner: none;
// pure functions. Threads: any.
#pragma once

#include <photon/atomic.h>

#include <cstddef>
#include <cstdint>

namespace photon::fold {

// `to` may be `left` or `right`, or overlap neither.
using Fold = void (*)(const void* left, const void* right, void* to, std::size_t count);

enum class Isa : std::uint8_t { baseline, avx2, avx512 };
// The best that this processor and its kernel know.
Isa best_isa() noexcept;
const char* name_of(Isa isa) noexcept;

// 0: no such type. PH_BYTES is 1.
std::size_t element_bytes_of(ph_type type) noexcept;
const char* name_of(ph_type type) noexcept;  // "float"; "unknown"
const char* name_of(ph_op op) noexcept;      // "add"
// Null: the type does not know the operation.
Fold find(ph_type type, ph_op op, Isa isa) noexcept;

}  // namespace photon::fold
