// Tables of folds: a row for each operation, a column for each basic type, by their numbers.
//
// A `Way` is a class with a function template `fold<Operation, T>`, and says by `has(basic)` for
// which types. Invariant: an entry is null if MPI does not define the operation for that type, or
// the way does not have the type. Owner: none; constants. Threads: any.
#pragma once

#include <array>
#include <type_traits>
#include <utility>

#include "interop/mpi/fold/fold.hpp"
#include "interop/mpi/fold/operation.hpp"

namespace photon::mpi {

using Fold = void (*)(void* target, const void* source, void* result, std::size_t count);
using Row = std::array<Fold, kBasics>;
using Table = std::array<Row, kOps>;

template <Op op>
struct OperationOf;
template <>
struct OperationOf<Op::sum> : std::type_identity<Sum> {};
template <>
struct OperationOf<Op::prod> : std::type_identity<Prod> {};
template <>
struct OperationOf<Op::min> : std::type_identity<Min> {};
template <>
struct OperationOf<Op::max> : std::type_identity<Max> {};
template <>
struct OperationOf<Op::land> : std::type_identity<LogicalAnd> {};
template <>
struct OperationOf<Op::lor> : std::type_identity<LogicalOr> {};
template <>
struct OperationOf<Op::lxor> : std::type_identity<LogicalXor> {};
template <>
struct OperationOf<Op::band> : std::type_identity<BitAnd> {};
template <>
struct OperationOf<Op::bor> : std::type_identity<BitOr> {};
template <>
struct OperationOf<Op::bxor> : std::type_identity<BitXor> {};
template <>
struct OperationOf<Op::minloc> : std::type_identity<Min> {};
template <>
struct OperationOf<Op::maxloc> : std::type_identity<Max> {};
template <>
struct OperationOf<Op::replace> : std::type_identity<Replace> {};
template <>
struct OperationOf<Op::no_op> : std::type_identity<NoOp> {};

// Whether the operation looks at the number, and not at the bits alone.
constexpr bool is_arithmetic(Op op, Family family) noexcept {
  const bool is_sum = op == Op::sum || op == Op::prod;
  if (family == Family::integer) return op == Op::min || op == Op::max;
  return family == Family::pair || op == Op::min || op == Op::max || is_sum;
}
template <Op op, Basic basic>
using Operand = typename std::conditional_t<is_arithmetic(op, family_of(basic)), NumberOf<basic>,
                                            BitsOf<bytes_of(basic)>>::type;

template <class Way, Op op, Basic basic>
constexpr Fold fold_of() noexcept {
  if constexpr (takes(op, basic) && Way::has(basic)) {
    static_assert(sizeof(Operand<op, basic>) == bytes_of(basic));
    return &Way::template fold<typename OperationOf<op>::type, Operand<op, basic>>;
  } else {
    return nullptr;
  }
}
template <class Way, Op op, std::size_t... kBasic>
constexpr Row row_of(std::index_sequence<kBasic...>) noexcept {
  return {fold_of<Way, op, static_cast<Basic>(kBasic)>()...};
}
template <class Way, std::size_t... kOp>
constexpr Table table_of(std::index_sequence<kOp...>) noexcept {
  return {row_of<Way, static_cast<Op>(kOp)>(std::make_index_sequence<kBasics>())...};
}
template <class Way>
constexpr Table table_of() noexcept {
  return table_of<Way>(std::make_index_sequence<kOps>());
}

inline Fold find(const Table& table, FoldKind kind) noexcept {
  return table[static_cast<std::size_t>(kind.op)][static_cast<std::size_t>(kind.basic)];
}

}  // namespace photon::mpi
