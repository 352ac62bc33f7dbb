// The one order of all priorities (docs/tasks.md, "Priorities"): bit vectors, where the first bit
// that differs decides, and a vector that is the beginning of another one comes before it. Smaller
// ones come first.
//
//   none: the int 0     int p: the 32 bits of p + 2^31     64-bit l: the 64 bits of l + 2^63
//
// Invariant: `first` holds the first 64 bits, zeros behind a shorter vector; so up to 64 bits
// (first, bits) is the whole order. Owner: none; further words are the program's until the message
// was taken.
#pragma once

#include <cstdint>
#include <optional>

namespace photon::task {

enum class PriorityKind : std::uint8_t { none, number, long_number, bit_vector };

struct Priority {
  std::uint64_t first = std::uint64_t{1} << 63;
  std::uint32_t bits = 32;
  const void* words = nullptr;  // of more than 64 bits: all of them, at any address
};

inline constexpr std::uint32_t kMostPriorityBits = 65536;

// From what a program says: an int32_t, an int64_t, or words of which the highest bit of the first
// comes first. Empty: so many bits do not fit that kind, or there are none where `value` is null.
std::optional<Priority> priority_of(PriorityKind kind, std::uint32_t bits,
                                    const void* value) noexcept;

// The bits behind the first 64, up to 96; zeros behind a shorter vector.
std::uint32_t third_word_of(const Priority& priority) noexcept;

// Of two that begin alike.
[[gnu::cold]] bool is_less_beyond(const Priority& one, const Priority& other) noexcept;

inline bool operator<(const Priority& one, const Priority& other) noexcept {
  if (one.first != other.first) [[likely]]
    return one.first < other.first;
  if (one.bits <= 64 || other.bits <= 64) return one.bits < other.bits;
  return is_less_beyond(one, other);
}

}  // namespace photon::task
