// How the words of the messages between mailboxes are laid out (docs/mailbox.md, Messages): for
// those that pack and unpack them. Owner: none; plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace photon::service::mailbox {

// The first word: what it is, flags, the bytes in the line, and the incarnation.
inline constexpr unsigned kFlagsShift = 8;
inline constexpr unsigned kInlineShift = 16;
inline constexpr unsigned kIncarnationShift = 32;
inline constexpr std::uint64_t kNamesEpoch = 1;
inline constexpr std::uint64_t kAskIsLast = 2;
inline constexpr std::size_t kWordBytes = sizeof(std::uint64_t);

inline std::uint64_t word(std::span<const std::byte> header, std::size_t index) noexcept {
  std::uint64_t value = 0;
  std::memcpy(&value, header.data() + index * kWordBytes, kWordBytes);
  return value;
}

}  // namespace photon::service::mailbox
