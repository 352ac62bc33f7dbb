// Writing records and completions, and the credit for them: the lowest verbs, used by all others.
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
bool Engine::grant_credit(Peer& peer) noexcept {
  settle(peer);
  if (peer.broken != PH_OK || wants_turns_ || !peer.idle() || peer.fences != 0 ||
      config_.max_cid_size < 8 || peer.regions == nullptr || !has_ledger(peer))
    return false;
  peer.tx.refresh();
  const auto ledger = config_.ledger_slots - (peer.ledger_sent - peer.ledger_known);
  const auto length = std::min({peer.tx.room(), ledger, completions_.share()});
  if (length == 0) return false;  // an end without a beginning would outlive the ring
  completions_.lend(length);
  peer.grant_begin = peer.tx.tail();
  peer.messages_before = peer.messages;
  peer.grant_end = peer.grant_begin + length;
  return true;
}

// Count what was sent on the credit grant, and end it.
void Engine::settle(Peer& peer) noexcept {
  if (peer.grant_end == 0) return;  // not so where atomics alone have used it up: begin is its end
  const std::uint64_t said = peer.messages - peer.messages_before;  // they take lines of it alone
  const std::uint64_t used = peer.tx.tail() - peer.grant_begin - said;
  if (peer.counts != nullptr) [[unlikely]]
    count_grant(peer);
  peer.ledger_sent += used;
  peer.staged_sent += used;
  completions_.give_back(peer.grant_end - peer.grant_begin - used);
  peer.grant_begin = peer.grant_end = 0;
}

// What the fast path has sent since the grant began, from the lines themselves.
void Engine::count_grant(Peer& peer) noexcept {
  const std::uint64_t lines = peer.tx.tail() - peer.grant_begin;
  std::uint64_t sent = 0;
  for (std::uint64_t back = 1; back <= lines; ++back) {
    const std::uint64_t word = peer.tx.line(0 - back).tag_word();
    const std::uint64_t bytes = word >> 48;
    if (static_cast<wire::Kind>(word >> 16 & 0xff) == wire::Kind::message) continue;
    ++sent;
    peer.counts->add(bytes != 0 ? Count::puts : Count::notifications, 1);
    peer.counts->add(Count::put_bytes, bytes);
  }
  peer.counts->add(Count::packed, sent);
}

void Engine::count_put(Peer& peer, std::uint64_t bytes) noexcept {
  count(peer, bytes != 0 ? Count::puts : Count::notifications);
  count(peer, Count::put_bytes, bytes);
}

// Whether one more completion can be promised; credit grants elsewhere give back what they hold.
bool Engine::events_left() noexcept {
  if (completions_.has_any()) return true;
  for (Peer* peer : contacted_) settle(*peer);
  return completions_.free() > 0;
}

bool Engine::overflow_drained(Peer& peer) noexcept {
  if (!peer.late.empty()) return false;
  if (peer.overflow_out.is_drained()) return true;
  overflow_words_ -= peer.overflow_out.refresh();
  return peer.overflow_out.is_drained();
}

// What others have taken of theirs is found out only when it is missed.
bool Engine::overflow_fits(std::uint64_t words) noexcept {
  const std::uint64_t most = config_.overflow_total_bytes / sizeof(std::uint64_t);
  if (overflow_words_ + words <= most) return true;
  for (Peer* peer : contacted_) static_cast<void>(overflow_drained(*peer));
  return overflow_words_ + words <= most;
}

bool Engine::has_ledger(Peer& peer) noexcept {
  settle(peer);
  if (!overflow_drained(peer) || !peer.has_credit(config_.ledger_slots)) return false;
  peer.is_dry = false;
  peer.dry_since_ns = 0;
  return true;
}

bool Engine::bulk_room(Peer& peer, std::uint64_t bytes) noexcept {
  if (peer.tx_bulk.fits(bytes)) return true;
  if (peer.reservation.is_open()) return false;  // it makes the ring look full
  const auto freed = peer.credits->bulk_given();
  if (freed >= peer.tx_bulk.freed && freed <= peer.tx_bulk.tail) peer.tx_bulk.freed = freed;
  return peer.tx_bulk.fits(bytes);
}

std::uint64_t Engine::chunk_bytes(std::uint64_t total, std::uint64_t left) const noexcept {
  // Two chunks at least, so that the sides overlap, but none too small to be worth a record.
  const auto half = (total / 2 + 63) & ~std::uint64_t{63};
  return std::min(left, std::clamp(half, config_.bulk_chunk / 2, config_.bulk_chunk));
}

// A put whose target is mapped needs nobody's help up to piece_bytes; nor does it staged, if all of
// it finds room in the bulk ring during the call.
bool Engine::can_stage_now(Peer& peer, std::uint64_t bytes) noexcept {
  if (bytes < StoreChoice::kLeastBytes) return false;
  const std::uint64_t chunks = bytes / (config_.bulk_chunk / 2) + 1;
  return bytes <= std::min(config_.piece_bytes, config_.bulk_bytes / 2) && peer.work.empty() &&
         peer.serves.empty() && peer.replies.empty() && peer.fences == 0 &&
         bulk_room(peer, bytes + config_.bulk_chunk) &&
         peer.tx.has_room(chunks * wire::lines_for(wire::Kind::bulk,
                                                   static_cast<std::uint32_t>(config_.max_cid_size),
                                                   0));
}

// The id may go with this request's bytes: it is its turn and there is credit.
bool Engine::may_post_id(const Peer& peer, const Request& request) const noexcept {
  return !request.id_merged &&
         (peer.ids.empty() || peer.ids.head() == &request || (request.flags & PH_ORDER_NONE) != 0);
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
  if (is_told) kick_peer(peer);
  return true;
}

// After every record or credit: does the peer want to be told? (sync/sleep_gate.hpp)
void Engine::kick_peer(Peer& peer) noexcept {
  sync::SleepGate<transport::Policy>::barrier(peer.fenced);
  if (!peer.kick_always && !peer.credits->is_cold()) return;
  count(peer, Count::kicks);
  transport_->kick(peer.rank);
  if (peer.kick_always) ask_interval();
}

// Give back what was consumed, in batches (docs/flow-control.md, "Two credits").
void Engine::publish_credits(Peer& peer) {
  bool published = false;
  // Half of what there is, told no sooner: its peer may have come to its end.
  const bool is_much = peer.rx.owed() >= config_.ring_lines / 2 ||
                       peer.probed - peer.probed_published >= config_.ledger_slots / 2 ||
                       peer.rx_bulk.owed() >= config_.bulk_bytes / 2;
  if (peer.rx.owed() >= peer.line_batch) {
    peer.rx.publish_lines();
    published = true;
  }
  if (peer.probed - peer.probed_published >= peer.ledger_batch) {
    peer.rx.credits()->give_ledger(peer.probed);
    peer.probed_published = peer.probed;
    published = true;
  }
  if (peer.rx_bulk.owed() >= config_.bulk_bytes / 8) {
    peer.rx_bulk.published = peer.rx_bulk.free_end();
    peer.rx.credits()->give_bulk(peer.rx_bulk.published);
    published = true;
  }
  if (!published) return;
  // All that was sent was read, and little of it not taken: a quarter of the credit is left.
  const bool is_short = is_much || peer.unexpected.size() >= config_.ledger_slots / 4 ||
                        peer.rx.peek() != LineConsumer::State::empty;
  if (peer.kick_always && !is_short)
    transport_->kick_later(peer.rank);
  else
    kick_peer(peer);  // it may sleep until there is credit; awake, it looks by itself
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

// The caller has room for the event, if there is one.
void Engine::done_now(Peer& peer, const LocalEnd& end) {
  if ((end.flags & PH_NO_LCE) != 0 || end.request != nullptr) return;
  completions_.promise();
  push_local(peer, hold(end.id), PH_OK);
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
