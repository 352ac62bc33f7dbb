// Atomic operations on words of registered memory: carried out by the owner for a peer, or by a
// peer on memory that it has mapped. Both are the processor's own atomic instructions on the same
// physical memory, so they are atomic against each other and against the owner's program.
// Invariant: each changes its word at most once, in one step. [word]
// Owner: none (pure functions). The caller has checked access and alignment.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace photon::sync {

enum class WordVerb : std::uint8_t {
  add = 1,
  swap,
  compare_swap,
  min,
  max,
  bit_and,
  bit_or,
  bit_xor
};
enum class WordType : std::uint8_t { int32 = 1, uint32, int64, uint64, float32, float64 };

struct WordChange {
  WordVerb verb = WordVerb::add;
  WordType type = WordType::uint64;
  std::uint64_t operand = 0;  // its bits, from bit 0
  std::uint64_t compare = 0;
};

constexpr bool is_real(WordType type) noexcept { return type >= WordType::float32; }
// Whether the numbers, which somebody else chose, name an operation.
constexpr bool is_word_change(std::uint64_t verb, std::uint64_t type) noexcept {
  if (verb < 1 || verb > 8 || type < 1 || type > 6) return false;
  return !is_real(static_cast<WordType>(type)) || verb == 1;
}
constexpr std::uint64_t word_bytes(WordType type) noexcept {
  return type == WordType::int64 || type == WordType::uint64 || type == WordType::float64 ? 8 : 4;
}
// Without a division, which would take as long as all the rest of an atomic.
constexpr bool is_word_aligned(std::uint64_t address, WordType type) noexcept {
  return (address & (word_bytes(type) - 1)) == 0;
}

namespace detail {

template <class T>
T from_bits(std::uint64_t bits) noexcept {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <class T>
std::uint64_t to_bits(T value) noexcept {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

template <class T, class Choose>
T replace(std::atomic_ref<T> word, Choose choose) noexcept {
  T before = word.load(std::memory_order_relaxed);
  while (!word.compare_exchange_weak(before, choose(before), std::memory_order_acq_rel,  // [word]
                                     std::memory_order_relaxed)) {
  }
  return before;
}

template <class T>
T change(T* at, WordVerb verb, T operand, T compare) noexcept {
  constexpr auto kOrder = std::memory_order_acq_rel;  // [word]
  std::atomic_ref<T> word(*at);
  static_assert(std::atomic_ref<T>::is_always_lock_free);
  if constexpr (!std::is_floating_point_v<T>) {
    switch (verb) {
      case WordVerb::swap: return word.exchange(operand, kOrder);
      case WordVerb::compare_swap:
        word.compare_exchange_strong(compare, operand, kOrder,
                                     std::memory_order_acquire);  // [word]
        return compare;
      case WordVerb::min:
        return replace(word, [&](T one) { return one < operand ? one : operand; });
      case WordVerb::max:
        return replace(word, [&](T one) { return one > operand ? one : operand; });
      case WordVerb::bit_and: return word.fetch_and(operand, kOrder);
      case WordVerb::bit_or: return word.fetch_or(operand, kOrder);
      case WordVerb::bit_xor: return word.fetch_xor(operand, kOrder);
      case WordVerb::add: break;
    }
  }
  return word.fetch_add(operand, kOrder);
}

template <class T>
std::uint64_t change_as(void* at, const WordChange& how) noexcept {
  return to_bits(
      change(static_cast<T*>(at), how.verb, from_bits<T>(how.operand), from_bits<T>(how.compare)));
}

}  // namespace detail

// What the word held before, as bits.
inline std::uint64_t change_word(void* at, const WordChange& how) noexcept {
  switch (how.type) {
    case WordType::int32: return detail::change_as<std::int32_t>(at, how);
    case WordType::uint32: return detail::change_as<std::uint32_t>(at, how);
    case WordType::int64: return detail::change_as<std::int64_t>(at, how);
    case WordType::uint64: return detail::change_as<std::uint64_t>(at, how);
    case WordType::float32: return detail::change_as<float>(at, how);
    case WordType::float64: return detail::change_as<double>(at, how);
  }
  return 0;
}

}  // namespace photon::sync
