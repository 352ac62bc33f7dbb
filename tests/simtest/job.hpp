// Settings of a small simulated job that tests drive by hand.
#pragma once

#include <gtest/gtest.h>

#include "simtest/case.hpp"
#include "simtest/world.hpp"

namespace photon::simtest {

inline World::Settings job_of(std::uint32_t ranks, Profile profile = Profile::stream) {
  World::Settings settings;
  settings.ranks = ranks;
  settings.network.max_delay_ns = 1000;
  settings.network.profile = profile;
  settings.options = {{"max_cid_size", "8"}, {"arena_bytes", "1048576"}, {"spin_us", "0"}};
  return settings;
}

inline const auto never_stuck = [] { ADD_FAILURE() << "the job does not go on"; };

// What each rank of a job of its own does, on each kind of network in its turn.
template <class Body>
void on_every_network(std::uint32_t ranks, const Body& body) {
  for (const Profile profile : kProfiles) {
    World world(job_of(ranks, profile));
    world.run([&](ph_rank rank) { body(world, rank); }, never_stuck);
  }
}

}  // namespace photon::simtest
