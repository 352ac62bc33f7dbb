// Ids beyond the ledger, at their sender: they queue in its memory, where the receiver fetches them
// (docs/flow-control.md, "The overflow"; unexpected.cpp). And memory of links that nobody uses,
// given back.
#include <algorithm>
#include <cstring>

#include "engine/engine.hpp"

namespace photon::engine {

// For an id that finds no ledger credit or no line. False: no room, or none at all; nothing was
// done. Its block may be taken over.
bool Engine::overflow_id(Peer& peer, LateId& late) {
  OverflowProducer& out = peer.overflow_out;
  if (!out.is_open()) {
    const std::uint64_t words = late.words();
    if (!overflow_fits(words) || !peer.late.push(late, config_.overflow_bytes / 8)) return false;
    late.id = HeldId{};
    overflow_words_ += words;
    count(peer, Count::overflowed);
    if (peer.counts != nullptr)
      peer.counts->raise(Count::most_overflow_bytes, peer.late.words() * sizeof(std::uint64_t));
    mark_busy(peer);
    return true;
  }
  const std::uint32_t id_bytes = late.id.bytes;
  const std::uint64_t words = entry_words(id_bytes);
  const void* const id = id_data(late.id);
  static_cast<void>(overflow_drained(peer));
  if (!out.has_room(words) || !overflow_fits(words)) return false;
  const auto* from = static_cast<const std::byte*>(id);
  for (std::uint64_t at = 0; at < id_bytes; at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, from + at, std::min<std::uint64_t>(sizeof word, id_bytes - at));
    out.set(at / sizeof word, word);
  }
  Outgoing jump{};
  jump.kind = wire::Kind::jump;
  overflow_words_ += words;
  count(peer, Count::overflowed);
  const bool jumps =
      out.publish({id_bytes, words, peer.tx.tail() != peer.jump_tail}, jump.fixed[0]);
  if (peer.counts != nullptr)
    peer.counts->raise(Count::most_overflow_bytes, out.used() * sizeof(std::uint64_t));
  if (!jumps) return true;
  if (send(peer, jump)) {
    peer.jump_tail = peer.tx.tail();
    return true;
  }
  peer.jump_due = jump.fixed[0] + 1;  // the credit for its line is under way to us
  mark_busy(peer);
  return true;
}

// Both halves of the overflow: what is late, and the jump to what the peer fetches.
Engine::Step Engine::step_overflow(Peer& peer) {
  if (!peer.late.empty()) {
    LateId& late = peer.late.front();
    Outgoing out{};
    out.id = id_data(late.id);
    out.id_bytes = late.id.bytes;
    out.local_id = late.local_word;
    out.request = late.request;
    out.is_sure = !late.is_reported;
    settle(peer);
    if (!peer.has_credit(config_.ledger_slots) || !send(peer, out)) return Step::blocked;
    const std::uint64_t words = late.words();
    overflow_words_ -= words;
    drop(late.id);
    peer.late.pop(words);
    return Step::moved;
  }
  if (peer.jump_due == 0) return Step::blocked;
  Outgoing jump{};
  jump.kind = wire::Kind::jump;
  jump.fixed[0] = peer.jump_due - 1;
  if (!send(peer, jump)) return Step::blocked;
  peer.jump_tail = peer.tx.tail();
  peer.jump_due = 0;
  return Step::moved;
}

void Engine::forget_overflow(Peer& peer) noexcept {
  overflow_words_ -= peer.overflow_out.used();
  peer.overflow_out = OverflowProducer();
  peer.overflow_in = OverflowConsumer();
}

// Gives back the memory of pools that grew while very many operations were queued.
void EngineState::trim_pools() noexcept {
  constexpr std::uint64_t kUsual = 4096;  // events: the setting `requests` by default
  requests_.trim();
  payload_blocks_.trim();
  id_blocks_.trim();
  for (Peer* peer : contacted_)
    if (peer->outstanding == 0) peer->local.trim(kUsual);
}

// What links have not used for a second, and what overflowed and was taken. True: there may be more
// to give back later.
bool Engine::give_back_idle() {
  constexpr std::int64_t kIdleNs = 1'000'000'000;
  trim_pools();
  if (!transport_->discards()) return false;
  bool later = false;
  std::int64_t now = 0;
  for (Peer* peer : contacted_) {
    if (peer->link == nullptr) continue;
    UsedMemory& used = peer->used;
    if (used.overflow_clean != peer->overflow_out.tail()) {
      if (overflow_drained(*peer)) {
        used.overflow_clean = peer->overflow_out.tail();
        transport_->discard(
            {reinterpret_cast<std::byte*>(peer->link->tx_overflow.words), config_.overflow_bytes});
      }
    }
    if (used.bulk_clean == peer->tx_bulk.tail) continue;
    if (now == 0) now = transport_->now_ns();
    if (used.bulk_tail != peer->tx_bulk.tail) {
      used.bulk_tail = peer->tx_bulk.tail;
      used.seen_ns = now;
    }
    later = true;
    if (now - used.seen_ns < kIdleNs || peer->reservation.is_open()) continue;
    used.bulk_clean = peer->tx_bulk.tail;
    discard_bulk(*peer);
  }
  return later;
}

// All but what the peer may still read; credits are lazy, so that is more than it will.
void Engine::discard_bulk(Peer& peer) noexcept {
  static_cast<void>(bulk_room(peer, config_.bulk_bytes));  // looks at what was freed
  const std::uint64_t capacity = config_.bulk_bytes;
  const std::uint64_t begin = peer.tx_bulk.tail & (capacity - 1);
  const std::uint64_t bytes = capacity - (peer.tx_bulk.tail - peer.tx_bulk.freed);
  const std::uint64_t before_end = std::min(bytes, capacity - begin);
  transport_->discard({peer.tx_bulk.bytes + begin, before_end});
  transport_->discard({peer.tx_bulk.bytes, bytes - before_end});
}

}  // namespace photon::engine
