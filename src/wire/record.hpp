// The byte layout of records (docs/wire-format.md): pure encode and decode of header words.
// Invariant: decode() of any 64-bit word either refuses or yields values within the limits below.
// Owner: none.
//
//   bits  0..15  lap tag (the transport's; zero here)
//   bits 16..23  kind
//   bits 24..31  lines of the record, 1..kMaxLines
//   bits 32..42  id bytes; of a message the bytes of its header
//   bits 44..47  whose id it is (wire/owner.hpp); bits 32..47 all set, kNoId: there is no id
//   bits 48..63  payload bytes inside the record
#pragma once

#include <cstdint>
#include <optional>

#include "wire/owner.hpp"

namespace photon::wire {

inline constexpr std::uint32_t kVersion = 12;

enum class Kind : std::uint8_t {
  put = 1,        // words: address, key, then id and payload: lands inside the record
  put_acked,      // the same; the target answers with ack
  bulk,           // words: address, key, bulk size, left, then id: payload in the bulk ring
  bulk_acked,     // the same; the target answers with ack
  get,            // words: address, key, size, token: serve me this
  get_data,       // words: token, offset, bulk size: part of a get's answer, in the bulk ring
  get_failed,     // words: token, status
  ack,            // words: status, of the oldest record that asked for one
  refused,        // words: status, line, is chunk: what that line of the ring brought did not land
  bye,            // the sender has finalized; nothing follows
  counted,        // words: fragments, then id: goes with that many fragments of this record's imm
  withdrawn,      // words: line: a fragment of the counted record at that line was refused
  atomic,         // words: address, key, what, operand, compare, then id; answered by fetched
  fetched,        // words: status, value: answers as ack does, with what the word held
  jump,           // words: position: ids go on in the sender's overflow
  message,        // no words: header (as the id), payload: for the service that owns it
  body,           // words: size, offset, bulk size, then header, payload: part of a message's body
  scatter,        // words: first run's address, runs, bulk size, then id: table, bytes as bulk
  scatter_acked,  // the same; the target answers with ack
  gather,         // words: token, offset, bulk size: serve me this table of runs
};
inline constexpr std::uint8_t kKinds = 20;
constexpr bool is_kind(std::uint8_t kind) noexcept { return kind != 0 && kind <= kKinds; }

inline constexpr std::uint32_t kNoId = 0xffff;
inline constexpr std::uint32_t kMaxIdBytes = 1024;
inline constexpr unsigned kOwnerShift = 12;  // in the field of the id's bytes
inline constexpr std::uint32_t kIdBytesMask = (1u << kOwnerShift) - 1;
inline constexpr std::uint32_t kMaxPackedBytes = 1024;
inline constexpr std::uint32_t kWordsPerLine = 7;
inline constexpr std::uint32_t kLineDataBytes = kWordsPerLine * 8;

// The bulk size word of bulk, scatter and their like: bytes of this chunk, and its place in its
// operation.
inline constexpr std::uint64_t kBulkFirst = std::uint64_t{1} << 63;
inline constexpr std::uint64_t kBulkLast = std::uint64_t{1} << 62;
// The word behind it of bulk: what is left of the operation, this chunk included, from address on.
// It is refused as a whole with its first chunk.
constexpr bool is_left(std::uint64_t left, std::uint64_t bytes, bool is_last) noexcept {
  return is_last ? left == bytes : left > bytes;
}
constexpr std::uint64_t bulk_size(std::uint64_t word) noexcept {
  return word & ~(kBulkFirst | kBulkLast);
}

// How a buffer is described: its kind in two bits, and its size.
inline constexpr unsigned kBufferKindShift = 62;
inline constexpr std::uint64_t kMaxBufferBytes = (std::uint64_t{1} << kBufferKindShift) - 1;

// Words before the id in a record of each kind.
constexpr std::uint32_t fixed_words(Kind kind) noexcept {
  switch (kind) {
    case Kind::put:
    case Kind::put_acked:
    case Kind::get_failed:
    case Kind::fetched: return 2;
    case Kind::scatter:
    case Kind::scatter_acked:
    case Kind::gather:
    case Kind::get_data:
    case Kind::refused:
    case Kind::body: return 3;
    case Kind::bulk:
    case Kind::bulk_acked:
    case Kind::get: return 4;
    case Kind::atomic: return 5;
    case Kind::ack:
    case Kind::counted:
    case Kind::jump:
    case Kind::withdrawn: return 1;
    case Kind::message:
    case Kind::bye: return 0;
  }
  return 0;
}

struct Header {
  Kind kind = Kind::bye;
  std::uint32_t lines = 1;
  std::uint32_t id_bytes = kNoId;
  std::uint32_t payload_bytes = 0;
  Owner owner = Owner::application;  // of the id

  constexpr bool has_id() const noexcept { return id_bytes != kNoId; }
  constexpr std::uint32_t id_words() const noexcept { return has_id() ? (id_bytes + 7) / 8 : 0; }
};

// Lines a record needs.
constexpr std::uint32_t lines_for(Kind kind, std::uint32_t id_bytes,
                                  std::uint32_t payload_bytes) noexcept {
  const std::uint32_t id_words = id_bytes == kNoId ? 0 : (id_bytes + 7) / 8;
  const std::uint32_t words = fixed_words(kind) + id_words + (payload_bytes + 7) / 8;
  return words <= kWordsPerLine ? 1 : (words + kWordsPerLine - 1) / kWordsPerLine;
}
inline constexpr std::uint32_t kMaxLines = lines_for(Kind::body, kMaxIdBytes, kMaxPackedBytes);
static_assert(kMaxLines <= 48 && kMaxLines <= 255);  // 3/4 of the smallest ring; 8 bits

constexpr std::uint64_t encode(Kind kind, std::uint32_t id_bytes, std::uint32_t payload_bytes,
                               Owner owner = Owner::application) noexcept {
  return static_cast<std::uint64_t>(kind) << 16 |
         static_cast<std::uint64_t>(lines_for(kind, id_bytes, payload_bytes)) << 24 |
         static_cast<std::uint64_t>(id_bytes) << 32 |
         static_cast<std::uint64_t>(id_bytes == kNoId ? 0 : static_cast<unsigned>(owner))
             << (32 + kOwnerShift) |
         static_cast<std::uint64_t>(payload_bytes) << 48;
}

// Records of the services alone: a header in the place of the id, and always an owner.
constexpr bool is_of_service(Kind kind) noexcept {
  return kind == Kind::message || kind == Kind::body;
}

// Whether records of this kind may carry an id / a payload.
constexpr bool may_have_id(Kind kind) noexcept {
  return kind == Kind::put || kind == Kind::put_acked || kind == Kind::bulk ||
         kind == Kind::bulk_acked || kind == Kind::counted || kind == Kind::atomic ||
         kind == Kind::scatter || kind == Kind::scatter_acked || is_of_service(kind);
}
constexpr bool may_have_payload(Kind kind) noexcept {
  return kind == Kind::put || kind == Kind::put_acked || is_of_service(kind);
}

// Kinds with a bulk size, and which of their words it is.
constexpr bool announces_bulk(Kind kind) noexcept {
  return kind == Kind::bulk || kind == Kind::bulk_acked || kind == Kind::get_data ||
         kind == Kind::scatter || kind == Kind::scatter_acked || kind == Kind::gather ||
         kind == Kind::body;
}
inline constexpr unsigned kBulkSizeWord = 2;

// Anything may stand in a word another process wrote: nothing outside the limits gets through.
[[gnu::always_inline]] constexpr std::optional<Header> decode(std::uint64_t word) noexcept {
  const auto kind = static_cast<std::uint8_t>(word >> 16);
  if (!is_kind(kind)) return std::nullopt;
  Header header{static_cast<Kind>(kind), static_cast<std::uint32_t>(word >> 24 & 0xff),
                static_cast<std::uint32_t>(word >> 32 & 0xffff),
                static_cast<std::uint32_t>(word >> 48)};
  if (header.has_id()) {
    const auto owner = static_cast<std::uint8_t>(header.id_bytes >> kOwnerShift);
    header.id_bytes &= kIdBytesMask;
    header.owner = static_cast<Owner>(owner);
    if (header.id_bytes > kMaxIdBytes || owner >= kOwners || !may_have_id(header.kind))
      return std::nullopt;
  }
  if (is_of_service(header.kind) && header.owner == Owner::application) return std::nullopt;
  if (header.payload_bytes > (may_have_payload(header.kind) ? kMaxPackedBytes : 0))
    return std::nullopt;
  if (header.lines != lines_for(header.kind, header.id_bytes, header.payload_bytes))
    return std::nullopt;
  return header;
}

}  // namespace photon::wire
