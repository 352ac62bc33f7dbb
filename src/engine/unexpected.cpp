// Remote ids that have come in: given to the prober who waits for just that, or kept until they are
// probed, and behind them those that wait in their sender's memory (docs/flow-control.md, "The
// overflow").
#include <algorithm>
#include <cstring>
#include <new>

#include "engine/engine.hpp"
#include "engine/parts/record_io.hpp"
#include "engine/services.hpp"

namespace photon::engine {

namespace {

constexpr std::uint64_t kPulled = 64;  // ids that move here from the overflow at a time

}  // namespace

// The id goes to the prober who waits for just that, or to the unexpected queue. False: the peer
// has sent more ids than it has credit for. An id of a service goes to it.
bool Engine::deliver(Peer& peer, RecordReader& reader, const wire::Header& header,
                     CompletionSink* sink) {
  const std::uint32_t id_bytes = header.id_bytes;
  if (header.owner != wire::Owner::application) return services_->take_id(peer, header, reader);
  if (id_bytes > config_.max_cid_size) return false;
  const bool is_wanted =
      sink != nullptr && sink->wants(PH_REMOTE, peer.rank) && peer.unexpected.empty();
  std::byte* const room = is_wanted && id_bytes > 8 ? sink->id_room() : nullptr;
  if (is_wanted && (id_bytes <= 8 || room != nullptr)) {
    std::uint64_t id = 0;
    reader.bytes(room == nullptr ? static_cast<void*>(&id) : room, id_bytes);
    if (room != nullptr) std::memcpy(&id, room, sizeof id);
    sink->put(PH_REMOTE, peer.rank, {id, id_bytes, PH_OK}, peer.outstanding, room);
    ++peer.probed;
    return true;
  }
  return queue_unexpected(peer, reader, id_bytes, PH_OK);
}

// Its operation was refused: the ledger slot of a user's id is free again.
void Engine::id_dropped(Peer& peer, const wire::Header& header) noexcept {
  if (header.has_id() && header.owner == wire::Owner::application) ++peer.probed;
}

// False: as above.
bool Engine::queue_unexpected(Peer& peer, RecordReader& reader, std::uint32_t id_bytes,
                              std::int32_t status) {
  if (id_bytes > config_.max_cid_size || peer.unexpected.size() >= config_.ledger_slots)
    return false;
  HeldId held{0, id_bytes};
  if (held.is_long()) held.value = id_blocks_.take();
  reader.bytes(held.is_long()
                   ? static_cast<void*>(id_blocks_.at(static_cast<std::uint32_t>(held.value)))
                   : &held.value,
               id_bytes);
  peer.unexpected.push({held.value, held.bytes, status});
  if (peer.counts != nullptr) peer.counts->raise(Count::most_waiting_ids, peer.unexpected.size());
  if (!peer.has_remote()) return true;
  if (!peer.unexpected_ready) {
    peer.unexpected_ready = true;
    unexpected_ready_.push(&peer);
  }
  if (waiters_ != 0) news();
  return true;
}

// Ids that are withdrawn never stand in front.
void EngineState::settle_unexpected(Peer& peer) noexcept {
  while (!peer.unexpected.empty() && peer.unexpected.front().status == kWithdrawn) {
    const Event& event = peer.unexpected.front();
    if (event.id_bytes > 8) id_blocks_.give(static_cast<std::uint32_t>(event.id));
    peer.unexpected.pop();
    ++peer.probed;
  }
}

// What stands in front can be probed, unless it waits for fragments.
void Engine::show_unexpected(Peer& peer) {
  if (peer.broken == PH_OK) publish_credits(peer);
  if (!peer.has_remote()) return;
  if (!peer.unexpected_ready) {
    peer.unexpected_ready = true;
    unexpected_ready_.push(&peer);
  }
  if (waiters_ != 0) news();
}

// The peer is lost: what has not come whole never will, and what has come stays to be probed.
void Engine::drop_coming(Peer& peer) {
  for (std::uint64_t at = peer.unexpected.begin(); at != peer.unexpected.end(); ++at)
    if (peer.unexpected.at(at).status == kComing) peer.unexpected.at(at).status = kWithdrawn;
  settle_unexpected(peer);
  static_cast<void>(refill_unexpected(peer));  // it cannot be lost a second time
  show_unexpected(peer);
}

// False: malformed.
bool Engine::take_jump(Peer& peer) {
  if (!peer.overflow_in.is_open()) return false;
  RecordReader reader(peer.rx);
  peer.overflow_in.jump(reader.word());
  return !peer.unexpected.empty() || pull_overflow(peer, kPulled);
}

// The next ids, to an unexpected queue that holds no others; what was taken before is given back.
// False: its entries are malformed.
bool Engine::pull_overflow(Peer& peer, std::uint64_t most) {
  OverflowConsumer& in = peer.overflow_in;
  most = std::min(most, config_.ledger_slots);
  if (in.owed() * sizeof(std::uint64_t) >= config_.overflow_bytes / 8) give_back_overflow(peer);
  for (;;) {
    auto state = in.peek();
    while (state == OverflowConsumer::State::entry && peer.overflow_queued < most) {
      if (!take_entry(peer)) return false;
      state = in.peek();
    }
    if (state == OverflowConsumer::State::garbage) return false;
    if (peer.overflow_queued != 0) break;
    const bool owed = in.owed() != 0;
    const bool is_over = in.leave();
    if (owed) transport_->kick(peer.rank);  // it may sleep until there is a ledger again
    if (is_over) return true;
  }
  show_unexpected(peer);
  return true;
}

bool Engine::take_entry(Peer& peer) {
  OverflowConsumer& in = peer.overflow_in;
  const std::uint64_t id_bytes = in.header();
  if (id_bytes > config_.max_cid_size || entry_words(id_bytes) > in.there()) return false;
  peer.unexpected.make_room();
  id_blocks_.reserve(1);
  HeldId held{0, static_cast<std::uint32_t>(id_bytes)};
  if (held.is_long()) {
    held.value = id_blocks_.take();
    std::byte* const to = id_blocks_.at(static_cast<std::uint32_t>(held.value));
    for (std::uint64_t at = 0; at < id_bytes; at += sizeof(std::uint64_t)) {
      const std::uint64_t word = in.word(at / sizeof word);
      std::memcpy(to + at, &word, std::min<std::uint64_t>(sizeof word, id_bytes - at));
    }
  } else if (id_bytes != 0) {
    held.value = in.word(0);
  }
  peer.unexpected.push({held.value, held.bytes, PH_OK});
  if (peer.counts != nullptr) peer.counts->raise(Count::most_waiting_ids, peer.unexpected.size());
  ++peer.overflow_queued;
  in.pop(entry_words(id_bytes));
  return true;
}

void Engine::give_back_overflow(Peer& peer) {
  peer.overflow_in.give_back();
  transport_->kick(peer.rank);  // it may sleep until there is room
}

// The id in front was popped for the application.
void EngineState::id_taken(Peer& peer) noexcept {
  if (peer.overflow_queued == 0)
    ++peer.probed;
  else
    --peer.overflow_queued, ++peer.overflow_probed;
}

// Behind the last id of the unexpected queue those of the overflow come, if a jump was met. An
// error: the peer has to be lost (contact.cpp).
ph_status Engine::refill_unexpected(Peer& peer) {
  if (!peer.unexpected.empty() || peer.link == nullptr || !peer.overflow_in.is_reading())
    return PH_OK;
  if (peer.broken != PH_OK && peer.broken != PH_ERR_DEPARTED) return PH_OK;
  try {
    return pull_overflow(peer, kPulled) ? PH_OK : PH_ERR_PROTOCOL;
  } catch (const std::bad_alloc&) {
    return PH_ERR_MEMORY;  // its ids would wait for ever
  }
}

// Its sender is gone, and the memory goes with the link: all that it published moves to the
// unexpected queue, which has changed. False: it has not.
bool Engine::read_off_overflow(Peer& peer) {
  if (peer.broken != PH_OK && peer.broken != PH_ERR_DEPARTED) return false;
  if (!peer.overflow_in.is_open()) return false;
  try {
    while (peer.overflow_in.peek() == OverflowConsumer::State::entry && take_entry(peer)) {
    }
  } catch (const std::bad_alloc&) {
    PHOTON_LOG(log_, warn, "rank %u: no memory for all ids that it left behind", peer.rank);
  }
  peer.overflow_queued = 0;
  return true;
}

}  // namespace photon::engine
