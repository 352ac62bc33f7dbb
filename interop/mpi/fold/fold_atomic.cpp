#include <bit>
#include <type_traits>

#include "interop/mpi/fold/table.hpp"
#include "sync/shared_element.hpp"

namespace photon::mpi {
namespace {

// One step. What stood there before.
template <class Operation, class T, class Word = Bits<sizeof(T)>>
T changed(void* at, T operand) noexcept {
  const sync::SharedElement<Word> element(at);
  constexpr bool kIsWord = std::is_same_v<T, Word>;
  if constexpr (std::is_same_v<Operation, Sum> && kIsWord)
    return element.fetch_add(operand);
  else if constexpr (std::is_same_v<Operation, BitAnd>)
    return element.fetch_and(operand);
  else if constexpr (std::is_same_v<Operation, BitOr>)
    return element.fetch_or(operand);
  else if constexpr (std::is_same_v<Operation, BitXor>)
    return element.fetch_xor(operand);
  else if constexpr (std::is_same_v<Operation, Replace>)
    return element.exchange(operand);
  else
    return std::bit_cast<T>(element.change([operand](Word before) {
      return std::bit_cast<Word>(Operation::of(std::bit_cast<T>(before), operand));
    }));
}

template <class Operation, class T, bool kIsFetched>
void loop(void* target, const void* source, void* result, std::size_t count) noexcept {
  auto* at = static_cast<std::byte*>(target);
  const auto* from = static_cast<const Loose<T>*>(source);
  auto* old = static_cast<Loose<T>*>(result);
  for (std::size_t i = 0; i < count; ++i) {
    const T before = changed<Operation, T>(at + i * sizeof(T), taken(from[i]));
    if constexpr (kIsFetched) put(old[i], before);
  }
}

template <class T>
void read(void* target, void* result, std::size_t count) noexcept {
  auto* at = static_cast<std::byte*>(target);
  auto* old = static_cast<Loose<T>*>(result);
  for (std::size_t i = 0; i < count; ++i)
    put(old[i], sync::SharedElement<T>(at + i * sizeof(T)).load());
}

struct Atomic {
  static constexpr bool has(Basic basic) noexcept { return is_atomic(basic); }
  template <class Operation, class T>
  static void fold(void* target, const void* source, void* result, std::size_t count) noexcept {
    if constexpr (std::is_same_v<Operation, NoOp>) {
      if (result != nullptr) read<T>(target, result, count);
    } else if (result == nullptr) {
      loop<Operation, T, false>(target, source, nullptr, count);
    } else {
      loop<Operation, T, true>(target, source, result, count);
    }
  }
};

constexpr Table kTable = table_of<Atomic>();

template <std::size_t kBytes>
void swap(void* target, const void* source, const void* compare, void* result) noexcept {
  using Word = Loose<Bits<kBytes>>;
  const sync::SharedElement<Bits<kBytes>> element(target);
  static_cast<Word*>(result)->value = element.compare_exchange(
      static_cast<const Word*>(compare)->value, static_cast<const Word*>(source)->value);
}

}  // namespace

void fold_atomic(FoldKind kind, void* target, const void* source, void* result,
                 std::size_t count) noexcept {
  find(kTable, kind)(target, source, result, count);
}

void swap_atomic(Basic basic, void* target, const void* source, const void* compare,
                 void* result) noexcept {
  switch (bytes_of(basic)) {
    case 1: return swap<1>(target, source, compare, result);
    case 2: return swap<2>(target, source, compare, result);
    case 4: return swap<4>(target, source, compare, result);
    default: return swap<8>(target, source, compare, result);
  }
}

}  // namespace photon::mpi
