// Tables of folds, one for each instruction set: a row for each type, a column for each operation.
//
// A set of instructions is a class with a function template `fold<Operation, Element>`, which has
// the `target` attribute; the loop and all that it calls are inlined there. Invariant: no function
// outside a set's own is built for more than the baseline. Owner: none; constants. Threads: any.
#pragma once

#include <array>

#include "fold/fold.hpp"
#include "fold/operation.hpp"

namespace photon::fold {

using Row = std::array<Fold, PH_OP_MAXLOC>;  // by ph_op - 1
using Table = std::array<Row, PH_BYTES>;     // by ph_type - 1

const Table& baseline_folds() noexcept;
const Table& avx2_folds() noexcept;
const Table& avx512_folds() noexcept;

// `to` is one of the operands or overlaps neither: no step of the loop needs another's result.
template <class Operation, class T>
[[gnu::always_inline]] inline void loop(const void* left, const void* right, void* to,
                                        std::size_t count) noexcept {
  const auto* a = static_cast<const Loose<T>*>(left);
  const auto* b = static_cast<const Loose<T>*>(right);
  auto* c = static_cast<Loose<T>*>(to);
  // src/CMakeLists.txt: each compiler has its own words.
  // clang-format off
  _Pragma(PHOTON_INDEPENDENT_STEPS)
  for (std::size_t i = 0; i < count; ++i) c[i].value = Operation::of(a[i].value, b[i].value);
  // clang-format on
}

struct Baseline {
  template <class Operation, class T>
  static void fold(const void* left, const void* right, void* to, std::size_t count) noexcept {
    loop<Operation, T>(left, right, to, count);
  }
};

template <class Set, class T>
constexpr void set_sums(Row& row) noexcept {
  row[PH_OP_ADD - 1] = Set::template fold<Add, T>;
  row[PH_OP_MULTIPLY - 1] = Set::template fold<Multiply, T>;
}
template <class Set, class T>
constexpr void set_logical(Row& row) noexcept {
  row[PH_OP_LOGICAL_AND - 1] = Set::template fold<Logical<BitAnd>, T>;
  row[PH_OP_LOGICAL_OR - 1] = Set::template fold<Logical<BitOr>, T>;
  row[PH_OP_LOGICAL_XOR - 1] = Set::template fold<Logical<BitXor>, T>;
}

template <class Set, class T>
constexpr Row real_row() noexcept {
  Row row{};
  set_sums<Set, T>(row);
  set_logical<Set, T>(row);
  row[PH_OP_MIN - 1] = Set::template fold<Min, T>;
  row[PH_OP_MAX - 1] = Set::template fold<Max, T>;
  return row;
}
// All but min and max is the same with a sign and without.
template <class Set, std::integral T>
constexpr Row integer_row() noexcept {
  using Unsigned = std::make_unsigned_t<T>;
  Row row = real_row<Set, Unsigned>();
  row[PH_OP_MIN - 1] = Set::template fold<Min, T>;
  row[PH_OP_MAX - 1] = Set::template fold<Max, T>;
  row[PH_OP_AND - 1] = Set::template fold<BitAnd, Unsigned>;
  row[PH_OP_OR - 1] = Set::template fold<BitOr, Unsigned>;
  row[PH_OP_XOR - 1] = Set::template fold<BitXor, Unsigned>;
  return row;
}
template <class Set, class T>
constexpr Row complex_row() noexcept {
  Row row{};
  set_sums<Set, Complex<T>>(row);
  return row;
}
template <class Set, class T>
constexpr Row located_row() noexcept {
  Row row{};
  row[PH_OP_MINLOC - 1] = Set::template fold<MinAt<T>, Located<Compared<T>>>;
  row[PH_OP_MAXLOC - 1] = Set::template fold<MaxAt<T>, Located<Compared<T>>>;
  return row;
}

// No vector instruction knows numbers of 80 bits.
template <class Set>
constexpr Table table_of() noexcept {
  Table table{};
  table[PH_INT8 - 1] = integer_row<Set, std::int8_t>();
  table[PH_UINT8 - 1] = integer_row<Set, std::uint8_t>();
  table[PH_INT16 - 1] = integer_row<Set, std::int16_t>();
  table[PH_UINT16 - 1] = integer_row<Set, std::uint16_t>();
  table[PH_INT32 - 1] = integer_row<Set, std::int32_t>();
  table[PH_UINT32 - 1] = integer_row<Set, std::uint32_t>();
  table[PH_INT64 - 1] = integer_row<Set, std::int64_t>();
  table[PH_UINT64 - 1] = integer_row<Set, std::uint64_t>();
  table[PH_HALF - 1] = real_row<Set, Half>();
  table[PH_BFLOAT16 - 1] = real_row<Set, Bfloat>();
  table[PH_FLOAT - 1] = real_row<Set, float>();
  table[PH_DOUBLE - 1] = real_row<Set, double>();
  table[PH_LONG_DOUBLE - 1] = real_row<Baseline, Extended>();
  table[PH_COMPLEX_FLOAT - 1] = complex_row<Set, float>();
  table[PH_COMPLEX_DOUBLE - 1] = complex_row<Set, double>();
  table[PH_COMPLEX_LONG_DOUBLE - 1] = complex_row<Baseline, Extended>();
  table[PH_FLOAT_INT - 1] = located_row<Set, float>();
  table[PH_DOUBLE_INT - 1] = located_row<Set, double>();
  table[PH_INT32_INT - 1] = located_row<Set, std::int32_t>();
  table[PH_INT64_INT - 1] = located_row<Set, std::int64_t>();
  return table;
}

}  // namespace photon::fold
