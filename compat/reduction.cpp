#include "compat/reduction.hpp"

#include <array>
#include <complex>
#include <concepts>
#include <cstdint>
#include <functional>
#include <type_traits>

namespace photon::classic {

namespace {

// Signed numbers and short ones are reckoned as unsigned ones of at least an int, where overflow is
// no undefined behaviour; the way back is exact modulo 2^n.
template <std::integral T>
using Reckoned = std::common_type_t<unsigned, std::make_unsigned_t<T>>;

template <class Operation>
struct Reckon {
  template <class T>
  T operator()(const T& left, const T& right) const {
    if constexpr (std::integral<T>)
      return static_cast<T>(
          Operation{}(static_cast<Reckoned<T>>(left), static_cast<Reckoned<T>>(right)));
    else
      return Operation{}(left, right);
  }
};

struct Lesser {
  template <class T>
  T operator()(const T& left, const T& right) const {
    return right < left ? right : left;
  }
};

struct Greater {
  template <class T>
  T operator()(const T& left, const T& right) const {
    return left < right ? right : left;
  }
};

template <class T, class Operation>
void fold(void* left, const void* right, std::size_t count) {
  auto* to = static_cast<T*>(left);
  const auto* from = static_cast<const T*>(right);
  for (std::size_t i = 0; i < count; ++i) to[i] = Operation{}(to[i], from[i]);
}

// One datatype, as photon_datatype numbers them; the folds as photon_coll_op does.
struct Type {
  std::size_t element_bytes;
  std::array<Fold, PHOTON_COLL_OP_PROD> folds;
};

template <class T>
constexpr Type type_of() {
  Type type{sizeof(T), {}};
  type.folds[PHOTON_COLL_OP_SUM - 1] = fold<T, Reckon<std::plus<>>>;
  type.folds[PHOTON_COLL_OP_PROD - 1] = fold<T, Reckon<std::multiplies<>>>;
  if constexpr (std::totally_ordered<T>) {  // complex numbers are not
    type.folds[PHOTON_COLL_OP_MIN - 1] = fold<T, Lesser>;
    type.folds[PHOTON_COLL_OP_MAX - 1] = fold<T, Greater>;
  }
  return type;
}

template <class... T>
constexpr std::array<Type, sizeof...(T)> types_of() {
  return {type_of<T>()...};
}

constexpr auto kTypes =
    types_of<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
             std::int64_t, std::uint64_t, float, double, std::complex<float>, std::complex<double>,
             long double, std::complex<long double>>();
static_assert(kTypes.size() == PHOTON_DATATYPE_LAST);

const Type* find(photon_datatype type) noexcept {
  const auto index = static_cast<std::size_t>(type);
  return index < kTypes.size() ? &kTypes[index] : nullptr;
}

}  // namespace

std::size_t element_bytes_of(photon_datatype type) noexcept {
  const Type* found = find(type);
  return found == nullptr ? 0 : found->element_bytes;
}

Fold fold_of(photon_datatype type, photon_coll_op op) noexcept {
  const Type* found = find(type);
  const auto index = static_cast<std::size_t>(op) - 1;
  return found == nullptr || index >= found->folds.size() ? nullptr : found->folds[index];
}

}  // namespace photon::classic
