// Folds of elements that lie one behind the other: target[i] = target[i] op source[i], and
// result[i] = target[i] before that.
//
// Integers wrap around. Owner: none; pure functions. Threads: any; `atomic` ones may meet on one
// element, if all have the same basic type.
#pragma once

#include <cstddef>

#include "interop/mpi/fold/element.hpp"

namespace photon::mpi {

// Any alignment. `result` may be null: nobody wants it. `source` is not looked at for no_op. None
// of the three overlaps another. Before: takes(op, basic).
void fold_plain(Op op, Basic basic, void* target, const void* source, void* result,
                std::size_t count) noexcept;

// Each element by itself in one indivisible step. Before: takes(op, basic), is_atomic(basic), and
// `target` is a multiple of the size of an element; source and result may lie anywhere.
void fold_atomic(Op op, Basic basic, void* target, const void* source, void* result,
                 std::size_t count) noexcept;

// target = source if it has the bytes of `compare`; `result` is what stood there. Pairs, floating
// point and complex elements have no such operation in MPI.
void swap_plain(Basic basic, void* target, const void* source, const void* compare,
                void* result) noexcept;
void swap_atomic(Basic basic, void* target, const void* source, const void* compare,
                 void* result) noexcept;

}  // namespace photon::mpi
