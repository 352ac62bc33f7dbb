#include "service/am/am_outbox.hpp"

#include <new>
#include <string>
#include <utility>

#include "base/finally.hpp"

namespace photon::service::am {

Outbox::Outbox(Port& port, Gates& gates)
    : port_(port),
      gates_(gates),
      requests_(port.config().requests),
      budget_(port.config().am_queue_bytes),
      teller_(port, budget_),
      offers_(port, budget_),
      pool_(requests_),
      peers_(port.size()) {}

Outbox::~Outbox() = default;

// Whatever may fail fails before anything is changed.
To& Outbox::use(Rank rank) {
  if (peers_[rank] == nullptr) [[unlikely]] {
    moving_.make_room(peers_count_ + 1);
    peers_[rank] = std::make_unique<To>(rank, gates_.slots());
    ++peers_count_;
  }
  return *peers_[rank];
}

ph_status Outbox::may_queue(const To& to, Asker asker) {
  const bool is_full = asker == Asker::user && to.queue.size() >= requests_;
  if (!is_full && budget_.has_room(asker)) return PH_OK;
  if (asker == Asker::user) return port_.again();
  return port_.fail(PH_ERR_MEMORY, to.rank,
                    "am_send: what handlers have sent and what waits uses up " +
                        std::to_string(budget_.used()) +
                        " bytes; raise PHOTON_AM_QUEUE_BYTES, or send less in handlers");
}

void Outbox::queue(To& to, std::unique_ptr<Entry> entry, Asker asker) noexcept {
  entry->counted = asker == Asker::reply ? 0 : Entry::kBytes + entry->size_bytes;
  budget_.take(entry->counted);
  ++queued_;
  ++gates_.beside_sent;
  to.queue.push(std::move(entry));
  set_gate(to);
}

void Outbox::has_gone(To& to, const Head& head, const Note& note) noexcept {
  if (to.lost != PH_OK) {  // inside the call that has sent it
    if (note.kind != Note::Kind::none) to.notes.unexpect();
    if (note.is_told_of_loss()) teller_.end(to.rank, note, to.lost, "am_send: the target was lost");
    if (note.kind == Note::Kind::pull) offers_.fail(note.value, to.lost);
    return;
  }
  Gate& gate = gates_.of(to.rank);
  to.notes.add(gate.sent, note);
  if (note.kind == Note::Kind::pull) offers_.went(note.value);
  ++gate.sent;
  gate.told = gate.handled;
  SentCounts& counts = to.counts;
  counts.pulls += head.word.op == Op::pull;
  counts.aggregates += head.word.op == Op::aggregate;
  counts.records += head.word.op == Op::record;
  counts.chunks += head.word.op == Op::body;
  counts.replies += head.word.has(kIsReply);
}

// A chunk where there is room for it now, else a body, which the engine sends as room comes.
ph_status Outbox::say(const To& to, Entry& entry) {
  entry.head.word.handled = static_cast<std::uint16_t>(gates_.of(to.rank).handled);
  if (entry.head.way != Way::body) return say_packed(port_, to.rank, entry.head, entry.bytes());
  const ph_status status = say_chunk(port_, to.rank, entry.head, entry.bytes());
  if (status != PH_AGAIN) return status;
  entry.token = kToken | ++last_token_;
  return say_lent(port_, to.rank, entry.head, entry.bytes(), entry.token);
}

// The entry is nobody else's during the call, in which its rank may be lost.
ph_status Outbox::say_first(To& to) {
  std::unique_ptr<Entry> entry = to.queue.pop();
  ph_status status = PH_ERR_MEMORY;
  const base::Finally settled([&]() noexcept { settle_first(to, std::move(entry), status); });
  status = say(to, *entry);
  return status;
}

void Outbox::settle_first(To& to, std::unique_ptr<Entry> entry, ph_status status) noexcept {
  const bool waits = status == PH_AGAIN || status == PH_ERR_MEMORY;
  if (waits && to.lost == PH_OK) {
    entry->token = 0;
    return to.queue.push_front(std::move(entry));
  }
  --queued_;
  if (status != PH_OK) {
    drop(to, *entry, to.lost == PH_OK ? status : to.lost);
    return pool_.give(std::move(entry));
  }
  --gates_.beside_sent;
  has_gone(to, entry->head, entry->note);
  if (entry->token == 0) {
    budget_.give(entry->counted);
    return pool_.give(std::move(entry));
  }
  ++lent_;
  to.lent.push(std::move(entry));
}

// It never goes. Of one that nothing names the next flush tells.
void Outbox::drop(To& to, const Entry& entry, ph_status why) noexcept {
  budget_.give(entry.counted);
  if (entry.note.kind == Note::Kind::none) return port_.note_lost(to.rank);
  to.notes.unexpect();
  if (entry.note.kind == Note::Kind::pull) offers_.fail(entry.note.value, why);
  if (entry.note.is_told_of_loss())
    teller_.end(to.rank, entry.note, why,
                "am_send: the target was lost before the message had gone");
}

// The target has as many payloads to read as it may; the next `done` goes on.
bool Outbox::is_stopped(const To& to) const noexcept {
  return to.queue.front().head.word.op == Op::pull && !offers_.may_go(to.rank);
}

void Outbox::move_some(To& to) {
  const Gate& gate = gates_.of(to.rank);
  for (int left = kMostAtOnce; !to.queue.empty() && gate.has_slot(gates_.slots()); --left) {
    if (is_stopped(to)) return;
    if (left == 0) return go_on_later(to);
    const ph_status status = say_first(to);
    if (status == PH_ERR_MEMORY) throw std::bad_alloc();
    if (status != PH_OK) return;  // on_room() goes on, or it is lost
  }
}

void Outbox::move(To& to) noexcept {
  try {
    move_some(to);
  } catch (const std::bad_alloc&) {
    go_on_later(to);
  }
  set_gate(to);
}

void Outbox::go_on_later(To& to) noexcept {
  if (std::exchange(to.is_moving, true)) return;
  moving_.push_unchecked(to.rank);
  port_.wants_turn();
}

// Each that has to move goes once. The call that makes the turn says where memory runs out.
bool Outbox::turn() {
  for (std::uint64_t left = moving_.size(); left != 0; --left) {
    To& to = *peers_[moving_.front()];
    moving_.pop();
    to.is_moving = false;
    try {
      move_some(to);
    } catch (const std::bad_alloc&) {
      go_on_later(to);
      throw;
    }
    set_gate(to);
  }
  return !moving_.empty();
}

// Its bytes have left, or never will.
void Outbox::on_local(Rank rank, std::uint64_t token, ph_status status) noexcept {
  To* const to = find(rank);
  if (to == nullptr) return;
  std::unique_ptr<Entry> entry = to->lent.take(token);
  if (entry == nullptr) return;
  if (status != PH_OK && entry->note.kind == Note::Kind::none) port_.note_lost(rank);
  budget_.give(entry->counted);
  --lent_;
  pool_.give(std::move(entry));
}

// What is lent stays until on_local().
void Outbox::lose(To& to, ph_status why) noexcept {
  to.lost = why;
  set_gate(to);
  // One that has gone is told of only where it may be missed: its target lives, or has left.
  const bool may_be_missed = why == PH_ERR_DEPARTED || port_.may_live(to.rank);
  to.notes.lose(to.rank, why, may_be_missed, teller_);
  while (!to.queue.empty()) {
    const std::unique_ptr<Entry> entry = to.queue.pop();
    --queued_;
    drop(to, *entry, why);
  }
}

void Outbox::close() noexcept {
  is_closing_ = true;
  teller_.close();
  for (const std::unique_ptr<To>& to : peers_)
    if (to != nullptr) close(*to);
}

// What waits still goes.
void Outbox::close(To& to) noexcept {
  set_gate(to);
  to.notes.close(to.rank, teller_);
  if (to.queue.empty()) return;
  for (Entry* entry = &to.queue.front(); entry != nullptr; entry = entry->next.get()) {
    if (entry->note.kind != Note::Kind::promise) continue;
    to.notes.unexpect();
    teller_.end(to.rank, std::exchange(entry->note, Note{}), PH_ERR_DEPARTED);
  }
}

}  // namespace photon::service::am
