// What active messages say to each other, as pure encode and decode (docs/active-messages.md, "The
// wire"): anything may stand in words that another process wrote, and nothing outside the limits
// gets through.
//
//   word 0:  bits 0..7 op, 8..15 flags, 16..31 id, 32..47 header bytes,
//            48..63 of messages the low bits of what the sender has handled, else zero
// Owner: none; plain values.
#pragma once

#include <photon/am.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace photon::service::am {

enum class Op : std::uint8_t {
  line = 1,   // a message of one line
  record,     // of one record
  body,       // with a body
  pull,       // whose payload its receiver reads
  aggregate,  // several messages
  credit = 16,
  refused,
  unreplied,
  read,
  done,
  up,
  down,
  broken,
};
constexpr bool is_message(Op op) noexcept { return op <= Op::aggregate; }
constexpr bool is_op(std::uint8_t op) noexcept {
  return (op >= 1 && op <= static_cast<std::uint8_t>(Op::aggregate)) ||
         (op >= static_cast<std::uint8_t>(Op::credit) &&
          op <= static_cast<std::uint8_t>(Op::broken));
}

inline constexpr std::uint8_t kHasImmediate = 1;
inline constexpr std::uint8_t kWantsReply = 2;
inline constexpr std::uint8_t kIsReply = 4;
inline constexpr std::uint8_t kTellsHandled = 8;  // its sender waits for its handlers
inline constexpr std::uint8_t kAllFlags = 15;

struct Word {
  Op op = Op::line;
  std::uint8_t flags = 0;
  std::uint16_t id = 0;
  std::uint16_t header_bytes = 0;
  std::uint16_t handled = 0;

  bool has(std::uint8_t flag) const noexcept { return (flags & flag) != 0; }
};

constexpr std::uint64_t encode(const Word& word) noexcept {
  return static_cast<std::uint64_t>(word.op) | static_cast<std::uint64_t>(word.flags) << 8 |
         static_cast<std::uint64_t>(word.id) << 16 |
         static_cast<std::uint64_t>(word.header_bytes) << 32 |
         static_cast<std::uint64_t>(word.handled) << 48;
}

// Empty: malformed.
constexpr std::optional<Word> decode(std::uint64_t bits) noexcept {
  const auto op = static_cast<std::uint8_t>(bits);
  Word word{static_cast<Op>(op), static_cast<std::uint8_t>(bits >> 8),
            static_cast<std::uint16_t>(bits >> 16), static_cast<std::uint16_t>(bits >> 32),
            static_cast<std::uint16_t>(bits >> 48)};
  if (!is_op(op) || (word.flags & ~kAllFlags) != 0 || word.header_bytes > PH_AM_HEADER_BYTES)
    return std::nullopt;
  if (word.has(kWantsReply) && word.has(kIsReply)) return std::nullopt;
  if (word.op == Op::aggregate && (word.flags | word.id | word.header_bytes) != 0)
    return std::nullopt;
  if (is_message(word.op)) return word;
  const bool has_id = word.op == Op::refused;
  if ((word.flags | word.header_bytes | word.handled) != 0 || (word.id != 0 && !has_id))
    return std::nullopt;
  return word;
}

// Whether word 0 is that of such a message without flags or header; and then what decode() says.
constexpr bool is_plain(std::uint64_t bits, Op op) noexcept {
  return (bits & 0x0000'ffff'0000'ffff) == static_cast<std::uint64_t>(op);
}
// (In one piece: a word that is put together from parts is not at hand when it is read as a whole.)
constexpr Word plain_word(std::uint64_t bits) noexcept { return std::bit_cast<Word>(bits); }
static_assert(std::endian::native == std::endian::little && sizeof(Word) == sizeof(std::uint64_t));
static_assert(encode(plain_word(0x1234'0000'5678'0001)) == 0x1234'0000'5678'0001);

constexpr std::uint64_t round_up(std::uint64_t bytes) noexcept { return (bytes + 7) & ~7ull; }

// A carried message, taken apart.
struct Parts {
  std::span<const std::byte> payload;
  std::span<const std::byte> header;
  std::uint64_t immediate = 0;
};

inline std::uint64_t word_at(std::span<const std::byte> bytes, std::size_t at) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + at, sizeof word);
  return word;
}

// A line: `rest` is what stands behind word 0: [immediate], header, payload, without a gap.
inline std::optional<Parts> parts_of_line(const Word& word,
                                          std::span<const std::byte> rest) noexcept {
  Parts parts;
  if (word.has(kHasImmediate)) {
    if (rest.size() < sizeof parts.immediate) return std::nullopt;
    parts.immediate = word_at(rest, 0);
    rest = rest.subspan(sizeof parts.immediate);
  }
  if (rest.size() < word.header_bytes) return std::nullopt;
  parts.header = rest.first(word.header_bytes);
  parts.payload = rest.subspan(word.header_bytes);
  return parts;
}

// The words behind word 0 of ops record and body: payload bytes, [immediate].
struct Sizes {
  std::uint64_t payload_bytes = 0;
  std::uint64_t immediate = 0;
};
inline std::optional<Sizes> sizes_of(const Word& word, std::span<const std::byte> rest) noexcept {
  const std::size_t words = word.has(kHasImmediate) ? 2 : 1;
  if (rest.size() != words * sizeof(std::uint64_t)) return std::nullopt;
  return Sizes{word_at(rest, 0), words == 2 ? word_at(rest, sizeof(std::uint64_t)) : 0};
}
// Bytes of payload and header as they stand in a record or body: a gap between them up to the next
// multiple of 8. payload_bytes is a peer's word: at most kMostCarried, or nothing.
inline constexpr std::uint64_t kMostCarried = std::uint64_t{1} << 32;
constexpr std::optional<std::uint64_t> carried_bytes(std::uint64_t payload_bytes,
                                                     std::uint64_t header_bytes) noexcept {
  if (payload_bytes > kMostCarried) return std::nullopt;
  return header_bytes == 0 ? payload_bytes : round_up(payload_bytes) + header_bytes;
}
// `bytes`: of the record or body, all of them.
inline std::optional<Parts> parts_of(const Word& word, const Sizes& sizes,
                                     std::span<const std::byte> bytes) noexcept {
  const auto size = carried_bytes(sizes.payload_bytes, word.header_bytes);
  if (!size || *size != bytes.size()) return std::nullopt;
  return Parts{bytes.first(sizes.payload_bytes), bytes.last(word.header_bytes), sizes.immediate};
}

}  // namespace photon::service::am
