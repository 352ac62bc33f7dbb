// Messages that travel together: how they stand one behind the other in an aggregate, and the walk
// over them (docs/active-messages.md, "The wire"). What a peer wrote may be anything, and in a
// chunk it may change meanwhile: each word is copied, then checked.
//
//   item:  word, [immediate], payload, pad to 8, header, pad to 8
//   word:  bits 0..7 flags (only kHasImmediate), 8..15 zero, 16..31 id, 32..47 header bytes,
//          48..63 payload bytes
// Owner: none; plain values.
#pragma once

#include <photon/am.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "service/am/word.hpp"

namespace photon::service::am {

struct Item {
  std::uint16_t id = 0;
  Parts parts;
};

struct ItemWord {
  std::uint8_t flags = 0;
  std::uint16_t id = 0;
  std::uint16_t header_bytes = 0;
  std::uint16_t payload_bytes = 0;

  bool has_immediate() const noexcept { return (flags & kHasImmediate) != 0; }
  // Of the whole item.
  std::uint64_t bytes() const noexcept {
    return sizeof(std::uint64_t) * (has_immediate() ? 2u : 1u) + round_up(payload_bytes) +
           round_up(header_bytes);
  }
};

constexpr std::uint64_t encode_item(const ItemWord& word) noexcept {
  return static_cast<std::uint64_t>(word.flags) | static_cast<std::uint64_t>(word.id) << 16 |
         static_cast<std::uint64_t>(word.header_bytes) << 32 |
         static_cast<std::uint64_t>(word.payload_bytes) << 48;
}

// Empty: malformed.
constexpr std::optional<ItemWord> decode_item(std::uint64_t bits) noexcept {
  if ((bits & 0xffff & ~std::uint64_t{kHasImmediate}) != 0) return std::nullopt;
  const ItemWord word{static_cast<std::uint8_t>(bits), static_cast<std::uint16_t>(bits >> 16),
                      static_cast<std::uint16_t>(bits >> 32),
                      static_cast<std::uint16_t>(bits >> 48)};
  if (word.header_bytes > PH_AM_HEADER_BYTES) return std::nullopt;
  return word;
}

class Items {
 public:
  explicit Items(std::span<const std::byte> bytes) noexcept : left_(bytes) {}

  // Empty: there are no more, or what comes is malformed.
  std::optional<Item> next() noexcept {
    if (left_.empty() || is_malformed_) return std::nullopt;
    is_malformed_ = left_.size() < sizeof(std::uint64_t);
    const auto word = is_malformed_ ? std::nullopt : decode_item(word_at(left_, 0));
    is_malformed_ = !word || word->bytes() > left_.size();
    if (is_malformed_) return std::nullopt;
    auto rest = left_.subspan(sizeof(std::uint64_t));
    Item item{word->id, {}};
    if (word->has_immediate()) {
      item.parts.immediate = word_at(rest, 0);
      rest = rest.subspan(sizeof(std::uint64_t));
    }
    item.parts.payload = rest.first(word->payload_bytes);
    item.parts.header = rest.subspan(round_up(word->payload_bytes), word->header_bytes);
    left_ = left_.subspan(word->bytes());
    return item;
  }
  bool is_malformed() const noexcept { return is_malformed_; }

 private:
  std::span<const std::byte> left_;
  bool is_malformed_ = false;
};

// How many there are; 0: it is malformed, or there is none, which is malformed as well.
inline std::uint32_t items_in(std::span<const std::byte> bytes) noexcept {
  Items items(bytes);
  std::uint32_t count = 0;
  while (items.next()) ++count;
  return items.is_malformed() ? 0 : count;
}

}  // namespace photon::service::am
