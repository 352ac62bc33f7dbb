#include "simtest/coll_verify.hpp"

#include <algorithm>
#include <utility>

namespace photon::simtest::coll {

using schedule::Action;
using schedule::Phase;

std::string Machine::run(Timing timing, std::uint64_t seed) {
  timing_ = timing;
  random_.seed(seed);
  prepare();
  while (fault_.empty()) {
    if (!queue_.empty()) {
      const std::uint32_t member = queue_.front();
      queue_.pop_front();
      states_[member].is_queued = false;
      advance(member);
    } else if (!waiting_.empty()) {
      take_one_that_waits();
    } else {
      break;
    }
  }
  if (fault_.empty()) check_end();
  return fault_;
}

void Machine::prepare() {
  const auto size = static_cast<std::uint32_t>(members_.size());
  values_.clear();
  messages_.clear();
  clocks_.clear(size);
  queue_.clear();
  waiting_.clear();
  fault_.clear();
  steps_ = 0;
  states_.assign(size, State{});
  std::vector<std::uint32_t> order(size);
  for (std::uint32_t i = 0; i < size; ++i) {
    State& state = states_[i];
    Member& member = members_[i];
    order[i] = i;
    state.temp.assign(schedule_.temp_of(member.call), kUnwritten);
    state.phases = schedule_.phases_of(member.call);
    const std::array values = {&member.in, &member.out, &state.temp};
    for (std::size_t space = 0; space < values.size(); ++space)
      state.spaces[space] = {values[space], std::vector<std::uint32_t>(values[space]->size())};
  }
  if (timing_ == Timing::drawn) std::shuffle(order.begin(), order.end(), random_);
  for (const std::uint32_t member : order) wake(member);
}

void Machine::wake(std::uint32_t member) {
  if (std::exchange(states_[member].is_queued, true)) return;
  queue_.push_back(member);
}

// Begins all that may begin.
void Machine::advance(std::uint32_t member) {
  State& state = states_[member];
  while (fault_.empty() && state.index < state.phases) {
    if (!state.is_begun && !begin_phase(member)) return;
    while (state.next < state.phase.count)
      if (!begin_step(member)) return;
    if (state.coming > 0) return;
    end_phase(member);
  }
}

bool Machine::begin_phase(std::uint32_t member) {
  State& state = states_[member];
  schedule_.phase_at(members_[member].call, state.index, state.phase);
  if (state.phase.after_sends) {
    if (state.sending > 0) return false;
    state.links_closed += static_cast<std::uint32_t>(state.links.size());
    state.links.clear();
  }
  state.is_begun = true;
  state.next = 0;
  ++state.point;
  check_phase(member);
  return fault_.empty();
}

void Machine::end_phase(std::uint32_t member) {
  State& state = states_[member];
  for (const Clocks::Stamp& stamp : state.learnt) clocks_.learn(member, stamp);
  state.learnt.clear();
  state.is_begun = false;
  ++state.index;
}

// False: it has to wait, or something is wrong.
bool Machine::begin_step(std::uint32_t member) {
  State& state = states_[member];
  const Step& step = state.phase.steps[state.next];
  const bool computes = step.action == Action::copy || step.action == Action::fold;
  if (computes && state.coming > 0) return false;
  step_ = state.next++;
  ++steps_;
  if (step.action == Action::send) begin_send(member, step);
  if (step.action == Action::receive) begin_receive(member, step);
  if (computes) compute(member, step);
  return fault_.empty();
}

void Machine::begin_send(std::uint32_t member, const Step& step) {
  State& state = states_[member];
  const std::uint32_t index = messages_.find(member, step.peer, step.tag);
  Message& message = messages_.at(index);
  if (std::exchange(message.is_sent, true)) return fault(member, "sends this message twice");
  message.from = step.from;
  message.sent_phase = static_cast<std::uint32_t>(state.index);
  message.stamp = clocks_.stamp(member, state.point);
  ++state.sending;
  // Nothing writes `in`: see check_bounds().
  const bool is_watched = step.from.space != schedule::Space::in;
  for (std::uint64_t i = 0; is_watched && i < step.from.count; ++i) {
    Space& space = space_of(member, step.from.space);
    std::uint32_t& reader = space.readers[step.from.first + i];
    state.links.push_back({index, reader});
    reader = state.links_closed + static_cast<std::uint32_t>(state.links.size());
  }
  if (!message.is_awaited) return;
  timing_ == Timing::early ? take(index) : waiting_.push_back(index);
}

void Machine::begin_receive(std::uint32_t member, const Step& step) {
  State& state = states_[member];
  const std::uint32_t index = messages_.find(step.peer, member, step.tag);
  Message& message = messages_.at(index);
  if (std::exchange(message.is_awaited, true)) return fault(member, "receives this message twice");
  message.to = step.to;
  message.block = step.block;
  // Either the copy or fold behind it, or the next phase: points follow one another.
  message.received_by = state.point + 1;
  ++state.coming;
  if (!message.is_sent) return;
  timing_ == Timing::early ? take(index) : waiting_.push_back(index);
}

// The end of a copy or fold: by then all receives in front of it have come.
void Machine::pass_point(std::uint32_t member) {
  State& state = states_[member];
  for (const Clocks::Stamp& stamp : state.learnt) clocks_.learn(member, stamp);
  state.learnt.clear();
  ++state.point;
}

void Machine::compute(std::uint32_t member, const Step& step) {
  // Receives in front are over, and what they have told is known when it writes.
  pass_point(member);
  check_not_sent(member, step.to);
  if (!fault_.empty() || step.to.count == 0) return;
  const Value* from = space_of(member, step.from.space).values->data() + step.from.first;
  Value* to = space_of(member, step.to.space).values->data() + step.to.first;
  for (std::uint64_t i = 0; i < step.to.count; ++i) {
    if (from[i] == kUnwritten)
      return fault(member, "reads element " + std::to_string(step.from.first + i) +
                               ", which was never written");
    if (step.action == Action::copy) {
      to[i] = from[i];
      continue;
    }
    if (to[i] == kUnwritten)
      return fault(member, "folds into element " + std::to_string(step.to.first + i) +
                               ", which was never written");
    const Value left = step.from_first ? from[i] : to[i];
    const Value right = step.from_first ? to[i] : from[i];
    to[i] = values_.fold(left, right);
    if (to[i] == kUnwritten)
      return fault(member, "folds " + values_.text_of(left) + " with another element, " +
                               values_.text_of(right));
  }
}

void Machine::take_one_that_waits() {
  std::size_t chosen = waiting_.size() - 1;  // what began last, so that others wait long
  if (timing_ == Timing::drawn) chosen = random_() % waiting_.size();
  const std::uint32_t message = waiting_[chosen];
  waiting_[chosen] = waiting_.back();
  waiting_.pop_back();
  take(message);
}

void Machine::take(std::uint32_t index) {
  Message& message = messages_.at(index);
  step_ = kNoStep;
  const bool has_room = has_room_ && message.block != schedule::kNoBlock;
  if (message.from.count > message.to.count || (message.from.count < message.to.count && !has_room))
    return fault(message.receiver, "receives " + std::to_string(message.to.count) +
                                       " elements from member " + std::to_string(message.sender) +
                                       " with tag " + std::to_string(message.tag) +
                                       ", which sends " + std::to_string(message.from.count));
  if (message.from.count > 0) put_bytes(message, message.from.count);
  message.is_taken = true;
  states_[message.receiver].learnt.push_back(message.stamp);
  --states_[message.receiver].coming;
  --states_[message.sender].sending;
  wake(message.receiver);
  wake(message.sender);
}

void Machine::put_bytes(const Message& message, std::uint64_t count) {
  const Value* from =
      space_of(message.sender, message.from.space).values->data() + message.from.first;
  Value* to = space_of(message.receiver, message.to.space).values->data() + message.to.first;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (from[i] == kUnwritten)
      return fault_of(message.sender, message.sent_phase,
                      " sends element " + std::to_string(message.from.first + i) + " of " +
                          text_of(message.from) + " to member " + std::to_string(message.receiver) +
                          " with tag " + std::to_string(message.tag) +
                          ", and it was never written");
    if (has_room_ && message.block != schedule::kNoBlock &&
        !(Values::is_input(from[i]) && Values::member_of(from[i]) == message.block))
      return fault(message.receiver, "receives " + values_.text_of(from[i]) +
                                         " as the block of member " +
                                         std::to_string(message.block));
    to[i] = from[i];
  }
}

}  // namespace photon::simtest::coll
