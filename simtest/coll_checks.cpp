// The rules that the machine checks a schedule by, and the words of its faults.
#include <algorithm>

#include "simtest/coll_verify.hpp"

namespace photon::simtest::coll {
namespace {

using schedule::Action;
using schedule::Phase;
using schedule::Range;
using schedule::Step;

bool computes(const Step& step) {
  return step.action == Action::copy || step.action == Action::fold;
}

bool overlap(const Range& a, const Range& b) {
  return a.space == b.space && a.count > 0 && b.count > 0 && a.first < b.first + b.count &&
         b.first < a.first + a.count;
}

}  // namespace

std::string text_of(const Range& range) {
  constexpr const char* kNames[] = {"none", "in", "out", "temp"};
  const auto space = static_cast<std::size_t>(range.space);
  return std::string(space < std::size(kNames) ? kNames[space] : "unknown") + "[" +
         std::to_string(range.first) + ".." + std::to_string(range.first + range.count) + ")";
}

std::string Machine::text_of_step(std::uint32_t member) const {
  const State& state = states_[member];
  if (!state.is_begun || step_ >= std::min(state.phase.count, Phase::kMostSteps)) return "";
  const Step& step = state.phase.steps[step_];
  const std::string end =
      " member " + std::to_string(step.peer) + " with tag " + std::to_string(step.tag) + ")";
  const std::string begin = ", step " + std::to_string(step_);
  switch (step.action) {
    case Action::send: return begin + " (send " + text_of(step.from) + " to" + end;
    case Action::receive: return begin + " (receive " + text_of(step.to) + " from" + end;
    case Action::copy:
    case Action::fold: break;
  }
  return begin + (step.action == Action::copy ? " (copy " : " (fold ") + text_of(step.from) +
         (step.action == Action::copy ? " to " : " into ") + text_of(step.to) + ")";
}

void Machine::fault(std::uint32_t member, const std::string& words) {
  fault_of(member, states_[member].index, text_of_step(member) + " " + words);
}

void Machine::fault_of(std::uint32_t member, std::uint64_t phase, const std::string& words) {
  if (!fault_.empty()) return;
  fault_ = "member " + std::to_string(member) + ", phase " + std::to_string(phase) + words;
}

// Checks the phase that has just begun, before any of its steps.
void Machine::check_phase(std::uint32_t member) {
  const Phase& phase = states_[member].phase;
  if (phase.count > Phase::kMostSteps) return fault(member, "has more steps than a phase holds");
  for (std::uint32_t i = 0; i < phase.count && fault_.empty(); ++i) {
    step_ = i;
    check_step(member, i);
    for (std::uint32_t j = 0; j < i && fault_.empty(); ++j) check_pair(member, j, i);
    // A receive may write as soon as its phase has begun.
    if (phase.steps[i].action == Action::receive) check_not_sent(member, phase.steps[i].to);
  }
}

void Machine::check_step(std::uint32_t member, std::uint32_t index) {
  const Step& step = states_[member].phase.steps[index];
  if (!computes(step)) {
    if (step.peer == member) return fault(member, "is a message to itself");
    if (step.peer >= members_.size()) return fault(member, "is a message outside the team");
  }
  if (step.action != Action::receive) check_bounds(member, step.from, false);
  if (step.action != Action::send) check_bounds(member, step.to, true);
  if (step.action == Action::receive) check_block(member, step);
  if (!computes(step)) return;
  if (step.from.count != step.to.count) return fault(member, "has ranges of different lengths");
  if (overlap(step.from, step.to)) fault(member, "has ranges that overlap");
}

// The count of a whole block may be told by its sender: so it is told of the right one.
void Machine::check_block(std::uint32_t member, const Step& step) {
  const schedule::Call& call = members_[member].call;
  const bool has_blocks = call.kind == schedule::Kind::gather ||
                          call.kind == schedule::Kind::allgather ||
                          call.kind == schedule::Kind::alltoall;
  if (!has_blocks || step.block == schedule::kNoBlock) return;
  const std::string name = "the block of member " + std::to_string(step.block);
  if (step.block >= members_.size()) return fault(member, "is " + name + ", outside the team");
  const bool is_placed = step.to.space != schedule::Space::out ||
                         step.to.first == call.out_blocks.offset_of(step.block, call.count);
  if (!is_placed || step.to.count != call.out_blocks.count_of(step.block, call.count))
    fault(member, "is not the place of " + name);
}

void Machine::check_bounds(std::uint32_t member, const Range& range, bool is_written) {
  if (range.count == 0) return;
  if (range.space == schedule::Space::none || range.space > schedule::Space::temp)
    return fault(member, "names no space");
  if (is_written && range.space == schedule::Space::in) return fault(member, "writes its input");
  const std::size_t size = space_of(member, range.space).values->size();
  if (range.first > size || range.count > size - range.first)
    fault(member, "is outside its space of " + std::to_string(size) + " elements");
}

// Two steps of one phase that may be under way together; the first stands in front. Copies and
// folds wait for receives in front of them, and writes to what a send reads are looked for when
// they are done.
void Machine::check_pair(std::uint32_t member, std::uint32_t first, std::uint32_t second) {
  const Phase& phase = states_[member].phase;
  const Step& a = phase.steps[first];
  const Step& b = phase.steps[second];
  const std::string before = "step " + std::to_string(first) + " of its phase";
  if (a.action == Action::receive && b.action == Action::receive && overlap(a.to, b.to))
    return fault(member, "writes what also " + before + " receives");
  if (a.action == Action::receive && b.action == Action::send && overlap(a.to, b.from)) {
    const auto* const from = phase.steps.data() + first;
    if (std::none_of(from, phase.steps.data() + second, computes))
      fault(member, "does not wait for what " + before + " receives");
  }
  if (b.action != Action::receive) return;
  if (a.action == Action::send && overlap(a.from, b.to))
    fault(member, "may write what " + before + " still sends");
  if (computes(a) && (overlap(a.from, b.to) || overlap(a.to, b.to)))
    fault(member, "may write what " + before + " still needs");
}

// Whether no send may still read what is written now.
void Machine::check_not_sent(std::uint32_t member, const Range& range) {
  State& state = states_[member];
  if (!fault_.empty() || range.count == 0) return;
  const Space& space = space_of(member, range.space);
  for (std::uint64_t i = range.first; i < range.first + range.count; ++i) {
    std::uint32_t link = space.readers[i];
    while (link > state.links_closed) {
      const Link& one = state.links[link - state.links_closed - 1];
      const Message& sent = messages_.at(one.message);
      if (!sent.is_taken || clocks_.known(member, sent.receiver) < sent.received_by)
        return fault(member, "writes element " + std::to_string(i) + ", which the send to member " +
                                 std::to_string(sent.receiver) + " with tag " +
                                 std::to_string(sent.tag) + " of phase " +
                                 std::to_string(sent.sent_phase) + " may still read");
      link = one.before;
    }
  }
}

std::string Machine::why_waits(std::uint32_t member) const {
  const State& state = states_[member];
  std::string text = "member " + std::to_string(member) + " waits in phase " +
                     std::to_string(state.index) + " for";
  const char* separator = " ";
  for (std::uint32_t i = 0; i < messages_.size(); ++i) {
    const Message& message = messages_.at(i);
    const std::string tag = " with tag " + std::to_string(message.tag);
    if (state.is_begun && message.receiver == member && message.is_awaited && !message.is_sent) {
      text += separator + ("the message of member " + std::to_string(message.sender)) + tag;
      separator = ", ";
    } else if (!state.is_begun && message.sender == member && message.is_sent &&
               !message.is_awaited) {
      text += separator + ("its send to member " + std::to_string(message.receiver)) + tag;
      separator = ", ";
    }
  }
  return text;
}

// When nothing moves any more.
void Machine::check_end() {
  constexpr int kMostNamed = 4;
  int named = 0;
  for (std::uint32_t i = 0; i < members_.size(); ++i) {
    if (states_[i].index >= states_[i].phases || ++named > kMostNamed) continue;
    fault_ += (fault_.empty() ? "deadlock: " : "; ") + why_waits(i);
  }
  if (named > kMostNamed) fault_ += "; and " + std::to_string(named - kMostNamed) + " more wait";
  int unread = 0;
  for (std::uint32_t i = 0; i < messages_.size(); ++i) {
    const Message& message = messages_.at(i);
    if (!message.is_sent || message.is_taken || ++unread > kMostNamed) continue;
    fault_ += std::string(fault_.empty() ? "" : "; ") + "nobody receives what member " +
              std::to_string(message.sender) + " sends to member " +
              std::to_string(message.receiver) + " with tag " + std::to_string(message.tag) +
              " in phase " + std::to_string(message.sent_phase);
  }
}

}  // namespace photon::simtest::coll
