#include "service/am/am.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <string>

#include "wire/status.hpp"

namespace photon::service::am {

Am::Am(Port& port, std::uint32_t waves_wanted)
    : port_(port),
      gates_(port.size(), port.config().am_slots),
      answers_(port, gates_),
      pull_answers_(port, answers_),
      pulls_(port, gates_, pull_answers_),
      sender_(port, gates_),
      arriving_({port, gates_, inbox_, loans_, answers_, sender_, pulls_}),
      runner_({inbox_, loans_, table_, port.rank(), port.config().bulk_bytes / 8,
               std::max<std::size_t>(kLeastAtOnce, port.config().am_slots / 4)}),
      settling_({port, gates_, inbox_, loans_, runner_, arriving_, answers_, sender_, pulls_}),
      waves_(
          port, gates_, [this] { return is_settled(); }, waves_wanted) {}

// ---- for the user

ph_status Am::enroll(std::uint32_t id, ph_am_handler handler, void* user) {
  if (table_.add(id, handler, user)) return PH_OK;
  return port_.fail(
      PH_ERR_STATE, PH_ANY_RANK,
      "am_register: the id " + std::to_string(id) + " has a handler; unregister it first");
}

ph_status Am::dismiss(std::uint32_t id, const HandlerNode*& node) {
  if (port_.is_in_run())
    return port_.fail(PH_ERR_STATE, PH_ANY_RANK,
                      "am_unregister: called from a handler of this lane, which it would wait for");
  node = table_.retire(id, runs_begun_);
  if (node != nullptr) return PH_OK;
  return port_.fail(PH_ERR_NOT_FOUND, PH_ANY_RANK,
                    "am_unregister: the id " + std::to_string(id) + " has no handler");
}

ph_status Am::reply(const ph_am_message* message, const ph_am_args& args) {
  Asked* const asked = port_.is_in_run() ? runner_.shown_as(message) : nullptr;
  if (asked == nullptr)
    return no_reply(PH_ANY_RANK, "am_reply: called outside the handlers of the message");
  if (!asked->word.has(kWantsReply))
    return no_reply(asked->from, "am_reply: the message wants no reply");
  if (asked->was_replied) return no_reply(asked->from, "am_reply: the message was replied to");
  if ((args.flags & PH_AM_REPLY) != 0)
    return port_.fail(PH_ERR_ARGUMENT, asked->from, "am_reply: a reply cannot want a reply");
  const ph_status status = sender_.send(asked->from, args, Asker::reply);
  if (status == PH_OK) asked->was_replied = true;
  return status;
}

// ---- what comes

// The ring is looked at while a chunk is shown: its room is given back in a turn.
Verdict Am::on_chunk(const Chunk& chunk) {
  if (!loans_.empty() && loans_.has_returned()) port_.wants_turn();
  return arriving_.chunk(chunk);
}

bool Am::on_message(const Message& message) {
  loans_.give_back(port_);
  if (message.header.size() < sizeof(std::uint64_t)) return false;
  const std::uint64_t bits = word_at(message.header, 0);
  const auto rest = message.header.subspan(sizeof(std::uint64_t));
  if (is_plain(bits, Op::line) && message.payload.empty()) [[likely]]
    return arriving_.plain_line(message.from, bits, rest);
  const auto word = decode(bits);
  if (!word) return false;
  if (word->op == Op::record || word->op == Op::pull || word->op == Op::aggregate)
    return arriving_.record(message.from, *word, rest, message.payload);
  if (!message.payload.empty()) return false;
  if (word->op == Op::line) return arriving_.line(message.from, *word, rest);
  if (is_message(word->op) || !is_told(message.from, *word, rest)) return false;
  waves_.look();  // credit may have emptied the outbox
  return true;
}

// What a rank tells of our messages.
bool Am::is_told(Rank from, const Word& word, std::span<const std::byte> rest) {
  if (word.op >= Op::up) return waves_.on_message(from, word.op, rest);
  const bool is_one = rest.size() == sizeof(std::uint64_t);
  switch (word.op) {
    case Op::credit: return is_one && sender_.handled(from, word_at(rest, 0));
    case Op::refused: return is_refused(from, word, rest);
    case Op::unreplied: return is_one && is_unreplied(from, word_at(rest, 0));
    case Op::read: return is_one && sender_.read(from, word_at(rest, 0));
    case Op::done:
      return rest.size() == 2 * sizeof(std::uint64_t) &&
             sender_.done(from, word_at(rest, 0), word_at(rest, 8));
    default: return false;
  }
}

bool Am::is_refused(Rank from, const Word& word, std::span<const std::byte> rest) {
  if (rest.size() != 3 * sizeof(std::uint64_t)) return false;
  const std::uint64_t status = word_at(rest, 8);
  const std::uint64_t items = word_at(rest, 16);
  if (!wire::is_error(status) || items > std::numeric_limits<std::uint32_t>::max()) return false;
  return sender_.refused(from, {word_at(rest, 0), wire::to_status(status),
                                static_cast<std::uint32_t>(items), word.id});
}

// Of replies that we wait for some may have come, and not been handled.
bool Am::is_unreplied(Rank from, std::uint64_t count) {
  if (count == 0 || count > gates_.of(from).wanted - arriving_.replies_here(from)) return false;
  return sender_.unreplied(from, static_cast<std::uint32_t>(count));
}

void Am::on_local(Rank to, std::uint64_t token, ph_status status) {
  if ((token & Sender::kToken) != 0) sender_.on_local(to, token, status);
  pulls_.on_local(to, token, status);  // there is room in the quota, whosever it was
  waves_.look();
}

void Am::on_room(Rank to) {
  answers_.on_room(to);
  sender_.on_room(to);
  waves_.on_room(to);
}

void Am::on_lost(Rank rank, ph_status why) noexcept {
  arriving_.on_lost(rank);
  answers_.on_lost(rank);
  pulls_.on_lost(rank, why);
  sender_.on_lost(rank, why);
  waves_.on_lost(rank, why);
  waves_.look_later();  // what waited for that rank is over
}

// ---- turns, handlers

bool Am::turn() {
  loans_.give_back(port_);
  answers_.end_batch();  // what found no memory
  const bool wants_more = sender_.turn();
  waves_.turn();
  return wants_more;
}

// What the last run has left is settled first, where it found no memory.
void Am::collect() {
  settling_.settle();
  inbox_.swap();
  if (pulls_.has_due()) [[unlikely]]
    runner_.tell(pulls_.collect());
  ++runs_begun_;
  runs_beside_ += port_.is_beside_caller() ? 1 : 0;
}

void Am::ran() noexcept {
  handlers_run_ = runner_.calls();
  if (table_.retired() != 0) port_.wake();  // somebody waits for the end of a run
  if (runner_.has_told()) [[unlikely]]
    pulls_.settle(runner_.take_told());
  try {
    settling_.settle();
    runs_over_ = runs_begun_;        // what has begun to be read counts its handler
  } catch (const std::bad_alloc&) {  // collect() goes on with it
    port_.wants_run();
    return;
  }
  // What came while something was left of the last batch had its run, which did not take it.
  if (!inbox_.empty() || pulls_.has_due()) port_.wants_run();
  waves_.look();
}

bool Am::take_alone(Rank from, const AloneChunk& chunk) noexcept {
  if (!is_plain(chunk.header[0], Op::body) || chunk.header[1] != chunk.bytes.size() ||
      chunk.bytes.size() > port_.config().am_carried_max)
    return false;
  const Word word = plain_word(chunk.header[0]);
  HandlerNode* const node = may_run_alone(from, word);
  if (node == nullptr) return false;
  runner_.show_alone({node, from, word, gates_.of(from).arrived++}, chunk.bytes.data(),
                     chunk.bytes.size());
  arriving_.note_lent(from);
  ++runs_begun_;
  return true;
}

// What is not over with it: it stands among those that have run, and is settled as they are.
void Am::settle_alone() noexcept {
  const Runner::Alone& alone = runner_.alone();
  try {
    if (alone.status != PH_OK) {
      Arrived& entry = inbox_.add_ran(alone.from, alone.word);
      entry.number = alone.number;
      entry.status = alone.status;
      runner_.note_done();
    }
    settling_.settle();
  } catch (const std::bad_alloc&) {
    port_.wants_run();
  }
  if (!inbox_.empty()) port_.wants_run();
}

// ---- leaving

void Am::close() {
  if (is_closed_) return;
  is_closed_ = true;
  arriving_.close();
  settling_.drop_all();
  pulls_.close();
  sender_.close();
  waves_.close();
}

bool Am::is_idle() const noexcept {
  return inbox_.empty() && answers_.is_idle() && sender_.is_idle() && pulls_.is_idle() &&
         waves_.is_idle();
}

std::uint64_t Am::counter(Rank rank, std::size_t place) const noexcept {
  Counts counts{{sender_.counts(rank)}};
  for (Rank from = 0; from < port_.size(); ++from) {
    if (rank != PH_ANY_RANK && rank != from) continue;
    counts.handled += gates_.of(from).handled;
    counts.refused += answers_.refused(from);
    counts.lent += arriving_.lent(from);
    counts.copied += arriving_.copied(from);
    counts.pulled_bytes += pulls_.bytes_of(from);
    counts.parts += pulls_.parts_of(from);
  }
  counts.runs = runs_over_;
  counts.runs_beside = runs_beside_;
  counts.queued_bytes = sender_.budget().used();
  counts.most_queued_bytes = sender_.budget().peak();
  counts.waves = waves_.waves();
  return counts.*kCounted[place].value;
}

std::uint64_t Am::held() const noexcept {
  return inbox_.size() + table_.retired() + sender_.held() + pulls_.held() + waves_.held();
}

}  // namespace photon::service::am
