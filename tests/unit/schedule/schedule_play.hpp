// All members' schedules played against each other on values that remember what they are made of.
// A send is over only when its receive has come; messages arrive in an order drawn at random, as
// late as the schedule allows, and what a step may not touch meanwhile is watched.
// Owner: the test. Threads: one.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "schedule/choice.hpp"

namespace photon::schedule {

// Which inputs an element is made of, in which order; empty: it was never written. An input is
// member * kPerMember + its place in that member's input.
struct Made {
  static constexpr std::uint32_t kPerMember = 100'000;
  std::vector<std::uint32_t> of;
  bool is_loop = true;     // ((0 op 1) op 2) op ...
  std::uint64_t bits = 0;  // other brackets, other bits

  static Made input(std::uint32_t member, std::uint64_t place) {
    const auto name = static_cast<std::uint32_t>(member * kPerMember + place);
    return {{name}, true, name + 1};
  }
  static Made folded(const Made& left, const Made& right) {
    Made made{left.of, left.is_loop && right.of.size() == 1,
              (left.bits * 0x9e37'79b9'7f4a'7c15 + right.bits) * 0xbf58'476d'1ce4'e5b9 + 1};
    made.bits ^= made.bits >> 29;
    made.of.insert(made.of.end(), right.of.begin(), right.of.end());
    return made;
  }
};

using Elements = std::vector<Made>;

struct PlayedMember {
  Call call;
  std::map<Space, Elements> spaces;
};

class SchedulePlay {
 public:
  // `is_strict`: each phase begins only when all sends of those before it are over.
  SchedulePlay(std::vector<PlayedMember>& members, unsigned seed, bool is_strict = false)
      : members_(members), random_(seed), seed_(seed), is_strict_(is_strict), at_(members.size()) {}

  // What went wrong; empty when all members came to their end.
  std::string run() {
    std::uint64_t idle = 0;
    while (wrong_.empty() && idle < 2 * members_.size() + 2) {
      bool has_moved = false;
      const auto first = static_cast<std::uint32_t>(random_() % members_.size());
      for (std::uint32_t i = 0; i < members_.size(); ++i)
        has_moved = advance((first + i) % static_cast<std::uint32_t>(members_.size())) || has_moved;
      has_moved = deliver_one() || has_moved;
      idle = has_moved ? 0 : idle + 1;
    }
    for (std::uint32_t i = 0; i < members_.size() && wrong_.empty(); ++i)
      if (!is_over(i)) fail(i, "never ends");
    if (wrong_.empty() && !sends_.empty()) fail(0, "a send has no receive");
    return wrong_;
  }
  std::uint64_t steps() const { return steps_; }

 private:
  using Name = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // sender, receiver, tag

  struct State {
    std::uint64_t phase = 0;
    bool is_begun = false;
    Phase steps;
    std::vector<bool> done;
    std::vector<bool> posted;
    unsigned sends = 0;  // not over
  };
  struct Posted {
    std::uint32_t member = 0;
    Range range;
    std::uint32_t step = 0;
    bool is_own_block = false;
  };

  void fail(std::uint32_t member, const std::string& why) {
    if (!wrong_.empty()) return;
    wrong_ = "member " + std::to_string(member) + ", phase " + std::to_string(at_[member].phase) +
             ": " + why;
  }
  bool is_over(std::uint32_t m) const { return at_[m].phase >= phases_of(members_[m].call); }

  static bool overlap(const Range& a, const Range& b) {
    return a.space == b.space && a.first < b.first + b.count && b.first < a.first + a.count;
  }
  void check_room(std::uint32_t m, const Range& range) {
    if (range.count == 0) return;
    const auto space = members_[m].spaces.find(range.space);
    if (space == members_[m].spaces.end() || range.first + range.count > space->second.size())
      fail(m, "a range outside its space");
  }
  // Nothing that is being received is touched; nothing that is being sent is written.
  void check_read(std::uint32_t m, const Range& range) {
    check_room(m, range);
    for (const auto& [name, receive] : receives_)
      if (receive.member == m && overlap(receive.range, range)) fail(m, "reads what comes");
  }
  void check_write(std::uint32_t m, const Range& range) {
    check_read(m, range);
    if (range.space == Space::in) fail(m, "writes its input");
    for (const auto& [name, send] : sends_)
      if (send.member == m && overlap(send.range, range)) fail(m, "writes what a send reads");
  }

  bool advance(std::uint32_t m) {
    State& state = at_[m];
    if (is_over(m) || !wrong_.empty()) return false;
    if (!state.is_begun) {
      phase_at(members_[m].call, state.phase, state.steps);
      if (state.steps.count > Phase::kMostSteps) fail(m, "has too many steps");
      if (state.sends > 0 && (state.steps.after_sends || is_strict_)) return false;
      state.is_begun = true;
      state.done.assign(state.steps.count, false);
      state.posted.assign(state.steps.count, false);
      steps_ += state.steps.count;
    }
    bool has_moved = false;
    for (std::uint32_t i = 0; i < state.steps.count; ++i) has_moved = begin(m, i) || has_moved;
    for (std::uint32_t i = 0; i < state.steps.count; ++i)
      if (!state.done[i]) return has_moved;
    ++state.phase;
    state.is_begun = false;
    return true;
  }

  // Whether step i begins now. Receives begin at once: nobody promises them to wait.
  bool begin(std::uint32_t m, std::uint32_t i) {
    State& state = at_[m];
    const Step& step = state.steps.steps[i];
    if (state.done[i] || state.posted[i] || !may_begin(state, i)) return false;
    state.posted[i] = true;
    if (step.action == Action::receive) {
      check_write(m, step.to);
      post(receives_, {step.peer, m, step.tag}, {m, step.to, i, step.block != kNoBlock});
      return true;
    }
    state.done[i] = true;
    if (step.action == Action::send) {
      check_read(m, step.from);
      ++state.sends;
      post(sends_, {m, step.peer, step.tag}, {m, step.from, i, false});
      return true;
    }
    check_read(m, step.from);
    check_write(m, step.to);
    if (step.from.count != step.to.count || overlap(step.from, step.to)) fail(m, "unequal ranges");
    if (wrong_.empty()) compute(m, step);
    return true;
  }
  static bool may_begin(const State& state, std::uint32_t i) {
    const Action action = state.steps.steps[i].action;
    for (std::uint32_t j = 0; j < i; ++j) {
      const Action before = state.steps.steps[j].action;
      const bool computes = before == Action::copy || before == Action::fold;
      const bool is_waited_for =
          action == Action::send
              ? computes
              : action != Action::receive && (computes || before == Action::receive);
      if (is_waited_for && !state.done[j]) return false;
    }
    return true;
  }
  void post(std::map<Name, Posted>& where, const Name& name, const Posted& posted) {
    if (std::get<0>(name) == std::get<1>(name)) fail(posted.member, "a message to itself");
    if (std::get<1>(name) >= members_.size()) fail(posted.member, "a message to nobody");
    if (!(&where == &sends_ ? sent_ : received_).insert({name, true}).second)
      fail(posted.member, "a message twice");
    where[name] = posted;
  }

  void compute(std::uint32_t m, const Step& step) {
    const Made* from = members_[m].spaces[step.from.space].data() + step.from.first;
    Made* to = members_[m].spaces[step.to.space].data() + step.to.first;
    for (std::uint64_t i = 0; i < step.to.count; ++i) {
      if (from[i].of.empty()) return fail(m, "reads what was never written");
      if (step.action == Action::copy) {
        to[i] = from[i];
        continue;
      }
      if (to[i].of.empty()) return fail(m, "folds what was never written");
      to[i] = step.from_first ? Made::folded(from[i], to[i]) : Made::folded(to[i], from[i]);
    }
  }

  std::uint32_t patience_of(const Name& name) const {
    const auto& [sender, receiver, tag] = name;
    return (sender * 0x9e37'79b9U + receiver * 0x85eb'ca6bU + seed_) * 0xc2b2'ae35U >> 4;
  }
  bool deliver_one() {
    std::vector<Name> ready;
    for (const auto& [name, receive] : receives_)
      if (sends_.contains(name)) ready.push_back(name);
    if (ready.empty() || !wrong_.empty()) return false;
    // Between some pairs nothing comes while there is anything else that can.
    const Name name =
        random_() % 4 == 0
            ? ready[random_() % ready.size()]
            : *std::min_element(ready.begin(), ready.end(), [this](const Name& a, const Name& b) {
                return patience_of(a) < patience_of(b);
              });
    const Posted send = sends_[name];
    const Posted receive = receives_[name];
    sends_.erase(name);
    receives_.erase(name);
    --at_[send.member].sends;
    at_[receive.member].done[receive.step] = true;
    const bool fits = receive.is_own_block ? send.range.count <= receive.range.count
                                           : send.range.count == receive.range.count;
    if (!fits) fail(receive.member, "gets a message of another size");
    if (send.range.count == 0 || !wrong_.empty()) return true;
    const Made* from = members_[send.member].spaces[send.range.space].data() + send.range.first;
    Made* to = members_[receive.member].spaces[receive.range.space].data() + receive.range.first;
    for (std::uint64_t i = 0; i < send.range.count; ++i) {
      if (from[i].of.empty()) fail(send.member, "sends what was never written");
      to[i] = from[i];
    }
    return true;
  }

  std::vector<PlayedMember>& members_;
  std::mt19937 random_;
  std::uint32_t seed_;
  bool is_strict_;
  std::vector<State> at_;
  std::map<Name, Posted> sends_;
  std::map<Name, Posted> receives_;
  std::map<Name, bool> sent_;
  std::map<Name, bool> received_;
  std::uint64_t steps_ = 0;
  std::string wrong_;
};

}  // namespace photon::schedule
