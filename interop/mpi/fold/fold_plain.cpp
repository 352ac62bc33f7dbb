#include <type_traits>

#include "interop/mpi/fold/table.hpp"

namespace photon::mpi {
namespace {

template <class Operation, class T, bool kIsFetched>
void loop(Loose<T>* __restrict to, const Loose<T>* __restrict from, Loose<T>* __restrict old,
          std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    const T before = taken(to[i]);
    if constexpr (kIsFetched) put(old[i], before);
    if constexpr (!std::is_same_v<Operation, NoOp>)
      put(to[i], Operation::of(before, taken(from[i])));
  }
}

struct Plain {
  static constexpr bool has(Basic) noexcept { return true; }
  template <class Operation, class T>
  static void fold(void* target, const void* source, void* result, std::size_t count) noexcept {
    auto* to = static_cast<Loose<T>*>(target);
    const auto* from = static_cast<const Loose<T>*>(source);
    auto* old = static_cast<Loose<T>*>(result);
    if (old == nullptr)
      loop<Operation, T, false>(to, from, old, count);
    else
      loop<Operation, T, true>(to, from, old, count);
  }
};

constexpr Table kTable = table_of<Plain>();

template <std::size_t kBytes>
void swap(void* target, const void* source, const void* compare, void* result) noexcept {
  using Word = Loose<Bits<kBytes>>;
  const auto before = static_cast<Word*>(target)->value;
  if (before == static_cast<const Word*>(compare)->value)
    static_cast<Word*>(target)->value = static_cast<const Word*>(source)->value;
  static_cast<Word*>(result)->value = before;
}

}  // namespace

void fold_plain(FoldKind kind, void* target, const void* source, void* result,
                std::size_t count) noexcept {
  find(kTable, kind)(target, source, result, count);
}

void swap_plain(Basic basic, void* target, const void* source, const void* compare,
                void* result) noexcept {
  switch (bytes_of(basic)) {
    case 1: return swap<1>(target, source, compare, result);
    case 2: return swap<2>(target, source, compare, result);
    case 4: return swap<4>(target, source, compare, result);
    default: return swap<8>(target, source, compare, result);
  }
}

}  // namespace photon::mpi
