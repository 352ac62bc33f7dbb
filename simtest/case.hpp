// What a seed stands for: a program, a schedule, a network. All that a run depends on.
#pragma once

#include <cstdint>
#include <string>

#include "base/config.hpp"
#include "simtest/runner.hpp"
#include "simtest/shrink.hpp"

namespace photon::simtest {

using Profile = base::SimProfile;
inline constexpr const char* kProfileNames[] = {"stream", "mapped", "rc", "srd", "unnamed"};
inline constexpr Profile kProfiles[] = {Profile::stream, Profile::mapped, Profile::rc, Profile::srd,
                                        Profile::unnamed};

struct Case {
  std::uint64_t seed = 1;
  Profile profile = Profile::stream;
  std::uint32_t ranks = 4;
  std::uint32_t operations = 200;
  transport::sim::Fault fault;
  Lanes lanes = Lanes::drawn;
  Losses losses = Losses::drawn;
  Peers peers = Peers::drawn;
  Echoes echoes = Echoes::drawn;
  Wakes wakes = Wakes::drawn;
  Maps maps = Maps::drawn;
  Mailboxes mailboxes = Mailboxes::drawn;
  Collectives collectives = Collectives::drawn;
  Ams ams = Ams::drawn;
};

Program program_of(const Case& one);
transport::sim::SimNetwork::Settings network_of(const Case& one);

// `program` instead of the seed's own: a smaller one.
Result run_case(const Case& one, const Program& program, bool keep_history);
Result run_case(const Case& one, bool keep_history);

// For shrink(): whether a program in the place of the seed's own has this kind of finding.
Fails fails_with(const Case& one, const std::string& kind);

}  // namespace photon::simtest
