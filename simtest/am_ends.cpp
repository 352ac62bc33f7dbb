// How active messages end: what their senders are told, what leaving, dying and lost links explain,
// and what is still to come.
#include <algorithm>

#include "simtest/am_model.hpp"
#include "simtest/pattern.hpp"

namespace photon::simtest {

bool AmModel::may_end_with(const AmMessage& one, ph_status status) {
  return oracle_.may_be_gone({one.to, one.lane}, status) ||
         oracle_.may_be_lost(one.from, one.to, status);
}

// Whether its sender may be told that it has ended so.
bool AmModel::may_fail_with(const AmMessage& one, ph_status status) {
  if (one.is_handled && one.result == status) return true;
  // Its completion handler has said so, and is told no last part by a rank that leaves.
  if (one.landed != nullptr && status != PH_OK && one.landed->failure() == status) return true;
  if (one.may_refuse && !one.has_begun && status == PH_ERR_NOT_FOUND) return true;
  return may_end_with(one, status);
}

bool AmModel::completed(const Endpoint& at, const ph_completion& completion) {
  AmMessage* const found = completion.id_size_bytes == 8 ? named(completion.id) : nullptr;
  if (found == nullptr) return false;
  if (oracle_.failed()) return true;
  AmMessage& one = *found;
  const std::string seen = "yields a " + text_of(completion);
  oracle_.note(at, "completion of message " + std::to_string(one.number) + " = " +
                       std::to_string(completion.status));
  const bool is_error = completion.status != PH_OK;
  const bool is_delivered = one.has(PH_DELIVERED) && !one.has(PH_NO_LCE);
  if (completion.kind != PH_LOCAL || !one.has_id || !one.accepted || one.from != at.rank ||
      one.lane != at.lane || one.to != completion.peer)
    wrong("unexpected", one, seen + " at rank " + std::to_string(at.rank));
  else if (is_error ? one.late_seen : one.local_seen)
    wrong("twice", one, seen + ", after another one");
  else if (!is_error && (one.has(PH_NO_LCE) || one.late_seen))
    wrong("unexpected", one, seen + " in spite of its flags, or after an error");
  else if (!is_error && is_delivered && (!one.is_handled || one.result != PH_OK))
    wrong("status", one, seen + ", but its handler has not ended so");
  else if (is_error && is_delivered && one.local_seen)
    wrong("twice", one, seen + ", after its handler was said to have ended");
  else if (is_error && !may_fail_with(one, completion.status))
    wrong("status", one, seen);
  else if (!is_error && one.is_pulled && !one.has_begun)
    wrong("early", one, seen + ", but nobody can have read its payload");
  one.local_seen |= !is_error || is_delivered || one.is_pulled;
  if (one.is_pulled) Pattern(Purpose::junk, one.value()).fill(one.payload);
  one.late_seen |= is_error;
  one.is_refused |= is_error && completion.status == PH_ERR_NOT_FOUND && !one.has_begun;
  return true;
}

// Errors that name no message: one for each that has no local id, or may have gone with others.
std::uint32_t AmModel::count_nameless(const Endpoint& at, const ph_completion& completion) {
  std::uint32_t able = 0;
  for (const AmMessage& one : all_) {
    if ((one.has_id && !one.may_collect()) || !one.accepted || one.from != at.rank ||
        one.lane != at.lane || one.to != completion.peer)
      continue;
    const bool is_with_others = one.may_collect() && may_end_with(one, completion.status);
    if (owed(one) == completion.status || is_with_others) ++able;
  }
  return able;
}

bool AmModel::takes_nameless(const Endpoint& at, const ph_completion& completion) {
  const std::uint32_t able = count_nameless(at, completion);
  std::uint32_t& told = nameless_[{at.rank, at.lane, completion.peer, completion.status}];
  if (told >= able) return false;
  ++told;
  oracle_.note(at, "nameless error of a message = " + std::to_string(completion.status));
  return true;
}

// ---- leaving, dying

// A rank that dies may take with it what it had sent; a rank that leaves delivers it. Neither
// handles anything any more, nor is told.
void AmModel::gone(const Endpoint& end, bool is_dead) {
  state(end).gone = true;
  const auto is_of = [&](ph_rank rank, std::uint32_t lane) {
    return rank == end.rank && (end.lane == 0 || lane == end.lane);
  };
  for (AmMessage& one : all_) {
    if (is_of(one.from, one.lane)) one.from_gone = true;
    if (is_of(one.to, one.lane) || (is_dead && is_of(one.from, one.lane))) one.may_drop = true;
  }
}

void AmModel::link_lost(ph_rank a, ph_rank b) {
  for (AmMessage& one : all_)
    if ((one.from == a && one.to == b) || (one.from == b && one.to == a))
      one.may_drop = one.is_cut = true;
}

bool AmModel::explains(const Endpoint& end, ph_status status) {
  return std::any_of(all_.begin(), all_.end(), [&](const AmMessage& one) {
    if (one.from != end.rank || (end.lane != 0 && one.lane != end.lane)) return false;
    return one.accepted && !one.late_seen && may_fail_with(one, status);
  });
}

// What a lost link took with it somebody was told of.
void AmModel::finalized(ph_rank rank) {
  for (const AmMessage& one : all_) {
    if (one.from != rank || !one.accepted || !one.is_cut || one.has_begun || one.may_refuse)
      continue;
    if (one.late_seen) continue;
    if (!oracle_.was_told_since({rank, one.lane}, one.to, one.begun_at))
      return wrong("silent", one,
                   "was accepted and never handled: its link was lost, and nobody was told, not by "
                   "ph_finalize() either");
  }
}

// ---- what is still to come

// One that its handler has not begun, and may be refused, owes the word of that.
ph_status AmModel::owed(const AmMessage& one) const noexcept {
  if (one.is_handled) return one.result;
  return one.may_refuse && !one.has_begun ? PH_ERR_NOT_FOUND : PH_OK;
}

bool AmModel::lacks_word(const AmMessage& one) const noexcept {
  if (one.from_gone || !one.has_id) return false;
  if (!one.has(PH_NO_LCE) && !one.local_seen) return true;
  return owed(one) != PH_OK && !one.late_seen && !one.may_drop && !one.may_collect();
}

// The last part of a landing is told whatever becomes of its source.
bool AmModel::lacks_part(const AmMessage& one) const noexcept {
  if (one.landed == nullptr || !one.landed->is_told() || one.landed->is_over()) return false;
  return !states_[one.to * lanes_ + one.lane].gone && !states_[one.to * lanes_].gone;
}

const AmMessage* AmModel::first_pending() const {
  std::map<Nameless, std::uint32_t> missing;
  for (const AmMessage& one : all_) {
    if (!one.accepted) continue;
    if (lacks_part(one)) return &one;
    const ph_status error = owed(one);
    const bool is_over = one.is_handled || error != PH_OK || one.may_drop;
    if (!is_over || lacks_word(one)) return &one;
    if (one.has_id || error == PH_OK || one.may_drop || one.from_gone || one.may_collect())
      continue;
    const Nameless of{one.from, one.lane, one.to, error};
    const auto told = nameless_.find(of);
    if (++missing[of] > (told == nameless_.end() ? 0 : told->second)) return &one;
  }
  return nullptr;
}

void AmModel::report_pending() {
  if (const AmMessage* one = first_pending(); one != nullptr)
    wrong("lost", *one, one->is_handled ? "lacks a word for its sender" : "is not handled");
}

const AmMessage* AmModel::left_of(std::uint32_t lane, std::uint32_t quiesce) const {
  const auto left = std::find_if(all_.begin(), all_.end(), [&](const AmMessage& one) {
    if (!one.accepted || one.lane != lane || one.quiesces >= quiesce || one.is_handled)
      return false;
    return one.has_begun || (!one.may_refuse && !one.may_drop);
  });
  return left == all_.end() ? nullptr : &*left;
}

}  // namespace photon::simtest
