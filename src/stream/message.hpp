// The messages of streams (docs/stream.md, Messages): words packed and unpacked. Pure.
//
// Invariant: what decode() returns obeys every bound that a message shows by itself.
// Owner: none; plain values.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace photon::stream {

enum class Kind : std::uint8_t {
  connect = 1,
  accept = 2,
  data = 3,
  credit = 4,
  fin = 5,
  close = 6,
  refuse = 7,
};

// Of an end's mailbox.
struct Sizes {
  std::uint32_t buffer_bytes = 16 * 1024;
  std::uint32_t buffers = 8;  // for data; there are kSpare more
};

inline constexpr std::size_t kWordBytes = sizeof(std::uint64_t);
inline constexpr std::size_t kHeadBytes = kWordBytes;  // in front of data
inline constexpr std::uint32_t kSpare = 8;             // buffers for messages without data
inline constexpr std::uint32_t kLeastBufferBytes = 64;
inline constexpr std::uint32_t kMostBufferBytes = 1024 * 1024;
inline constexpr std::uint32_t kMostBuffers = 1024;
inline constexpr std::size_t kMostWords = 4;
inline constexpr std::uint64_t kMostCount = (std::uint64_t{1} << 56) - 1;

// Addresses of mailboxes: of ports and of ends.
inline constexpr std::uint64_t kAddresses = std::uint64_t{0x5354} << 48;
constexpr std::uint64_t port_address(std::uint32_t port) noexcept { return kAddresses | port; }
constexpr std::uint64_t end_address(std::uint64_t number) noexcept {
  constexpr std::uint64_t kEnds = std::uint64_t{1} << 47;
  return kAddresses | kEnds | (number & (kEnds - 1));
}

constexpr bool is_possible(const Sizes& sizes) noexcept {
  return sizes.buffer_bytes >= kLeastBufferBytes && sizes.buffer_bytes <= kMostBufferBytes &&
         sizes.buffers >= 1 && sizes.buffers <= kMostBuffers;
}

// One without data. What its kind does not have is 0.
struct Message {
  Kind kind = Kind::credit;
  std::uint64_t consumed = 0;     // data messages that its sender has read to the end
  std::uint64_t address = 0;      // connect, accept
  Sizes sizes{0, 0};              // connect, accept
  std::uint32_t incarnation = 0;  // connect, accept: of the mailbox there
  std::uint64_t bytes = 0;        // fin, close: of this way; data: behind the head
};

struct Encoded {
  std::array<std::uint64_t, kMostWords> words{};
  std::size_t count = 0;
  std::span<const std::byte> bytes() const noexcept {
    return std::as_bytes(std::span(words).first(count));
  }
};

constexpr std::uint64_t head(Kind kind, std::uint64_t consumed) noexcept {
  return consumed << 8 | static_cast<std::uint64_t>(kind);
}

inline Encoded encode(const Message& message) noexcept {
  const std::uint64_t first = head(message.kind, message.consumed);
  const std::uint64_t sizes =
      std::uint64_t{message.sizes.buffer_bytes} << 32 | message.sizes.buffers;
  switch (message.kind) {
    case Kind::connect:
    case Kind::accept: return {{first, message.address, sizes, message.incarnation}, 4};
    case Kind::fin:
    case Kind::close: return {{first, message.bytes}, 2};
    case Kind::data:
    case Kind::credit:
    case Kind::refuse: break;
  }
  return {{first}, 1};
}

// None: malformed.
inline std::optional<Message> decode(std::span<const std::byte> bytes) noexcept {
  std::array<std::uint64_t, kMostWords> words{};
  if (bytes.size() < kHeadBytes) return std::nullopt;
  std::memcpy(words.data(), bytes.data(), std::min(bytes.size(), sizeof words));
  Message message;
  message.kind = static_cast<Kind>(words[0] & 0xff);
  message.consumed = words[0] >> 8;
  message.sizes = {static_cast<std::uint32_t>(words[2] >> 32),
                   static_cast<std::uint32_t>(words[2])};
  std::size_t count = 1;
  switch (message.kind) {
    case Kind::data:
      message.sizes = {0, 0};
      message.bytes = bytes.size() - kHeadBytes;
      if (message.bytes == 0) return std::nullopt;
      return message;
    case Kind::connect:
    case Kind::accept:
      count = 4;
      message.address = words[1];
      message.incarnation = static_cast<std::uint32_t>(words[3]);
      // An address of 0 is none: it would stand for a peer that is not met yet.
      if (message.address == 0 || !is_possible(message.sizes)) return std::nullopt;
      break;
    case Kind::fin:
    case Kind::close:
      count = 2;
      message.bytes = words[1];
      break;
    case Kind::credit:
    case Kind::refuse: break;
    default: return std::nullopt;
  }
  if (bytes.size() != count * kWordBytes) return std::nullopt;
  return message;
}

}  // namespace photon::stream
