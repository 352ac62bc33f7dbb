// Writing records and completions: the lowest verbs, used by all others.
#include <algorithm>
#include <cstring>

#include "engine/engine.hpp"
#include "engine/parts/record_io.hpp"
#include "engine/parts/summons.hpp"
#include "engine/services.hpp"

namespace photon::engine {

namespace {

// The record belongs to an operation that is over for us with it or one of the next, though its
// target may refuse it, or never read it.
bool may_be_told_late(const Outgoing& out) noexcept {
  return !out.is_sure && (out.kind == wire::Kind::put || out.kind == wire::Kind::counted ||
                          out.kind == wire::Kind::bulk || out.kind == wire::Kind::scatter);
}

}  // namespace

// Small puts may go without looking, as far as credits and limits are known to reach.
bool Engine::grant_runway(Peer& peer) noexcept {
  settle(peer);
  if (peer.broken != PH_OK || wants_turns_ || !peer.idle() || peer.fences != 0 ||
      config_.max_cid_size < 8 || peer.regions == nullptr || !has_ledger(peer))
    return false;
  peer.tx.refresh();
  const auto ledger = config_.ledger_slots - (peer.ledger_sent - peer.ledger_known);
  const auto length = std::min({peer.tx.room(), ledger, completions_.share()});
  if (length == 0) return false;  // an end without a beginning would outlive the ring
  completions_.lend(length);
  peer.runway_begin = peer.tx.tail();
  peer.messages_before = peer.messages;
  peer.runway_end = peer.runway_begin + length;
  return true;
}

// Count what was sent on the runway, and end it.
void Engine::settle(Peer& peer) noexcept {
  if (peer.runway_end == 0) return;  // not so where atomics alone have used it up: begin is its end
  const std::uint64_t said = peer.messages - peer.messages_before;  // they take lines of it alone
  const std::uint64_t used = peer.tx.tail() - peer.runway_begin - said;
  if (peer.counts != nullptr) [[unlikely]]
    count_runway(peer);
  peer.ledger_sent += used;
  peer.staged_sent += used;
  completions_.give_back(peer.runway_end - peer.runway_begin - used);
  peer.runway_begin = peer.runway_end = 0;
}

// Whether one more completion can be promised; runways elsewhere give back what they hold.
bool Engine::events_left() noexcept {
  if (completions_.has_any()) return true;
  for (Peer* peer : contacted_) settle(*peer);
  return completions_.free() > 0;
}

bool Engine::has_ledger(Peer& peer) noexcept {
  settle(peer);
  if (!overflow_drained(peer) || !peer.has_credit(config_.ledger_slots)) return false;
  peer.is_dry = false;
  peer.dry_since_ns = 0;
  return true;
}

// Whether the record went out. The caller knows that ledger credit is there if it has an id.
// Untold: the caller nudges the peer when there is more.
bool Engine::send(Peer& peer, const Outgoing& out, bool is_told) {
  const auto lines = wire::lines_for(out.kind, out.id_bytes, out.payload_bytes);
  if (!(out.kind == wire::Kind::jump ? peer.tx.has_last_room(lines) : peer.tx.has_room(lines))) {
    count(peer, Count::line_stalls);
    return false;
  }
  settle(peer);
  if (peer.sent.is_open() && may_be_told_late(out))
    peer.sent.note(peer.tx.tail(),
                   {0, out.local_id, out.target.address, out.size_bytes, out.request});
  RecordWriter writer(peer.tx);
  const auto fixed = wire::fixed_words(out.kind);
  for (std::uint32_t i = 0; i < fixed; ++i) writer.word(out.fixed[i]);
  if (out.id_bytes != wire::kNoId) {
    writer.bytes(out.id, out.id_bytes);
    if (out.owner == wire::Owner::application) ++peer.ledger_sent;
  }
  writer.bytes(out.payload, out.payload_bytes);
  peer.tx.publish(wire::encode(out.kind, out.id_bytes, out.payload_bytes, out.owner), lines);
  if (is_told) nudge(peer);
  return true;
}

// After every record or credit: does the peer want to be told? (sync/sleep_gate.hpp)
void Engine::nudge(Peer& peer) noexcept {
  sync::SleepGate<transport::Policy>::barrier(peer.fenced);
  if (!peer.kick_always && !peer.credits->is_cold()) return;
  count(peer, Count::kicks);
  transport_->kick(peer.rank);
  if (peer.kick_always) ask_interval();
}

HeldId Engine::hold(const ph_id& id) {
  HeldId held{0, id.size_bytes};
  if (held.is_long()) {
    held.value = id_blocks_.take();
    std::memcpy(id_blocks_.at(static_cast<std::uint32_t>(held.value)), id.data, id.size_bytes);
  } else if (id.size_bytes != 0) {
    std::memcpy(&held.value, id.data, id.size_bytes);
  }
  return held;
}

const void* Engine::id_data(const HeldId& id) noexcept {
  return id.is_long()
             ? static_cast<const void*>(id_blocks_.at(static_cast<std::uint32_t>(id.value)))
             : &id.value;
}

void Engine::drop(HeldId& id) noexcept {
  if (id.is_long()) id_blocks_.give(static_cast<std::uint32_t>(id.value));
  id = HeldId{};
}

// The event's id takes over the held one.
void Engine::push_local(Peer& peer, const HeldId& id, ph_status status) {
  peer.local.push({id.value, id.bytes, status});
  if (!peer.local_ready) {
    peer.local_ready = true;
    local_ready_.push(&peer);
  }
  if (waiters_ != 0) news();
}

// An operation that was over for its initiator has failed: its request is told, if that is still
// kept, else its local id as far as it is known. That is beyond the promise, so that none may be
// free, and less.
void Engine::report_late(Peer& peer, std::uint64_t word, std::uint64_t request, ph_status status) {
  if (Request* kept = requests_.find_kept(request); kept != nullptr) return conclude(*kept, status);
  peer.local.make_room(peer.outstanding + 1);  // what was promised to others stays theirs
  push_local(peer, {word, 8}, status);
  completions_.promise();
}

// The operation is over for its initiator. The promised event is used or given back.
void Engine::complete_local(Request& request, ph_status status) {
  if (request.owner != wire::Owner::application) {
    request.local_done = true;
    return services_->ended(request, status);
  }
  Peer& peer = *request.peer;
  if (status != PH_OK) [[unlikely]]
    blame(status, peer.rank);
  if (request.kept) return conclude(request, status);
  if (request.local_done) {
    if (status != PH_OK) report_late(peer, request.local_word, 0, status);
    return;
  }
  request.local_done = true;
  --peer.outstanding;
  if (status == PH_OK && (request.flags & PH_NO_LCE) != 0) {
    completions_.release();
    drop(request.local);
    return;
  }
  push_local(peer, request.local, status);
  request.local = HeldId{};
}

void Engine::mark_busy(Peer& peer) {
  settle(peer);
  completions_.end_run();  // who takes one by one has to go on with it each time
  stream_until_ = 0;
  if (peer.busy) return;
  peer.busy = true;
  ++due_;
  busy_.push_back(&peer);
  // The thread that sleeps has chosen how long without knowing of this peer's work.
  wake_sleeper();
  if (progress_thread_ != nullptr) progress_thread_->hurry();
}

}  // namespace photon::engine
