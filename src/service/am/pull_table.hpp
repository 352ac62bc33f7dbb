// What a message says whose payload its receiver reads (docs/active-messages.md, "The wire", op
// pull), as pure functions: nothing outside the limits gets through.
//
//   behind word 0:  payload bytes, token, blocks, [immediate]
//   bytes:          the table of blocks, 24 bytes each, then the header
// Owner: none; plain values.
#pragma once

#include <photon/am.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "service/am/word.hpp"

namespace photon::service::am {

// A block of a payload, in its sender's memory.
struct SourceBlock {
  std::uint64_t address = 0;
  std::uint64_t size_bytes = 0;  // not 0
  std::uint64_t key = 0;
};
static_assert(sizeof(SourceBlock) == 24);

struct PullWords {
  std::uint64_t payload_bytes = 0;
  std::uint64_t token = 0;
  std::uint64_t blocks = 0;
  std::uint64_t immediate = 0;

  std::uint64_t table_bytes() const noexcept { return blocks * sizeof(SourceBlock); }
};

// `rest`: what stands behind word 0. Empty: malformed.
inline std::optional<PullWords> pull_words_of(const Word& word,
                                              std::span<const std::byte> rest) noexcept {
  const std::size_t words = word.has(kHasImmediate) ? 4 : 3;
  if (rest.size() != words * sizeof(std::uint64_t)) return std::nullopt;
  PullWords found;
  found.payload_bytes = word_at(rest, 0);
  found.token = word_at(rest, 8);
  found.blocks = word_at(rest, 16);
  if (words == 4) found.immediate = word_at(rest, 24);
  if (found.payload_bytes == 0 || found.blocks == 0 || found.blocks > PH_AM_BLOCKS)
    return std::nullopt;
  return found;
}

// Whether these are the blocks of so many bytes: none is empty, and their sum does not wrap.
inline bool is_table(std::span<const SourceBlock> blocks, std::uint64_t payload_bytes) noexcept {
  std::uint64_t left = payload_bytes;
  for (const SourceBlock& one : blocks) {
    if (one.size_bytes == 0 || one.size_bytes > left) return false;
    left -= one.size_bytes;
  }
  return left == 0;
}

// Takes the table out of the bytes of such a message, which must be a copy: what was checked is not
// looked at again. False: malformed. Throws bad_alloc.
inline bool take_table(const PullWords& words, std::uint64_t header_bytes,
                       std::span<const std::byte> bytes, std::vector<SourceBlock>& table) {
  if (bytes.size() != words.table_bytes() + header_bytes) return false;
  table.resize(words.blocks);
  std::memcpy(table.data(), bytes.data(), words.table_bytes());
  return is_table(table, words.payload_bytes);
}

}  // namespace photon::service::am
