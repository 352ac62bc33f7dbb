// What members of a team agree on, and the teams of those that live: put among collective
// operations, from draws of their own.
#include <utility>

#include "simtest/program_generator.hpp"

namespace photon::simtest {

// Of any team that there is.
JointTeam Generator::shrunk_team() {
  JointTeam team;
  team.is_shrunk = true;
  team.parent = static_cast<std::uint32_t>(agreements_.up_to(program_.joint_teams.size() - 1));
  team.colours.resize(program_.ranks);
  team.keys.resize(program_.ranks);
  return team;
}

// Half of the teams agree beside what else they do, the others between that.
void Generator::draw_agreements() {
  if (!agrees_) return;
  apart_.resize(program_.joint_teams.size());
  agrees_apart_.resize(program_.joint_teams.size());
  for (std::size_t team = 0; team < agrees_apart_.size(); ++team)
    agrees_apart_[team] = agreements_.up_to(1) == 0;
}

void Generator::add_agreement(const Joint& one) {
  const bool makes = one.act == Act::make;
  const std::uint32_t team = makes ? program_.joint_teams[one.team].parent : one.team;
  (agrees_apart_[team] ? apart_[team] : program_.joint_lines[team].joints).push_back(one);
}

void Generator::agree_now_and_then(std::uint32_t teams) {
  Joint one;
  if (agreements_.up_to(3) == 0) {
    one.act = Act::agree;
    one.team = static_cast<std::uint32_t>(agreements_.up_to(teams - 1));
    one.seed = agreements_.next();
    add_agreement(one);
  }
  if (shrunk_.empty() || agreements_.up_to(3) != 0) return;
  one.act = Act::make;
  one.team = shrunk_.back();
  shrunk_.pop_back();
  add_agreement(one);
}

// The rest, and the lines of teams that have one of their own.
void Generator::add_agreements() {
  if (!agrees_) return;
  for (const std::uint32_t team : std::exchange(shrunk_, {})) {
    Joint one;
    one.act = Act::make;
    one.team = team;
    add_agreement(one);
  }
  for (std::uint32_t team = 0; team < apart_.size(); ++team)
    if (!apart_[team].empty()) program_.joint_lines.push_back({team, kNone, apart_[team]});
}

}  // namespace photon::simtest
