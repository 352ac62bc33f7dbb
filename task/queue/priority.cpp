#include "task/queue/priority.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace photon::task {

namespace {

constexpr std::uint32_t kWordBits = 32;

// Of a word of which `bits` count, 1 to 32: the others are 0.
std::uint32_t masked(std::uint32_t word, std::uint32_t bits) noexcept {
  return word & (~std::uint32_t{0} << (kWordBits - bits));
}

// That begins at such a bit. A program may keep its words at any address.
std::uint32_t word_at(const void* words, std::uint32_t bit) noexcept {
  std::uint32_t word = 0;
  std::memcpy(&word, static_cast<const std::byte*>(words) + bit / 8, sizeof word);
  return word;
}

Priority of_number(const void* value) noexcept {
  std::int32_t number = 0;
  std::memcpy(&number, value, sizeof number);
  const std::uint32_t word = static_cast<std::uint32_t>(number) + (std::uint32_t{1} << 31);
  return {.first = std::uint64_t{word} << 32, .bits = 32};
}

Priority of_long_number(const void* value) noexcept {
  std::int64_t number = 0;
  std::memcpy(&number, value, sizeof number);
  return {.first = static_cast<std::uint64_t>(number) + (std::uint64_t{1} << 63), .bits = 64};
}

Priority of_bits(std::uint32_t bits, const void* words) noexcept {
  Priority priority{.first = 0, .bits = bits, .words = bits > 64 ? words : nullptr};
  for (std::uint32_t at = 0; at < std::min<std::uint32_t>(bits, 64); at += kWordBits) {
    const std::uint64_t word = masked(word_at(words, at), std::min(bits - at, kWordBits));
    priority.first |= at == 0 ? word << 32 : word;
  }
  return priority;
}

}  // namespace

std::optional<Priority> priority_of(PriorityKind kind, std::uint32_t bits,
                                    const void* value) noexcept {
  if (kind == PriorityKind::none) return bits == 0 ? std::optional(Priority{}) : std::nullopt;
  if (bits > kMostPriorityBits || (value == nullptr && bits != 0)) return std::nullopt;
  switch (kind) {
    case PriorityKind::none: break;
    case PriorityKind::number: return bits == 32 ? std::optional(of_number(value)) : std::nullopt;
    case PriorityKind::long_number:
      return bits == 64 ? std::optional(of_long_number(value)) : std::nullopt;
    case PriorityKind::bit_vector: return of_bits(bits, value);
  }
  return std::nullopt;
}

std::uint32_t third_word_of(const Priority& priority) noexcept {
  if (priority.bits <= 64) return 0;
  return masked(word_at(priority.words, 64), std::min(priority.bits - 64, kWordBits));
}

bool is_less_beyond(const Priority& one, const Priority& other) noexcept {
  const std::uint32_t common = std::min(one.bits, other.bits);
  for (std::uint32_t at = 64; at < common; at += kWordBits) {
    const std::uint32_t bits = std::min(common - at, kWordBits);
    const std::uint32_t mine = masked(word_at(one.words, at), bits);
    const std::uint32_t its = masked(word_at(other.words, at), bits);
    if (mine != its) return mine < its;
  }
  return one.bits < other.bits;
}

}  // namespace photon::task
