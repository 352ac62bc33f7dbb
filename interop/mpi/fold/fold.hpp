// Folds of elements that lie one behind the other: target[i] = target[i] op source[i], and
// result[i] = target[i] before that.
//
// Promises: integers wrap around. Of min and max a NaN is the result if either is one (the
// target's, if both are); of equal ones, as -0 and +0 are, the target's stays. minloc and maxloc
// take a NaN for less, or more, than each number; of equal values the lower index is the result.
// Complex products are the textbook's, without the tests for infinity of C's Annex G. Logical
// results are 0 and 1. Holes of pairs are neither looked at nor written, in target and result. Of a
// long double its 10 bytes count; the 6 behind them may be copied, or stay as they are. Owner:
// none; pure functions. Threads: any; `atomic` ones may meet on one element, if all have the same
// basic type.
#pragma once

#include <cstddef>

#include "interop/mpi/fold/element.hpp"

namespace photon::mpi {

struct FoldKind {
  Op op;
  Basic basic;
};

// Any alignment. `result` may be null: nobody wants it. `source` is not looked at for no_op. None
// of the three overlaps another. Before: takes(op, basic).
void fold_plain(FoldKind kind, void* target, const void* source, void* result,
                std::size_t count) noexcept;

// Each element by itself in one indivisible step, in their order (sync/shared_element.hpp). Before:
// takes(op, basic), is_atomic(basic), and `target` is a multiple of the size of an element; source
// and result may lie anywhere.
void fold_atomic(FoldKind kind, void* target, const void* source, void* result,
                 std::size_t count) noexcept;

// target = source if it has the bytes of `compare`; `result` is what stood there. Before:
// takes_swap(basic); for the atomic one, `target` is a multiple of the size of an element.
void swap_plain(Basic basic, void* target, const void* source, const void* compare,
                void* result) noexcept;
void swap_atomic(Basic basic, void* target, const void* source, const void* compare,
                 void* result) noexcept;

}  // namespace photon::mpi
