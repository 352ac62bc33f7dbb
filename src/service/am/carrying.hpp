// A message on its way from its sender's memory to the ring: how it is laid out, and which way it
// takes (docs/active-messages.md, "Ways").
//
//   line:          [immediate], header, payload, without a gap
//   record, body:  words in the record's header; payload, from the next multiple of 8 on the header
//
// Owner: none; plain values, and functions that keep nothing.
#pragma once

#include <photon/rma.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "service/am/pull_table.hpp"
#include "service/am/word.hpp"
#include "service/service.hpp"

namespace photon::service::am {

enum class Way : std::uint8_t { line, record, body };

// What goes in front of the bytes: in a line the word alone, else the words behind it, too.
struct Head {
  static constexpr std::size_t kMostWords = 4;

  Word word;
  Way way = Way::line;
  std::uint8_t words_count = 0;
  std::array<std::uint64_t, kMostWords> words{};

  void add(std::uint64_t value) noexcept { words[words_count++] = value; }
};

// A message that is still its sender's memory, all of it.
struct Draft {
  Head head;
  std::uint64_t immediate = 0;  // of a line; else it stands among the words
  std::span<const ph_const_block> payload;
  std::uint64_t payload_bytes = 0;
  std::span<const std::byte> header;

  // In a record or body.
  std::uint64_t bytes() const noexcept {
    return header.empty() ? payload_bytes : round_up(payload_bytes) + header.size();
  }
  std::uint64_t line_bytes() const noexcept {
    const std::uint64_t words = head.word.has(kHasImmediate) ? sizeof immediate : 0;
    return words + header.size() + payload_bytes;
  }
};

// What stands in front of a carried message of this size: its op, way and words are set.
// `record_max`: what a record may have, at most wire::kMaxPackedBytes.
void choose_way(Draft& draft, std::uint64_t record_max) noexcept;

// The same of one whose payload the target reads from the sender: its draft carries the table of
// blocks in the payload's place.
void choose_pull(Draft& draft, const PullWords& words, std::uint64_t record_max) noexcept;

// Bytes that a record to that rank may have: it costs less than a chunk up to there.
std::uint64_t record_max(const Port& port, Rank to) noexcept;

// All bytes of the message as its way has them: line_bytes() of a line, else bytes().
void lay_out(const Draft& draft, std::byte* to) noexcept;

// A line or a record.
ph_status say_packed(Port& port, Rank to, const Head& head, std::span<const std::byte> bytes);

// From its sender's memory to the ring, by any way; of a body only into room that is there now.
// PH_AGAIN: nothing was sent.
ph_status say_draft(Port& port, Rank to, const Draft& draft);

// Into room of the bulk ring that is there now, or PH_AGAIN.
ph_status say_chunk(Port& port, Rank to, const Head& head, std::span<const std::byte> bytes);

// Bytes that may be reserved in the ring at a time.
std::uint64_t most_room(const Port& port) noexcept;

// A body whose payload stands at `room`, which is reserved for it and a header. PH_AGAIN: nothing
// was sent, and the room stays reserved.
ph_status say_room(Port& port, Rank to, const Draft& draft, std::byte* room);

// A body that stays where it is until on_local(token).
ph_status say_lent(Port& port, Rank to, const Head& head, std::span<const std::byte> bytes,
                   std::uint64_t token);

}  // namespace photon::service::am
