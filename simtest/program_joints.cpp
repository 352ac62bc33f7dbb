// Collective operations: put into a program that is complete without them, from draws of their own.
// Where links are lost there are none: who cannot reach whom is another's story.
#include "simtest/program_generator.hpp"

namespace photon::simtest {

namespace {

constexpr std::uint64_t kJointsInOneOf = 3;     // programs
constexpr std::uint32_t kMostTeams = 4;         // beside that of all ranks
constexpr std::uint64_t kLargeBytes = 300'000;  // more than is folded at once

bool is_list(const JointTeam& team) { return team.parent == kNone; }

}  // namespace

void Generator::draw_joint_options() {
  constexpr std::array<std::uint64_t, 4> kWindow = {1, 2, 16, 16};
  constexpr std::array<std::uint64_t, 3> kEarly = {4096, 8192, 65536};
  option("coll_window", kWindow[joints_.up_to(kWindow.size() - 1)]);
  option("coll_early_bytes", kEarly[joints_.up_to(kEarly.size() - 1)]);
}

// Sizes around those where a message takes another way; in bytes of all blocks that a member has.
std::uint64_t Generator::joint_bytes() {
  constexpr std::array<std::uint64_t, 8> kSmall = {0, 1, 8, 24, 32, 33, 64, 200};
  const std::array<std::uint64_t, 6> large = {1000, 1024, 1025, chunk_ + 1, 4097, 20'000};
  if (joints_.up_to(79) == 0) return kLargeBytes;
  if (joints_.up_to(2) == 0) return large[joints_.up_to(large.size() - 1)];
  return kSmall[joints_.up_to(kSmall.size() - 1)];
}

Joint Generator::joint() {
  Joint one;
  one.kind = static_cast<ph_coll_kind>(joints_.up_to(PH_COLL_REDUCE_SCATTER - 1) + 1);
  one.arithmetic = static_cast<Arithmetic>(joints_.up_to(8));
  if (one.arithmetic == Arithmetic::double_any && one.kind != PH_COLL_ALLREDUCE)
    one.arithmetic = Arithmetic::double_order;
  one.root = static_cast<std::uint32_t>(joints_.up_to(program_.ranks - 1));
  const std::uint64_t bytes = joint_bytes();
  const std::uint64_t element = element_bytes_of(one.arithmetic);
  const bool is_whole = one.kind == PH_COLL_BCAST || one.kind == PH_COLL_ALLREDUCE;
  one.count = (std::min(bytes, is_whole ? kLargeBytes : 20'000) + element - 1) / element;
  one.is_in_place = joints_.up_to(2) == 0;
  one.has_gaps = joints_.up_to(1) == 0;
  const bool may_come = one.kind == PH_COLL_GATHERV || one.kind == PH_COLL_ALLGATHERV ||
                        one.kind == PH_COLL_ALLTOALLV;
  one.counts_come = may_come && !one.is_in_place && joints_.up_to(1) == 0;
  one.seed = joints_.next();
  differ(one);
  return one;
}

// Nobody is in a list that does not know of it; a rank may be of no colour.
JointTeam Generator::joint_team() {
  JointTeam team;
  const bool splits = joints_.up_to(2) != 0;
  if (splits)
    team.parent = static_cast<std::uint32_t>(joints_.up_to(program_.joint_teams.size() - 1));
  const std::uint64_t colours = joints_.up_to(1);
  for (ph_rank rank = 0; rank < program_.ranks; ++rank) {
    const auto colour = static_cast<std::int64_t>(joints_.up_to(colours));
    const bool is_out = joints_.up_to(7) == 0;
    team.colours.push_back(is_out ? PH_NO_COLOUR : splits ? colour : 0);
    team.keys.push_back(static_cast<std::int64_t>(joints_.up_to(3)));
  }
  team.tag = program_.joint_teams.size();
  return team;
}

// The team of a line that is new, and who makes it where.
void Generator::add_joint_team(const JointTeam& team) {
  const auto number = static_cast<std::uint32_t>(program_.joint_teams.size());
  Joint make;
  make.act = Act::make;
  make.team = number;
  program_.joint_teams.push_back(team);
  program_.joint_lines.push_back({number, kNone, {}});
  if (team.is_shrunk)
    shrunk_.push_back(number);
  else
    program_.joint_lines[is_list(team) ? number : team.parent].joints.push_back(make);
}

// Freed, and at times made once more.
void Generator::end_joint_team(std::uint32_t number) {
  if (joints_.up_to(2) == 0) return;
  Joint free;
  free.act = Act::free_team;
  free.team = number;
  program_.joint_lines[number].joints.push_back(free);
}

void Generator::add_prepared(std::uint32_t team) {
  Joint one = joint();
  one.act = Act::prepare;
  one.team = team;
  one.line = static_cast<std::uint32_t>(program_.joint_lines.size());
  auto& joints = program_.joint_lines[team].joints;
  JointLine line{team, static_cast<std::uint32_t>(joints.size()), {}};
  joints.push_back(one);
  one.act = Act::start;
  for (std::uint64_t starts = joints_.up_to(3); starts > 0; --starts) line.joints.push_back(one);
  one.act = Act::free_prepared;
  line.joints.push_back(one);
  program_.joint_lines.push_back(line);
}

void Generator::draw_joints(std::uint64_t most) {
  program_.joint_teams.resize(1);
  program_.joint_teams[0].colours.resize(program_.ranks);
  program_.joint_teams[0].keys.resize(program_.ranks);
  program_.joint_lines.resize(1);
  for (std::uint64_t teams = joints_.up_to(kMostTeams); teams > 0; --teams) {
    JointTeam team = shrinks_next() ? shrunk_team() : joint_team();
    const auto before = static_cast<std::uint32_t>(program_.joint_teams.size() - 1);
    if (is_list(team) && before != 0 && is_list(program_.joint_teams[before]) &&
        joints_.up_to(1) == 0) {
      team = program_.joint_teams[before];
      team.after = before;
    }
    add_joint_team(team);
  }
  const auto teams = static_cast<std::uint32_t>(program_.joint_teams.size());
  draw_agreements();
  for (std::uint64_t left = 1 + joints_.up_to(most); left > 0; --left) {
    const auto team = static_cast<std::uint32_t>(joints_.up_to(teams - 1));
    if (agrees_) agree_now_and_then(teams);
    if (joints_.up_to(5) == 0) {
      add_prepared(team);
      continue;
    }
    Joint one = joint();
    one.team = team;
    program_.joint_lines[team].joints.push_back(one);
  }
  add_agreements();
  for (std::uint32_t team = 1; team < teams; ++team) {
    end_joint_team(team);
    JointTeam& made = program_.joint_teams[team];
    if (made.after == kNone) continue;
    const auto& before = program_.joint_lines[made.after].joints;
    const bool is_freed = !before.empty() && before.back().act == Act::free_team;
    made.tag = is_freed ? program_.joint_teams[made.after].tag : team;
    if (!is_freed) made.after = kNone;
  }
}

// Most ranks name most joints; those that nobody names are not done, and those that somebody names
// by all, at the end if not before. Some wait for them.
void Generator::add_joint_steps(ph_rank rank) {
  auto& steps = program_.steps[rank];
  const bool leaves = !shape_.leavers.empty() && shape_.leavers[rank];
  for (std::size_t line = 0; line < program_.joint_lines.size(); ++line) {
    std::uint64_t at = joints_.up_to(steps.size() / 2);
    for (std::size_t i = 0; i < program_.joint_lines[line].joints.size(); ++i) {
      if (joints_.up_to(5) == 0) continue;
      const std::uint64_t end = steps.size() - (leaves ? 1 : 0);
      at = std::min(end, at + joints_.up_to(steps.size() / 8 + 1));
      Step step;
      step.verb = joints_.up_to(3) == 0   ? Verb::coll_run
                  : joints_.up_to(3) == 0 ? Verb::coll_await
                                          : Verb::coll_begin;
      step.operand = line;
      step.order = i;
      step.time_ns = 1000 * joints_.up_to(joints_.up_to(3) == 0 ? 2000 : 30);
      steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(at), step);
    }
  }
}

void Generator::add_joints(Collectives choice) {
  const bool is_drawn = joints_.up_to(kJointsInOneOf - 1) == 0;
  if (choice == Collectives::none || (choice == Collectives::drawn && !is_drawn)) return;
  if (shape_.loses_links) return;
  agrees_ = choice != Collectives::plain && agreements_.up_to(1) == 0;
  draw_joint_options();
  differs_ = choice != Collectives::plain && differences_.up_to(2) == 0;
  differs_ = differs_ || choice == Collectives::differing;
  if (differs_) program_.options.emplace_back("coll_check", "on");
  std::uint64_t longest = 0;
  for (const auto& steps : program_.steps) longest = std::max<std::uint64_t>(longest, steps.size());
  draw_joints(std::min<std::uint64_t>(longest / 8 + 4, 60));
  for (ph_rank rank = 0; rank < program_.ranks; ++rank) add_joint_steps(rank);
}

}  // namespace photon::simtest
