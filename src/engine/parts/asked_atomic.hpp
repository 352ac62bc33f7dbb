// What an atomic is on the wire and on a word: the record that asks its owner for one, and the
// change that whoever has mapped the word makes by itself.
//
// Invariant: a word is changed under an intent, with its key looked at since that was entered.
#pragma once

#include <cstdint>
#include <span>

#include "engine/parts/operation.hpp"
#include "engine/parts/peer.hpp"
#include "engine/parts/region_book.hpp"
#include "sync/remote_word.hpp"
#include "wire/record.hpp"

namespace photon::engine {

using Regions = std::span<const transport::RegionEntry>;

inline constexpr std::uint64_t kFetches = 1u << 16;  // in the record's third word
inline constexpr std::uint64_t kAskedAtomic = wire::encode(wire::Kind::atomic, wire::kNoId, 0);
inline constexpr std::uint64_t kAskedAtomicWithId = wire::encode(wire::Kind::atomic, 8, 0);

inline std::uint32_t access_for(bool fetches) noexcept {
  return fetches ? std::uint32_t{PH_ACCESS_ALL} : std::uint32_t{PH_ACCESS_WRITE};
}

inline std::uint64_t wire_form(const sync::WordChange& change, bool fetches) noexcept {
  return static_cast<std::uint64_t>(change.verb) | static_cast<std::uint64_t>(change.type) << 8 |
         (fetches ? kFetches : 0);
}

// What a peer asks for.
struct AskedAtomic {
  ph_target target;
  sync::WordChange change;
  std::uint64_t what;  // as on the wire
  bool fetches() const noexcept { return (what & kFetches) != 0; }
  std::uint64_t bytes() const noexcept { return sync::word_bytes(change.type); }
  // Else malformed: an initiator checks operation and alignment before it asks.
  bool is_good() const noexcept {
    return (what & ~(kFetches | 0xffff)) == 0 &&
           sync::is_word_change(what & 0xff, what >> 8 & 0xff) &&
           sync::is_word_aligned(target.address, change.type);
  }
};

[[gnu::always_inline]] inline AskedAtomic read_asked(const transport::Line& line) noexcept {
  const std::uint64_t what = line.words[2].get();
  return {{line.words[0].get(), line.words[1].get()},
          {static_cast<sync::WordVerb>(what & 0xff), static_cast<sync::WordType>(what >> 8 & 0xff),
           line.words[3].get(), line.words[4].get()},
          what};
}

// By ourselves, under an intent (sync/intent.hpp). False: the right to it went this moment.
[[gnu::always_inline]] inline bool change_here(Peer& peer, Regions regions, const MappedWord& word,
                                               std::uint64_t& before) noexcept {
  peer.link->tx_intent->enter(word.at.key & (regions.size() - 1), peer.fenced);
  const bool is_allowed =
      !peer.credits->is_hidden() &&
      check_access(regions, word.at, sync::word_bytes(word.change.type), word.access) == PH_OK;
  if (is_allowed) before = sync::change_word(word.local, word.change);
  peer.link->tx_intent->leave();
  return is_allowed;
}

}  // namespace photon::engine
