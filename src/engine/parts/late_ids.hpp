// Remote ids beyond the ledger of a peer that does not see this rank's memory, in order: the
// overflow of networks (docs/flow-control.md, "The overflow"). Their operations are over.
// Invariant: words() is the sum of the ids' words, by which the overflow is limited. A long id
// holds a block of the engine's pool. Owner: a Peer.
#pragma once

#include <cstdint>
#include <new>

#include "base/ring_queue.hpp"
#include "engine/parts/event_queue.hpp"

namespace photon::engine {

// Those of an id in the overflow of a peer that sees this rank's memory.
constexpr std::uint64_t entry_words(std::uint64_t id_bytes) noexcept {
  return 1 + (id_bytes + 7) / 8;
}

struct LateId {
  HeldId id;
  // Should the peer be lost first, that is told, unless it need not be: to the request, if its
  // caller still keeps it, else with the local id's first 8 bytes.
  std::uint64_t local_word = 0;
  std::uint64_t request = 0;
  bool is_reported = true;

  // The memory that it takes.
  std::uint64_t words() const noexcept {
    return sizeof(LateId) / 8 + (id.is_long() ? (std::uint64_t{id.bytes} + 7) / 8 : 0);
  }
};

class LateIds {
 public:
  bool empty() const noexcept { return ids_.empty(); }
  std::uint64_t size() const noexcept { return ids_.size(); }
  std::uint64_t words() const noexcept { return words_; }
  LateId& front() noexcept { return ids_.front(); }
  // False: the limit, or no memory.
  bool push(const LateId& late, std::uint64_t most_words) noexcept {
    if (words_ + late.words() > most_words) return false;
    try {
      ids_.push(late);
    } catch (const std::bad_alloc&) {
      return false;
    }
    words_ += late.words();
    return true;
  }
  void pop(std::uint64_t its_words) noexcept {
    words_ -= its_words;
    ids_.pop();
    ids_.trim();
  }

 private:
  base::RingQueue<LateId> ids_;
  std::uint64_t words_ = 0;
};

}  // namespace photon::engine
