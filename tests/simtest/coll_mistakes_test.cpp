// Mistakes planted in the library's own schedules: each is found, in words that name it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "coll_toys.hpp"
#include "simtest/coll_plan.hpp"

namespace photon::simtest::coll {
namespace {

using schedule::Action;
using schedule::Algorithm;
using schedule::Kind;
using schedule::Phase;
using schedule::Step;

CollCase ring_of_five() {
  CollCase one;
  one.kind = Kind::allreduce;
  one.algorithm = Algorithm::ring;
  one.size = 5;
  one.count = 10;
  return one;
}

Step& first_of(Phase& phase, Action action) {
  return *std::find_if(phase.steps.begin(), phase.steps.begin() + phase.count,
                       [action](const Step& step) { return step.action == action; });
}

void leave_out(Phase& phase, Action action) {
  const Step* const step = &first_of(phase, action);
  const auto index = static_cast<std::ptrdiff_t>(step - phase.steps.data());
  std::copy(phase.steps.begin() + index + 1, phase.steps.begin() + phase.count,
            phase.steps.begin() + index);
  --phase.count;
}

std::string planted(std::uint64_t phase, const Planted::Mistake& mistake) {
  return prove(ring_of_five(), Planted(2, phase, mistake)).fault;
}

TEST(CollMistakes, the_ring_without_a_mistake_is_proved) {
  EXPECT_EQ(planted(0, [](Phase&) {}), "");
}

TEST(CollMistakes, a_wrong_peer_is_found) {
  const std::string fault =
      planted(1, [](Phase& phase) { first_of(phase, Action::send).peer = 4; });
  EXPECT_NE(fault.find("member 3 waits in phase 1 for the message of member 2 with tag 1"),
            std::string::npos)
      << fault;
  EXPECT_NE(fault.find("nobody receives what member 2 sends to member 4 with tag 1 in phase 1"),
            std::string::npos)
      << fault;
}

TEST(CollMistakes, a_wrong_tag_is_found) {
  const std::string fault =
      planted(1, [](Phase& phase) { first_of(phase, Action::send).tag += 9; });
  EXPECT_NE(fault.find("nobody receives what member 2 sends to member 3 with tag 10"),
            std::string::npos)
      << fault;
}

TEST(CollMistakes, a_missing_send_is_found) {
  const std::string fault = planted(1, [](Phase& phase) { leave_out(phase, Action::send); });
  EXPECT_NE(fault.find("deadlock: "), std::string::npos) << fault;
  EXPECT_NE(fault.find("member 3 waits in phase 1 for the message of member 2 with tag 1"),
            std::string::npos)
      << fault;
}

TEST(CollMistakes, a_message_sent_twice_is_found) {
  const std::string fault =
      planted(1, [](Phase& phase) { phase.add(Step(first_of(phase, Action::send))); });
  EXPECT_NE(fault.find("sends this message twice"), std::string::npos) << fault;
}

TEST(CollMistakes, a_wrong_offset_is_found) {
  const std::string fault =
      planted(1, [](Phase& phase) { ++first_of(phase, Action::fold).from.first; });
  EXPECT_NE(fault, "");
  const std::string other =
      planted(0, [](Phase& phase) { --first_of(phase, Action::send).from.first; });
  EXPECT_NE(other.find("with another element"), std::string::npos) << other;
}

TEST(CollMistakes, a_fold_in_front_of_its_receive_is_found) {
  const std::string fault = planted(1, [](Phase& phase) {
    std::swap(first_of(phase, Action::fold), first_of(phase, Action::receive));
  });
  EXPECT_NE(fault.find("may write what step"), std::string::npos) << fault;
  EXPECT_NE(fault.find("still needs"), std::string::npos) << fault;
}

// The results of a ring are written over sums that may still be under way to the next member.
TEST(CollMistakes, a_dropped_dependency_on_sends_is_found_with_any_timing) {
  CollCase one = ring_of_five();
  schedule::Call call{.kind = one.kind, .algorithm = one.algorithm, .size = one.size, .rank = 2};
  call.count = one.count;
  unsigned planted_count = 0;
  for (std::uint64_t i = 0; i < schedule::phases_of(call); ++i) {
    Phase phase;
    schedule::phase_at(call, i, phase);
    if (!phase.after_sends) continue;
    ++planted_count;
    const Planted mistake(2, i, [](Phase& planted_phase) { planted_phase.after_sends = false; });
    for (const Timing timing : {Timing::early, Timing::late, Timing::drawn}) {
      one.timing = timing;
      const std::string fault = prove(one, mistake).fault;
      EXPECT_NE(fault.find("which the send to member 3 with tag "), std::string::npos) << fault;
      EXPECT_NE(fault.find("may still read"), std::string::npos) << fault;
    }
  }
  EXPECT_GT(planted_count, 0U);
}

struct Kinds {
  const char* name;
  bool (*plant)(Step& step, std::uint32_t rank, std::uint32_t size);  // false: not in this step
};

constexpr bool is_message(const Step& step) {
  return step.action == Action::send || step.action == Action::receive;
}

constexpr Kinds kMistakes[] = {
    {"peer",
     [](Step& step, std::uint32_t rank, std::uint32_t size) {
       do step.peer = (step.peer + 1) % size;
       while (step.peer == rank);
       return is_message(step);
     }},
    {"tag",
     [](Step& step, std::uint32_t, std::uint32_t) {
       step.tag += 1;
       return is_message(step);
     }},
    {"place read",
     [](Step& step, std::uint32_t, std::uint32_t) {
       step.from.first += 1;
       return step.action != Action::receive && step.from.count > 0;
     }},
    {"place written",
     [](Step& step, std::uint32_t, std::uint32_t) {
       step.to.first += 1;
       return step.action != Action::send && step.to.count > 0;
     }},
    {"copy for fold",
     [](Step& step, std::uint32_t, std::uint32_t) {
       return std::exchange(step.action, Action::copy) == Action::fold && step.to.count > 0;
     }},
};

// How many mistakes were planted in one case; each has to be found.
unsigned plant_in_every_step(const CollCase& one) {
  unsigned count = 0;
  Setup setup(one);
  for (const Member& member : setup.members()) {
    const schedule::Call& call = member.call;
    for (std::uint64_t i = 0; i < schedule::phases_of(call); ++i) {
      Phase phase;
      schedule::phase_at(call, i, phase);
      for (std::uint32_t s = 0; s < phase.count; ++s)
        for (const Kinds& mistake : kMistakes) {
          Step step = phase.steps[s];
          if (!mistake.plant(step, call.rank, call.size)) continue;
          ++count;
          const Planted planted_one(call.rank, i, [&](Phase& wrong) { wrong.steps[s] = step; });
          EXPECT_NE(prove(one, planted_one).fault, "")
              << text_of(one) << ": another " << mistake.name << " in step " << s << " of phase "
              << i << " of member " << call.rank;
        }
    }
  }
  return count;
}

TEST(CollMistakes, one_in_any_step_of_any_algorithm_is_found) {
  Filter filter = everything();
  filter.sizes = {4, 5};
  std::vector<unsigned> planted_in(schedule::kKinds);
  unsigned cases = 0;
  every_case(filter, 1, [&](const CollCase& one) {
    const bool is_barrier = one.kind == Kind::barrier;
    // In place, a member's own block may be written where it stands already, and nowhere else is
    // then as good.
    const bool is_exact = one.kind != Kind::alltoall || one.places == Places::separate;
    // In place, and where any order will do, the own input may as well be folded into what comes
    // next, which is folded then.
    const bool is_in_turns =
        one.algorithm == Algorithm::direct || one.algorithm == Algorithm::linear;
    const bool is_free =
        is_in_turns && one.order == Order::any && one.places != Places::separate && folds(one.kind);
    const bool is_taken = is_barrier || (one.count > 0 && is_exact && !is_free && ++cases % 5 == 0);
    if (!is_taken || !prove(one).is_known) return true;
    planted_in[static_cast<std::size_t>(one.kind)] += plant_in_every_step(one);
    return true;
  });
  for (std::size_t i = 0; i < planted_in.size(); ++i)
    EXPECT_GT(planted_in[i], 0U) << name_of(static_cast<Kind>(i));
}

}  // namespace
}  // namespace photon::simtest::coll
