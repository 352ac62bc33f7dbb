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

}  // namespace photon::simtest
