// First contact without an id: put into a program that is complete without it, by draws of their
// own. Half of it comes before anything else of its rank.
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
  }
}

// Not behind a good-bye.
void Generator::insert_drawn(ph_rank rank, Step step) {
  auto& steps = program_.steps[rank];
  const bool leaves = !shape_.leavers.empty() && shape_.leavers[rank];
  const std::uint64_t end = steps.size() - (leaves ? 1 : 0);
  const std::uint64_t at = peers_.up_to(1) == 0 ? 0 : peers_.up_to(end);
  step.lane = static_cast<std::uint32_t>(peers_.up_to(program_.lanes.size()));
  steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(at), step);
}

}  // namespace photon::simtest
