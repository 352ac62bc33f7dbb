// What members of a team agree on, and the team of those that live.
#include <algorithm>
#include <utility>

#include "simtest/joint_runner.hpp"
#include "transport/sim/sim_random.hpp"

namespace photon::simtest {

namespace {

// Three of four are set.
std::uint64_t own_bits(const Joint& joint, ph_rank rank) {
  transport::sim::Random random = transport::sim::Random(joint.seed).stream(rank);
  const std::uint64_t some = random.next();
  return some | random.next();
}

}  // namespace

// The name of an agreement that this rank calls now, for the first time or again.
JointAgreement Joints::called(ph_rank rank, std::uint32_t line, std::size_t at,
                              std::uint64_t bits) {
  const std::uint32_t team = program_.joint_lines[line].team;
  const JointAgreement name{line, at, seats_[rank].teams[team].group.members[0]};
  if (!std::exchange(place(rank, line).is_called, true)) verdicts_.called(name, rank, bits);
  return name;
}

// It has its end here. Who was found lost stays so.
void Joints::agreed(ph_rank rank, const JointAgreement& name, std::uint32_t team,
                    std::uint64_t bits) {
  JointMade& made = seats_[rank].teams[team];
  JointVerdict verdict{bits, {}};
  std::vector<bool> lacks;
  const std::vector<ph_rank>& members = made.group.members;
  for (std::uint32_t i = 0; i < members.size(); ++i) {
    const JointMade& theirs = seats_[members[i]].teams[team];
    verdict.lost.push_back(ph_team_lost(made.handle, i));
    lacks.push_back(team != 0 && (theirs.has_failed || theirs.state == JointMade::State::unmade));
    if (!made.lost.empty() && made.lost[i] != PH_OK && made.lost[i] != verdict.lost[i])
      oracle_.report("agreement", "rank " + std::to_string(rank) + ": rank " +
                                      std::to_string(members[i]) + " is lost no more");
  }
  made.lost = verdict.lost;
  const auto found = std::count(verdict.lost.begin(), verdict.lost.end(), PH_OK);
  oracle_.note(rank, "agreed on team " + std::to_string(team) + ": " + std::to_string(found) +
                         " live, " + std::to_string(std::ssize(verdict.lost) - found) +
                         " lost, bits " + std::to_string(bits));
  verdicts_.told(name, rank, members, verdict, lacks);
}

// The bits of the first call count, and no others.
ph_status Joints::agree_on(ph_rank rank, std::uint32_t line, const Joint& joint,
                           std::int64_t limit_us) {
  JointPlace& mine = place(rank, line);
  const std::uint32_t team = program_.joint_lines[line].team;
  ph_team* const handle = handle_of(rank, team);
  if (handle == nullptr) return PH_OK;
  const std::uint64_t before = mine.is_called ? joint.seed : own_bits(joint, rank);
  const JointAgreement name = called(rank, line, mine.next, before);
  const std::string what = "rank " + std::to_string(rank) + ": team_agree of line " +
                           std::to_string(line) + " at " + std::to_string(mine.next);
  std::uint64_t bits = before;
  const ph_status status = ph_team_agree(handle, &bits, limit_us);
  if (oracle_.failed()) return PH_TIMEOUT;
  if (status != PH_OK && bits != before) oracle_.report("agreement", what + " changed its bits");
  if (status == PH_TIMEOUT) return status;
  mine.is_called = false;
  if (status == PH_OK)
    agreed(rank, name, team, bits);
  else
    oracle_.report("status", what + " said " + std::to_string(status));
  return PH_OK;
}

// Its members are those of the parent that the agreement has found alive.
ph_status Joints::shrink_once(ph_rank rank, std::uint32_t number, JointGroup& from,
                              std::int64_t limit_us) {
  const std::uint32_t parent = program_.joint_teams[number].parent;
  const auto [line, at] = made_at_[number];
  JointMade& made = seats_[rank].teams[number];
  from = seats_[rank].teams[parent].group;
  ph_team* const handle = handle_of(rank, parent);
  if (handle == nullptr) return PH_OK;
  const std::uint64_t all = ~std::uint64_t{0};
  const JointAgreement name = called(rank, line, at, all);
  const ph_status status = ph_team_shrink(handle, limit_us, &made.handle);
  if (status == PH_TIMEOUT || oracle_.failed()) {
    if (made.handle != nullptr) oracle_.report("unexpected", "team_shrink gave a team too early");
    return PH_TIMEOUT;
  }
  place(rank, line).is_called = false;
  if (status != PH_OK) return status;
  agreed(rank, name, parent, all);
  const std::vector<ph_status>& lost = seats_[rank].teams[parent].lost;
  for (std::uint32_t i = 0; i < from.members.size(); ++i) {
    if (i == from.own) made.group.own = static_cast<std::uint32_t>(made.group.members.size());
    if (lost[i] == PH_OK) made.group.members.push_back(from.members[i]);
  }
  return status;
}

// So long in the call. PH_TIMEOUT: it goes on.
ph_status Joints::agree(ph_rank rank, std::uint32_t line, const Joint& joint,
                        std::int64_t limit_us) {
  const ph_status status =
      joint.act == Act::make ? make(rank, joint, limit_us) : agree_on(rank, line, joint, limit_us);
  seats_[rank].is_pumping = false;
  if (oracle_.failed()) return PH_AGAIN;
  if (status != PH_TIMEOUT) ++place(rank, line).next;
  return status;
}

// What the end of a rank says of an operation that failed, and that nobody has heard of.
bool Joints::explains(const Endpoint& end, ph_status status) const {
  const auto& under_way = seats_[end.rank].under_way;
  return status == PH_ERR_ARGUMENT &&
         std::any_of(under_way.begin(), under_way.end(),
                     [&](std::uint32_t number) { return doings_[number].differs; });
}

}  // namespace photon::simtest
