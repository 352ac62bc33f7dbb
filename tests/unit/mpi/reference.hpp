// What becomes of one element, by other means than the library's: integers of all widths are
// numbers of 64 bits here, of which the lower ones are kept; complex numbers are the standard
// library's; an element that is chosen is copied, part by part.
#pragma once

#include <cmath>

#include "elements.hpp"
#include "interop/mpi/fold/fold.hpp"

namespace photon::mpi::test {

// Zeros, or the sign, in front of it.
template <std::integral T>
std::uint64_t widened(const unsigned char* from) {
  return static_cast<std::uint64_t>(loaded<T>(from));
}

template <std::integral T>
std::uint64_t integer_result(Op op, const unsigned char* target, const unsigned char* source) {
  const std::uint64_t a = widened<T>(target), b = widened<T>(source);
  const auto before = [](std::uint64_t one, std::uint64_t other) {
    return std::is_signed_v<T> ? static_cast<std::int64_t>(one) < static_cast<std::int64_t>(other)
                               : one < other;
  };
  switch (op) {
    case Op::sum: return a + b;
    case Op::prod: return a * b;
    case Op::min: return before(a, b) ? a : b;
    case Op::max: return before(a, b) ? b : a;
    case Op::land: return a != 0 && b != 0;
    case Op::lor: return a != 0 || b != 0;
    case Op::lxor: return (a != 0 || b != 0) && !(a != 0 && b != 0);
    case Op::band: return ~(~a | ~b);
    case Op::bor: return ~(~a & ~b);
    case Op::bxor: return (a & ~b) | (~a & b);
    default: return a;
  }
}
template <std::integral T>
void computed(Op op, unsigned char* target, const unsigned char* source, T*) {
  stored(target, static_cast<T>(integer_result<T>(op, target, source)));
}

// Whether the source is taken instead of the target.
template <class T>
bool is_source_chosen(bool is_min, T target, T source) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(target)) return false;
    if (std::isnan(source)) return true;
  }
  return is_min ? target > source : target < source;
}
template <std::floating_point T>
void computed(Op op, unsigned char* target, const unsigned char* source, T*) {
  const T a = loaded<T>(target), b = loaded<T>(source);
  if (op == Op::sum || op == Op::prod) return stored(target, op == Op::sum ? a + b : a * b);
  if (is_source_chosen(op == Op::min, a, b)) std::memcpy(target, source, sizeof(T));
}
template <class T>
void computed(Op op, unsigned char* target, const unsigned char* source, std::complex<T>*) {
  const auto a = loaded<std::complex<T>>(target), b = loaded<std::complex<T>>(source);
  stored(target, op == Op::sum ? a + b : a * b);
}
template <class T, class Index>
void computed(Op op, unsigned char* target, const unsigned char* source, Pair<T, Index>*) {
  const auto a = loaded<Pair<T, Index>>(target), b = loaded<Pair<T, Index>>(source);
  bool are_equal = a.value == b.value;
  if constexpr (std::is_floating_point_v<T>)
    are_equal = are_equal || (std::isnan(a.value) && std::isnan(b.value));
  const bool is_chosen =
      are_equal ? b.index < a.index : is_source_chosen(op == Op::minloc, a.value, b.value);
  if (is_chosen) std::memcpy(target, source, sizeof a);
}

inline void fold_one(FoldKind kind, unsigned char* target, const unsigned char* source) {
  if (kind.op == Op::no_op) return;
  if (kind.op == Op::replace) {
    std::memcpy(target, source, bytes_of(kind.basic));
    return;
  }
  with_type(kind.basic,
            [&]<class T>() { computed(kind.op, target, source, static_cast<T*>(nullptr)); });
}

// What the targets become: their values, for holes stay as they are.
inline Bytes folded(FoldKind kind, const Bytes& target, const Bytes& source) {
  const auto parts = parts_of(kind.basic);
  Bytes all = target, one(parts.size());
  for (std::size_t at = 0; at < all.size(); at += parts.size()) {
    std::copy_n(&target[at], parts.size(), one.begin());
    fold_one(kind, one.data(), &source[at]);
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (parts[i] == Part::value) all[at + i] = one[i];
  }
  return all;
}

// Of the bits of a computed NaN nobody promises anything: each becomes the same one.
inline void level(FoldKind kind, unsigned char* elements, std::size_t bytes) {
  if (kind.op != Op::sum && kind.op != Op::prod) return;
  with_type(kind.basic, [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>)
      for (std::size_t at = 0; at < bytes; at += sizeof(T))
        if (std::isnan(loaded<T>(elements + at)))
          stored(elements + at, std::numeric_limits<T>::quiet_NaN());
  });
}

// The first element that is not as wanted, filling aside, in words; "": all are.
inline std::string difference(FoldKind kind, const unsigned char* got, const Bytes& wanted) {
  const auto parts = parts_of(kind.basic);
  Bytes mine(wanted.size()), others = wanted;
  std::copy_n(got, mine.size(), mine.begin());
  level(kind, mine.data(), mine.size());
  level(kind, others.data(), others.size());
  for (std::size_t at = 0; at < mine.size(); at += parts.size())
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (parts[i] != Part::filling && mine[at + i] != others[at + i])
        return name_of(kind.op, kind.basic) + ": element " + std::to_string(at / parts.size()) +
               (parts[i] == Part::hole ? ", a hole" : ", its value");
  return "";
}

}  // namespace photon::mpi::test
