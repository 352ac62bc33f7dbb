#include "simtest/joint_verdicts.hpp"

namespace photon::simtest {

void JointVerdicts::called(const JointAgreement& name, ph_rank rank, std::uint64_t bits) {
  all_[name].called.emplace(rank, bits);
}

// Why a member cannot have been found so; nothing if it can.
std::string JointVerdicts::wrong_loss(const Known& known, ph_rank rank, ph_status status,
                                      bool lacks) const {
  const std::string whose = "rank " + std::to_string(rank);
  switch (status) {
    case PH_OK: return known.called.count(rank) != 0 ? "" : whose + " lives, and never called";
    case PH_ERR_PEER: return oracle_.is_dead(rank) ? "" : whose + " is dead, and lives";
    case PH_ERR_DEPARTED:
      return lacks || oracle_.is_leaving(rank) ? "" : whose + " has left, and is here";
    default: return whose + " is lost by status " + std::to_string(status);
  }
}

// Of those that were lost any may count. If these bits are right then with all that can have had a
// part in them.
bool JointVerdicts::has_right_bits(const Known& known, const std::vector<ph_rank>& members,
                                   const JointVerdict& verdict) {
  std::uint64_t bits = ~std::uint64_t{0};
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto one = known.called.find(members[i]);
    if (one == known.called.end()) continue;
    const bool may_count = (one->second & verdict.bits) == verdict.bits;
    if (verdict.lost[i] == PH_OK || may_count) bits &= one->second;
  }
  return bits == verdict.bits;
}

void JointVerdicts::told(const JointAgreement& name, ph_rank rank,
                         const std::vector<ph_rank>& members, const JointVerdict& verdict,
                         const std::vector<bool>& lacks) {
  Known& known = all_[name];
  const std::string whose = "rank " + std::to_string(rank) + ": the agreement of line " +
                            std::to_string(std::get<0>(name)) + " at " +
                            std::to_string(std::get<1>(name)) + " ";
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::string what = wrong_loss(known, members[i], verdict.lost[i], lacks[i]);
    if (!what.empty())
      return oracle_.report("agreement", std::string(whose).append("finds that ").append(what));
    if (members[i] == rank && verdict.lost[i] != PH_OK)
      return oracle_.report("agreement", whose + "counts its caller as lost");
  }
  if (!has_right_bits(known, members, verdict))
    return oracle_.report("agreement", whose + "gives the bits " + std::to_string(verdict.bits) +
                                           ", which are not those of its members");
  if (!known.is_told) {
    known.is_told = true;
    known.verdict = verdict;
  }
  if (known.verdict.bits != verdict.bits || known.verdict.lost != verdict.lost)
    oracle_.report("agreement", whose + "gives something else than another member has");
}

}  // namespace photon::simtest
