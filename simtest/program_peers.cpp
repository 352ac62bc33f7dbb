// First contact without an id, keys that are revoked without waiting for anybody, and operations
// that need nobody at the target: put into a program that is complete without them, by draws of
// their own. Half of the steps come before anything else of their rank.
#include "simtest/program_generator.hpp"

namespace photon::simtest {

namespace {

constexpr std::uint64_t kPeersInOneOf = 4;  // programs

}  // namespace

void Generator::add_peers(Peers choice) {
  const bool is_drawn = peers_.up_to(kPeersInOneOf - 1) == 0;
  if (choice == Peers::none || !is_drawn) return;
  for (ph_rank rank = 0; rank < program_.ranks; ++rank) {
    for (std::uint64_t left = peers_.up_to(2); left > 0; --left) {
      Step step;
      step.verb = Verb::contact;
      step.peer = static_cast<ph_rank>(peers_.up_to(program_.ranks - 1));
      insert_drawn(rank, step);
    }
    for (std::uint64_t left = peers_.up_to(3); left > 0; --left) {
      Step step;
      step.verb = peers_.up_to(2) == 0 ? Verb::enroll : Verb::revoke;
      step.area = Area::extra;
      insert_drawn(rank, step);
    }
  }
  let_some_go_alone();
}

void Generator::let_some_go_alone() {
  constexpr std::array<std::uint64_t, 3> kPercent = {0, 20, 70};
  const std::uint64_t percent = kPercent[peers_.up_to(kPercent.size() - 1)];
  for (auto& steps : program_.steps)
    for (Step& step : steps) {
      const bool has_flags = step.verb == Verb::put || step.verb == Verb::get ||
                             (step.verb >= Verb::put_vector && step.verb <= Verb::get_strided);
      if (has_flags && step.fault == Fault::none && peers_.up_to(99) < percent)
        step.flags |= PH_ALONE;
    }
}

// Not behind a bye.
void Generator::insert_drawn(ph_rank rank, Step step) {
  auto& steps = program_.steps[rank];
  const bool leaves = !shape_.leavers.empty() && shape_.leavers[rank];
  const std::uint64_t end = steps.size() - (leaves ? 1 : 0);
  const std::uint64_t at = peers_.up_to(1) == 0 ? 0 : peers_.up_to(end);
  step.lane = static_cast<std::uint32_t>(peers_.up_to(program_.lanes.size()));
  steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(at), step);
}

}  // namespace photon::simtest
