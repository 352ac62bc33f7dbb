#include "service/am/am_answers.hpp"

#include <array>
#include <new>

namespace photon::service::am {

namespace {

constexpr std::uint64_t answer_word(Op op, std::uint16_t id = 0) noexcept {
  Word word;
  word.op = op;
  word.id = id;
  return encode(word);
}

std::uint64_t status_word(ph_status status) noexcept {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(status));
}

}  // namespace

// To a rank that is lost nothing is owed.
template <class... Words>
void Answers::say_surely(Rank to, Words... words) {
  ph_status status = port_.say_words(to, words...);
  if (status == PH_AGAIN) {
    const std::array<std::uint64_t, sizeof...(Words)> all{words...};
    Saying what;
    what.to = to;
    what.header = std::as_bytes(std::span(all));
    what.must_go = true;
    status = port_.say(what);
  }
  if (status == PH_ERR_MEMORY) throw std::bad_alloc();
}

void Answers::say_refused(Rank to, std::uint16_t id, std::uint64_t number, ph_status status,
                          std::uint64_t items) {
  if (port_.state(to) != PH_OK) return;
  say_surely(to, answer_word(Op::refused, id), number, status_word(status), items);
  ++owed_[to].refused;
}

void Answers::say_read(Rank to, std::uint64_t token) {
  if (port_.state(to) == PH_OK) say_surely(to, answer_word(Op::read), token);
}

void Answers::say_done(Rank to, std::uint64_t token, ph_status status) {
  if (port_.state(to) == PH_OK) say_surely(to, answer_word(Op::done), token, status_word(status));
}

void Answers::touch(Rank rank) noexcept {
  if (owed_[rank].is_touched) return;
  owed_[rank].is_touched = true;
  touched_.push_back(rank);  // there is room for each rank once
}

void Answers::want_credit(Rank of) noexcept {
  owed_[of].wants_credit = true;
  touch(of);
}

void Answers::note_reply_over(Rank from, bool was_replied) noexcept {
  --gates_.of(from).owed;
  if (was_replied) return;
  ++owed_[from].unreplied;
  touch(from);
}

void Answers::say_all_due() {
  while (!touched_.empty()) {
    const Rank rank = touched_.back();
    Owed& owed = owed_[rank];
    if (port_.state(rank) == PH_OK)
      say_due(rank, owed);
    else
      owed.unreplied = 0;
    owed.is_touched = false;
    touched_.pop_back();
  }
}

void Answers::say_due(Rank to, Owed& owed) {
  if (owed.unreplied != 0) {
    say_surely(to, answer_word(Op::unreplied), std::uint64_t{owed.unreplied});
    owed.unreplied = 0;
  }
  if (owed.wants_credit) say_credit(to, owed);
}

// What is said tells all that was handled by now; a message of ours may have told it meanwhile.
void Answers::say_credit(Rank to, Owed& owed) {
  Gate& gate = gates_.of(to);
  owed.wants_credit = false;
  ph_status status = PH_OK;
  if (gate.told != gate.handled)
    status = port_.say_words(to, answer_word(Op::credit), gate.handled);
  if (status == PH_ERR_MEMORY) {
    owed.wants_credit = true;
    throw std::bad_alloc();
  }
  if (status == PH_OK) gate.told = gate.handled;
  set_kept(owed, status == PH_AGAIN);
}

void Answers::set_kept(Owed& owed, bool is) noexcept {
  if (owed.keeps_credit == is) return;
  owed.keeps_credit = is;
  kept_ += is ? 1 : std::uint64_t(-1);
}

void Answers::on_room(Rank to) noexcept {
  if (!owed_[to].keeps_credit) return;
  try {
    say_credit(to, owed_[to]);
  } catch (const std::bad_alloc&) {
    touch(to);
    port_.wants_turn();
  }
}

void Answers::on_lost(Rank rank) noexcept {
  Owed& owed = owed_[rank];
  set_kept(owed, false);
  owed.wants_credit = false;
  owed.unreplied = 0;
}

}  // namespace photon::service::am
