// What each rank calls of the collective operations of a program.
#include "simtest/joint_runner.hpp"

#include <algorithm>
#include <utility>

namespace photon::simtest {

Joints::Joints(Oracle& oracle, const Program& program, Contexts contexts)
    : oracle_(oracle),
      program_(program),
      contexts_(std::move(contexts)),
      window_(option_of(program, "coll_window")),
      most_promises_(option_of(program, "requests") / 4),
      verdicts_(oracle) {
  mark_live();
  places_.resize(program.joint_lines.size() * program.ranks);
  seats_.resize(program.ranks);
  for (ph_rank rank = 0; rank < program.ranks; ++rank) {
    seats_[rank].teams.resize(program.joint_teams.size());
    if (!program.joint_teams.empty()) seats_[rank].teams[0].group = group_of(0, rank);
  }
}

// ---- which joints are done

// What a step names, and what has to come before that.
void Joints::mark_live() {
  for (const JointLine& line : program_.joint_lines) live_.emplace_back(line.joints.size());
  made_at_.resize(program_.joint_teams.size(), {kNone, 0});
  for (std::uint32_t line = 0; line < program_.joint_lines.size(); ++line)
    for (std::size_t at = 0; at < program_.joint_lines[line].joints.size(); ++at) {
      const Joint& joint = program_.joint_lines[line].joints[at];
      if (joint.act == Act::make) made_at_[joint.team] = {line, at};
    }
  for (const auto& steps : program_.steps)
    for (const Step& step : steps)
      if (step.verb >= Verb::coll_begin) mark(static_cast<std::uint32_t>(step.operand), step.order);
}

void Joints::mark(std::uint32_t line, std::size_t at) {
  if (live_[line][at]) return;
  live_[line][at] = true;
  const JointLine& whole = program_.joint_lines[line];
  const Joint& joint = whole.joints[at];
  if (whole.prepared_at != kNone) mark(whole.team, whole.prepared_at);
  if (whole.team != 0 && made_at_[whole.team] != std::pair{line, at})
    mark(made_at_[whole.team].first, made_at_[whole.team].second);
  if (joint.act == Act::free_team)
    for (std::uint32_t other = 0; other < program_.joint_lines.size(); ++other) {
      const JointLine& starts = program_.joint_lines[other];
      if (starts.team == line && starts.prepared_at != kNone && live_[line][starts.prepared_at])
        mark(other, starts.joints.size() - 1);
    }
  if (joint.act == Act::prepare)
    mark(joint.line, program_.joint_lines[joint.line].joints.size() - 1);
  if (joint.act != Act::make || program_.joint_teams[joint.team].after == kNone) return;
  const std::uint32_t before = program_.joint_teams[joint.team].after;
  mark(before, program_.joint_lines[before].joints.size() - 1);
}

// The team of a rank: those of its colour in the parent's, or those that were agreed on.
JointGroup Joints::group_of(std::uint32_t team, ph_rank rank) const {
  const JointTeam& made = program_.joint_teams[team];
  if (made.is_shrunk) return seats_[rank].teams[team].group;
  JointGroup group;
  if (made.colours[rank] == PH_NO_COLOUR) return group;
  std::vector<ph_rank> from;  // the members of the parent, in any order
  if (made.parent != kNone) from = group_of(made.parent, rank).members;
  for (ph_rank other = 0; made.parent == kNone && other < program_.ranks; ++other)
    from.push_back(other);
  for (const ph_rank other : from)
    if (made.colours[other] == made.colours[rank]) group.members.push_back(other);
  if (std::find(from.begin(), from.end(), rank) == from.end()) return {};
  std::stable_sort(group.members.begin(), group.members.end(),
                   [&](ph_rank a, ph_rank b) { return made.keys[a] < made.keys[b]; });
  const auto own = std::find(group.members.begin(), group.members.end(), rank);
  group.own = static_cast<std::uint32_t>(own - group.members.begin());
  return group;
}

ph_team* Joints::handle_of(ph_rank rank, std::uint32_t team) {
  JointMade& made = seats_[rank].teams[team];
  if (made.handle == nullptr && team == 0) {
    const ph_status status = ph_team_world(contexts_(rank), &made.handle);
    if (status != PH_OK)
      oracle_.report(
          "status", "rank " + std::to_string(rank) + ": team_world said " + std::to_string(status));
  }
  return made.handle;
}

// ---- what is wanted

void Joints::want(ph_rank rank, std::uint32_t line, std::size_t at) {
  JointPlace& mine = place(rank, line);
  if (mine.wanted > at) return;
  mine.wanted = at + 1;
  const JointLine& whole = program_.joint_lines[line];
  if (whole.prepared_at != kNone) want(rank, whole.team, whole.prepared_at);
  if (whole.team != 0) want(rank, made_at_[whole.team].first, made_at_[whole.team].second);
  for (std::size_t i = 0; i <= at; ++i)
    if (live_[line][i]) want_before(rank, line, i);
}

void Joints::want_before(ph_rank rank, std::uint32_t line, std::size_t at) {
  const Joint& joint = program_.joint_lines[line].joints[at];
  if (joint.act == Act::make && program_.joint_teams[joint.team].after != kNone) {
    const std::uint32_t before = program_.joint_teams[joint.team].after;
    want(rank, before, program_.joint_lines[before].joints.size() - 1);
  }
  if (joint.act != Act::free_team) return;
  for (std::uint32_t other = 0; other < program_.joint_lines.size(); ++other)
    if (program_.joint_lines[other].team == line && other != line)
      want(rank, other, program_.joint_lines[other].joints.size() - 1);
}

void Joints::want_all(ph_rank rank) {
  for (std::uint32_t line = 0; line < program_.joint_lines.size(); ++line)
    if (!program_.joint_lines[line].joints.empty())
      want(rank, line, program_.joint_lines[line].joints.size() - 1);
}

bool Joints::is_over(ph_rank rank, const Step& step) const {
  const JointPlace& mine = place(rank, static_cast<std::uint32_t>(step.operand));
  if (mine.next <= step.order) return false;
  const auto& under_way = seats_[rank].under_way;
  return std::none_of(under_way.begin(), under_way.end(), [&](std::uint32_t number) {
    return doings_[number].line == step.operand && doings_[number].at == step.order;
  });
}

// ---- what a rank does

std::size_t Joints::pump(ph_rank rank) {
  JointSeat& seat = seats_[rank];
  if (program_.joint_lines.empty() || std::exchange(seat.is_pumping, true)) return 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < seat.under_way.size() && !oracle_.failed();) {
    Doing& doing = doings_[seat.under_way[i]];
    ph_result result{};
    if (doing.end != JointEnd::request ||
        ph_test(contexts_(rank), &doing.request, &result) == PH_AGAIN) {
      ++i;
      continue;
    }
    tested(rank, &doing.request, result);
    ++count;
    i = 0;
  }
  for (std::uint32_t line = 0; line < program_.joint_lines.size(); ++line)
    while (!oracle_.failed() && advance(rank, line)) ++count;
  seat.is_pumping = false;
  return count + std::exchange(seat.handled, 0);
}

// True: the line has come on.
bool Joints::advance(ph_rank rank, std::uint32_t line) {
  JointPlace& mine = place(rank, line);
  if (mine.next >= mine.wanted) return false;
  const bool is_live = live_[line][mine.next];
  if (is_live && !carry_out(rank, line, program_.joint_lines[line].joints[mine.next])) return false;
  ++mine.next;
  return true;
}

// False: later.
bool Joints::carry_out(ph_rank rank, std::uint32_t line, const Joint& joint) {
  if (joint.act == Act::make) return make(rank, joint, 0) != PH_TIMEOUT;
  const std::uint32_t team = program_.joint_lines[line].team;
  const JointMade::State state = seats_[rank].teams[team].state;
  if (state == JointMade::State::unmade && team != 0) return false;
  if (state == JointMade::State::absent) return true;
  switch (joint.act) {
    case Act::prepare: return prepare(rank, joint);
    case Act::start: return start(rank, line);
    case Act::free_prepared: return free_prepared(rank, line);
    case Act::free_team: return free_team(rank, joint);
    case Act::agree: return agree_on(rank, line, joint, 0) != PH_TIMEOUT;
    default: return begin(rank, line, joint);
  }
}

bool Joints::may_make(ph_rank rank, const JointTeam& team) const {
  const auto& teams = seats_[rank].teams;
  if (team.parent != kNone)
    return team.parent == 0 || teams[team.parent].state != JointMade::State::unmade;
  return team.after == kNone || teams[team.after].state >= JointMade::State::absent;
}

ph_status Joints::make_once(ph_rank rank, std::uint32_t number, JointGroup& from,
                            std::int64_t limit_us) {
  const JointTeam& team = program_.joint_teams[number];
  if (team.is_shrunk) return shrink_once(rank, number, from, limit_us);
  JointMade& made = seats_[rank].teams[number];
  if (team.parent != kNone) {
    from = group_of(team.parent, rank);
    ph_team* const parent = handle_of(rank, team.parent);
    if (parent == nullptr) return PH_OK;
    return ph_team_split(parent, team.colours[rank], team.keys[rank], 0, &made.handle);
  }
  from = made.group;
  if (made.group.own == kNone) return PH_OK;
  ph_team_of_args args{};
  args.size = sizeof args;
  args.ranks = made.group.members.data();
  args.count = static_cast<std::uint32_t>(made.group.members.size());
  args.tag = team.tag;
  return ph_team_of(contexts_(rank), &args, 0, &made.handle);
}

// PH_TIMEOUT: later.
ph_status Joints::make(ph_rank rank, const Joint& joint, std::int64_t limit_us) {
  const JointTeam& team = program_.joint_teams[joint.team];
  if (!may_make(rank, team)) return PH_TIMEOUT;
  JointMade& made = seats_[rank].teams[joint.team];
  made.group = group_of(joint.team, rank);
  JointGroup from;
  const ph_status status = make_once(rank, joint.team, from, limit_us);
  if (status == PH_TIMEOUT || status == PH_AGAIN || oracle_.failed()) return PH_TIMEOUT;
  check_made(rank, joint.team, status, from);
  const bool is_split = team.parent != kNone && !team.is_shrunk;
  if (is_split && status == PH_OK) ++place(rank, team.parent).begun;
  made.state = made.handle == nullptr ? JointMade::State::absent : JointMade::State::alive;
  return PH_OK;
}

void Joints::check_made(ph_rank rank, std::uint32_t number, ph_status status,
                        const JointGroup& from) {
  const JointTeam& team = program_.joint_teams[number];
  const JointMade& made = seats_[rank].teams[number];
  const std::string whose =
      "rank " + std::to_string(rank) + ": the making of " + simtest::text_of(team) + " ";
  if (from.own == kNone) return;
  oracle_.note(rank, "team " + std::to_string(number) + " made = " + std::to_string(status));
  seats_[rank].teams[number].has_failed = status != PH_OK;
  const std::uint32_t whose_loss = team.parent == kNone ? number : team.parent;
  if (status != PH_OK && (team.is_shrunk || !may_fail(whose_loss, rank, status)))
    return oracle_.report("status", whose + "said " + std::to_string(status));
  const bool has_parent = team.parent == kNone || handle_of(rank, team.parent) != nullptr;
  const bool is_given = status == PH_OK && made.group.own != kNone && has_parent;
  if ((made.handle != nullptr) != is_given)
    return oracle_.report("unexpected", whose + "gave a team, or none, wrongly");
  if (!is_given) return;
  bool is_right = ph_team_size(made.handle) == made.group.members.size() &&
                  ph_team_rank(made.handle) == made.group.own;
  for (std::uint32_t i = 0; i < made.group.members.size(); ++i)
    is_right = is_right && ph_team_member(made.handle, i) == made.group.members[i];
  if (!is_right) oracle_.report("unexpected", whose + "gave other members");
}

// Whether nothing of the team is to be done or under way here, as far as is known.
bool Joints::is_free(ph_rank rank, std::uint32_t team) const {
  const JointSeat& seat = seats_[rank];
  for (std::uint32_t line = 0; line < program_.joint_lines.size(); ++line) {
    const JointLine& whole = program_.joint_lines[line];
    if (whole.team == team && line != team && place(rank, line).next < whole.joints.size())
      return false;
  }
  return std::none_of(seat.under_way.begin(), seat.under_way.end(),
                      [&](std::uint32_t number) { return doings_[number].team == team; });
}

// An operation without a completion may be under way.
bool Joints::free_team(ph_rank rank, const Joint& joint) {
  if (!is_free(rank, joint.team)) return false;
  JointMade& made = seats_[rank].teams[joint.team];
  const ph_status status = ph_team_free(made.handle);
  if (status == PH_ERR_STATE && made.has_silent) return false;
  oracle_.note(rank, "freed team " + std::to_string(joint.team) + " = " + std::to_string(status));
  if (status != PH_OK)
    oracle_.report("status", "rank " + std::to_string(rank) + ": the free of team " +
                                 std::to_string(joint.team) + " said " + std::to_string(status));
  made.state = JointMade::State::freed;
  made.handle = nullptr;
  return true;
}

// ---- its operations

bool Joints::begin(ph_rank rank, std::uint32_t line, const Joint& joint) {
  Doing& doing = doing_of(rank, line, joint);
  const ph_coll_args args = args_of(doing);
  began(doing);  // handlers may tell its end before the call returns
  const ph_status status = ph_coll_begin(handle_of(rank, doing.team), &args);
  if (status == PH_AGAIN) return come_again(doing);
  if (status != PH_OK) refused(doing, status);
  if (status == PH_OK) check_window(doing);
  if (status == PH_OK) over_at_once(doing);
  return true;
}

// By the call that waits, so long: a wait without a limit would outlast its rank, or a finding.
ph_status Joints::run(ph_rank rank, const Step& step) {
  const auto line = static_cast<std::uint32_t>(step.operand);
  const std::uint32_t team = program_.joint_lines[line].team;
  const auto limit_us = static_cast<std::int64_t>(step.time_ns / 1000);
  JointPlace& mine = place(rank, line);
  const Joint& joint = program_.joint_lines[line].joints[step.order];
  const bool is_there = team == 0 || seats_[rank].teams[team].state == JointMade::State::alive;
  const bool waits = joint.act == Act::begin || is_agreement(joint);
  if (mine.next != step.order || !waits || !is_there) return PH_AGAIN;
  if (std::exchange(seats_[rank].is_pumping, true)) return PH_AGAIN;
  if (joint.act != Act::begin) return agree(rank, line, joint, limit_us);
  Doing& doing = doing_of(rank, line, joint);
  doing.end = JointEnd::request;
  const ph_coll_args args = args_of(doing);
  began(doing);
  const ph_status status = ph_coll_run(handle_of(rank, team), &args, limit_us);
  seats_[rank].is_pumping = false;
  if (oracle_.failed()) return PH_AGAIN;
  if (status == PH_AGAIN) {
    come_again(doing);
    return status;
  }
  ++mine.next;
  if (status != PH_TIMEOUT) ended(doing, status);
  return status;
}

bool Joints::prepare(ph_rank rank, const Joint& joint) {
  Doing& doing = doing_of(rank, joint.line, joint);
  doing.is_prepared = true;
  JointPlace& mine = place(rank, joint.line);
  if (doing.is_promised()) ++seats_[rank].promises;
  const ph_coll_args args = args_of(doing);
  const ph_status status = ph_coll_prepare(handle_of(rank, doing.team), &args, &mine.coll);
  oracle_.note(rank, "prepared " + text_of(doing) + " = " + std::to_string(status));
  if (status != PH_OK && !may_fail(doing.team, rank, status))
    wrong("status", doing, "was refused with " + std::to_string(status) + " by prepare");
  mine.doing = doing.number;
  return true;
}

bool Joints::start(ph_rank rank, std::uint32_t line) {
  JointPlace& mine = place(rank, line);
  if (mine.doing == kNone) return false;  // it is not prepared yet
  if (mine.coll == nullptr) return true;
  Doing& doing = doings_[mine.doing];
  if (doing.state == State::under_way) return false;
  if (doing.is_poisoned) check_poison(doing);
  doing.call.number = doing.starts;
  fill(doing);
  began(doing);
  const ph_status status = ph_coll_start(mine.coll);
  if (status == PH_AGAIN) return come_again(doing);
  ++doing.starts;
  if (status != PH_OK) refused(doing, status);
  if (status == PH_OK) over_at_once(doing);
  return true;
}

bool Joints::free_prepared(ph_rank rank, std::uint32_t line) {
  JointPlace& mine = place(rank, line);
  if (mine.doing == kNone) return false;
  Doing& doing = doings_[mine.doing];
  if (doing.state == State::under_way) return false;
  if (doing.is_promised()) --seats_[rank].promises;
  if (mine.coll == nullptr) return true;
  const ph_status status = ph_coll_free(std::exchange(mine.coll, nullptr));
  if (status != PH_OK) wrong("status", doing, "was not freed: " + std::to_string(status));
  return true;
}

}  // namespace photon::simtest
