#include "service/am/am_sender.hpp"

#include <cstdio>
#include <new>
#include <string>
#include <utility>

#include "base/finally.hpp"
#include "wire/status.hpp"

namespace photon::service::am {

namespace {

// What ph_last_error() says of a refusal.
class RefusalWords {
 public:
  RefusalWords(Rank from, const Refusal& what) noexcept {
    const unsigned rank = from;
    const unsigned id = what.id;
    if (what.status == PH_ERR_NOT_FOUND)
      write(
          "am_send: rank %u has no handler for the active message %u; register it before a barrier",
          rank, id);
    else if (what.status == PH_ERR_DEPARTED)
      write("am_send: rank %u left before the handler of the active message %u had run", rank, id);
    else
      write("am_send: the active message %2$u ended with an error of its handlers at rank %1$u",
            rank, id);
  }
  const char* text() const noexcept { return text_; }

 private:
  void write(const char* format, unsigned rank, unsigned id) noexcept {
    std::snprintf(text_, sizeof text_, format, rank, id);
  }
  char text_[120] = {};
};

}  // namespace

Sender::Sender(Port& port, Gates& gates)
    : port_(port),
      gates_(gates),
      gate_of_(gates.data()),
      ranks_(port.size()),
      outbox_(port, gates),
      replies_(port, gates, outbox_.budget()),
      aggregates_(port, gates, outbox_),
      prepared_(port) {}

// ---- what is sent

ph_status Sender::send_small(Rank to, std::uint32_t id, ph_const_block bytes, Asker asker) {
  if (!is_small(id, bytes))
    return port_.fail(PH_ERR_ARGUMENT, to,
                      "am_send_small of message " + std::to_string(id) + ", " +
                          std::to_string(bytes.size_bytes) +
                          " bytes: the id may be up to 65535, the bytes up to 48, and not null");
  To* const of = to < ranks_ ? outbox_.find(to) : nullptr;
  if (of != nullptr && outbox_.is_full(*of)) return queue_line(*of, id, bytes, asker);
  Checked what;
  what.draft.head.word.id = static_cast<std::uint16_t>(id);
  what.draft.payload = {&bytes, 1};
  what.draft.payload_bytes = bytes.size_bytes;
  what.end.rank = to;
  what.end.flags = PH_NO_LCE;
  return post(what, asker);
}

// What a flood of them comes to: a copy in its place, and nothing else.
ph_status Sender::queue_line(To& to, std::uint32_t id, ph_const_block bytes, Asker asker) {
  if (const ph_status status = outbox_.may_queue(to, asker); status != PH_OK) return status;
  std::unique_ptr<Entry> entry = outbox_.pool().take();
  entry->head.word.id = static_cast<std::uint16_t>(id);
  entry->size_bytes = bytes.size_bytes;
  copy_into_line(entry->line.data(), bytes.data, bytes.size_bytes);
  to.counts.slot_stalls += !gate_of_[to.rank].has_slot(gates_.slots());
  ++to.counts.queued;
  outbox_.queue(to, std::move(entry), asker);
  return PH_OK;
}

// What would be refused, or would have to wait, is left to send().
Written Sender::send_now(Rank to, const ph_am_args& args) noexcept {
  if (to >= ranks_ || !is_simple(args)) return Written::no;
  const std::uint64_t bytes = args.payload_bytes;
  if ((args.flags & PH_AM_MAY_WAIT) != 0) {
    To* const of = outbox_.find(to);
    const bool is_in = of != nullptr && aggregates_.collect_now(*of, args);
    return is_in ? Written::done : Written::no;
  }
  if (bytes <= PH_AM_SMALL_BYTES) return send_now(to, args.id, {args.payload, bytes});
  Gate& gate = gate_of_[to];
  if (gate.sent >= gate.until || bytes <= record_max(port_, to) ||
      bytes > port_.config().am_carried_max)
    return Written::no;
  Word word = word_of(args.id, gate);
  word.op = Op::body;
  const Written said = port_.say_chunk_now(to, {encode(word), bytes},
                                           {static_cast<const std::byte*>(args.payload), bytes});
  if (said == Written::no) return said;
  gate.told = gate.handled;
  ++gate.sent;
  ++outbox_.find(to)->counts.chunks;  // whose gate is open was sent to before
  return said;
}

ph_status Sender::send(Rank to, const ph_am_args& args, Asker asker) {
  Checked what;
  if (const ph_status status = what.check(port_, to, args, asker); status != PH_OK) return status;
  const bool is_carried = what.draft.payload_bytes <= port_.config().am_carried_max;
  return is_carried ? post(what, asker) : offer(what, asker);
}

// What is made here is undone unless the message was accepted.
struct Sender::Attempt {
  Attempt(Sender& of, To& at, Checked& with) noexcept
      : sender(of), to(at), what(with), request(with.end.request) {
    if (request != nullptr) before = *request;
  }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;
  ~Attempt() {
    if (is_accepted) return;
    if (is_expected) to.notes.unexpect();
    if (promise == 0) return;
    sender.port_.renounce(promise);
    if (request != nullptr) *request = before;
  }
  // What its user is told, and what is to be noted of it. PH_AGAIN: no completion is left.
  ph_status promise_end(Asker asker) {
    const bool has_note =
        what.is_delivered || (what.end.local.size_bytes != 0 && !what.is_collected);
    if (has_note) to.notes.expect();
    is_expected = has_note;
    if ((what.end.flags & PH_NO_LCE) != 0) return PH_OK;
    if (what.is_delivered && asker != Asker::user && !sender.outbox_.budget().has_room(asker))
      return sender.outbox_.may_queue(to, asker);
    promise = sender.port_.promise(what.end);
    if (promise != 0) return PH_OK;
    return asker == Asker::user ? PH_AGAIN : PH_ERR_MEMORY;
  }
  // It is accepted, and copied: from now on the note tells of it.
  Note accept() noexcept {
    is_accepted = true;
    Note note;
    if (what.is_delivered)
      note = sender.outbox_.teller().promised(promise, what.end.is_beyond);
    else if (is_expected)
      note = {Note::Kind::id, false, first_bytes_of(what.end.local)};
    if (promise == 0) return note;
    if (!what.is_delivered) {
      sender.port_.complete(promise, PH_OK);
      sender.port_.release(promise);
    }
    if (request != nullptr) sender.port_.hand_over(promise, request);
    return note;
  }

  Sender& sender;
  To& to;
  Checked& what;
  ph_request* request;
  ph_request before = PH_REQUEST_NONE;
  std::uint64_t promise = 0;
  bool is_expected = false;
  bool is_accepted = false;
};

ph_status Sender::post(Checked& what, Asker asker) {
  const Rank rank = what.end.rank;
  if (is_closing_) return port_.fail(PH_ERR_STATE, rank, "am_send: the lane is being closed");
  // Who was met is, until it is lost.
  To* const met = rank < ranks_ ? outbox_.find(rank) : nullptr;
  if (met == nullptr || met->lost != PH_OK)
    if (const ph_status status = port_.contact(rank); status != PH_OK) return status;
  To& to = met != nullptr ? *met : outbox_.use(rank);
  if (aggregates_.may_collect(what)) return collect(to, what, asker);
  aggregates_.send(to);
  if (to.lost != PH_OK) return port_.contact(rank);  // it has the words
  Draft& draft = what.draft;
  const bool goes = outbox_.may_go(to);
  if (const ph_status status = may_send(to, what, asker, goes); status != PH_OK) return status;
  choose_way(draft, record_max(port_, rank));
  Attempt attempt(*this, to, what);
  if (const ph_status status = attempt.promise_end(asker); status != PH_OK) return status;
  const Submitted submitted{to, draft, goes, asker};
  std::unique_ptr<Entry> copy;
  if (const ph_status status = say_or_copy(submitted, copy); status != PH_OK) return status;
  settle(submitted, attempt.accept(), std::move(copy));
  return PH_OK;
}

// It goes; or it has to wait, and there is a copy.
ph_status Sender::say_or_copy(const Submitted& what, std::unique_ptr<Entry>& copy) {
  auto& [to, draft, goes, asker] = what;
  const Gate& gate = gate_of_[to.rank];
  ph_status status = PH_AGAIN;
  if (goes) {
    draft.head.word.handled = static_cast<std::uint16_t>(gate.handled);
    status = say_draft(port_, to.rank, draft);
  }
  if (status != PH_AGAIN) return status;
  to.counts.slot_stalls += !gate.has_slot(gates_.slots());
  if (status = outbox_.may_queue(to, asker); status == PH_OK) copy = outbox_.pool().make(draft);
  return status;
}

// Behind that: it is accepted.
void Sender::settle(const Submitted& what, const Note& note, std::unique_ptr<Entry> copy) noexcept {
  auto& [to, draft, goes, asker] = what;
  if (draft.head.word.has(kWantsReply)) replies_.want(to.rank);
  if (copy == nullptr) {
    outbox_.has_gone(to, draft.head, note);
    return outbox_.set_gate(to);
  }
  copy->note = note;
  ++to.counts.queued;
  outbox_.queue(to, std::move(copy), asker);
  if (goes && draft.head.way == Way::body) outbox_.move(to);  // it needs no room now
}

// Whether the reply that it wants finds room, and it itself if it cannot go.
ph_status Sender::may_send(To& to, const Checked& what, Asker asker, bool goes) {
  if (what.draft.head.word.has(kWantsReply))
    if (const ph_status status = replies_.may_want(to.rank, asker); status != PH_OK) return status;
  return goes ? PH_OK : outbox_.may_queue(to, asker);
}

ph_status Sender::collect(To& to, Checked& what, Asker asker) {
  what.is_collected = true;
  const ph_status room = aggregates_.prepare(to, what.draft, asker);
  if (to.lost != PH_OK) return port_.contact(to.rank);
  if (room != PH_OK) return room;
  Attempt attempt(*this, to, what);
  if (const ph_status status = attempt.promise_end(asker); status != PH_OK) return status;
  aggregates_.collect(to, what.draft, what.end.local.size_bytes != 0);
  static_cast<void>(attempt.accept());
  return PH_OK;
}

// ---- what the target tells

bool Sender::handled(Rank from, std::uint64_t count) {
  Gate& gate = gate_of_[from];
  if (!gate.learn(count)) return false;
  To* const to = outbox_.find(from);
  if (to == nullptr) return true;
  if (!to->notes.empty()) to->notes.settle(from, count, outbox_.teller());
  if (to->queue.empty()) [[likely]]
    outbox_.set_gate(*to);
  else
    outbox_.move(*to);
  return true;
}

// It must come before the count that covers it, and in the order of the numbers.
bool Sender::refused(Rank from, const Refusal& what) {
  const Gate& gate = gate_of_[from];
  To* const to = outbox_.find(from);
  const bool is_here = what.number >= gate.known && what.number < gate.sent;
  if (to == nullptr || !is_here || what.number < to->refused_to) return false;
  if (!wire::is_error(static_cast<std::uint64_t>(std::int64_t{what.status}))) return false;
  const Note noted = to->notes.find(what.number);
  if (noted.kind == Note::Kind::pull) return false;
  const bool is_aggregate = noted.kind == Note::Kind::aggregate;
  const std::uint64_t most_items = is_aggregate ? noted.value : 0;
  if (what.items > most_items || is_aggregate != (what.items != 0)) return false;
  to->refused_to = what.number + 1;
  const Note note = is_aggregate ? Note{} : to->notes.take(what.number);
  outbox_.teller().end(from, note, what.status, RefusalWords(from, what).text());
  return true;
}

bool Sender::unreplied(Rank from, std::uint32_t count) {
  if (count == 0 || count > gate_of_[from].wanted) return false;
  replies_.unwant(from, count);
  return true;
}

void Sender::note_reply_handled(Rank from) noexcept {
  if (gate_of_[from].wanted != 0) replies_.unwant(from, 1);
}

// ---- of the service

void Sender::on_local(Rank to, std::uint64_t token, ph_status status) {
  outbox_.on_local(to, token, status);
}

void Sender::on_room(Rank to) {
  if (To* const of = outbox_.find(to); of != nullptr) outbox_.move(*of);
}

void Sender::on_lost(Rank rank, ph_status why) noexcept {
  replies_.unwant(rank, gate_of_[rank].wanted);
  outbox_.offers().on_lost(rank, why);
  To* const to = outbox_.find(rank);
  if (to == nullptr) return;
  outbox_.lose(*to, why);
  aggregates_.lose(*to, why);
}

bool Sender::turn() {
  aggregates_.send_due();
  return outbox_.turn();
}

void Sender::before_sleep() { aggregates_.send_all(); }

void Sender::before_flush(Rank rank) {
  if (rank == PH_ANY_RANK) return aggregates_.send_all();
  To* const to = rank < ranks_ ? outbox_.find(rank) : nullptr;
  if (to != nullptr) aggregates_.send(*to);
}

std::int64_t Sender::next_turn_ns() const noexcept { return aggregates_.due_ns(); }

void Sender::close() {
  prepared_.close_all();
  aggregates_.send_all();
  is_closing_ = true;
  outbox_.close();
}

bool Sender::is_idle() const noexcept {
  return outbox_.queued() == 0 && outbox_.lent() == 0 && aggregates_.open() == 0 &&
         outbox_.offers().is_idle();
}

std::uint64_t Sender::held() const noexcept {
  return outbox_.queued() + outbox_.lent() + aggregates_.open() + prepared_.held() +
         outbox_.teller().promises() + outbox_.offers().held();
}

SentCounts Sender::counts(Rank to) const noexcept {
  SentCounts all;
  for (Rank rank = 0; rank < ranks_; ++rank) {
    const To* const of = rank == to || to == PH_ANY_RANK ? outbox_.find(rank) : nullptr;
    if (of == nullptr) continue;
    const SentCounts& one = of->counts;
    const std::uint64_t others = one.records + one.chunks + one.pulls + one.aggregates;
    all.lines += gate_of_[rank].sent - others;
    for (const auto count : {&SentCounts::records, &SentCounts::chunks, &SentCounts::pulls,
                             &SentCounts::aggregates, &SentCounts::collected, &SentCounts::replies,
                             &SentCounts::queued, &SentCounts::slot_stalls})
      all.*count += one.*count;
  }
  return all;
}

std::string Sender::ways(Rank to) const {
  if (to >= ranks_ || outbox_.find(to) == nullptr) return {};
  return "; active messages: to 48 bytes lines, to " + std::to_string(record_max(port_, to)) +
         " records, to " + std::to_string(port_.config().am_carried_max) +
         " the bulk ring, above read by the target";
}

}  // namespace photon::service::am
