// What members of teams have agreed on, and whether it is what photon/team.h promises.
//
//   an agreement: called by each -- the first has its end --> known: all others get the same
//
// Who was never called counts as lost; who lives, and has its team, does not. The bits are those of
// all that survive, and of any that were lost after they had called. Owner: Joints. Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "simtest/oracle.hpp"

namespace photon::simtest {

// Line, place, and the first member of the team.
using JointAgreement = std::tuple<std::uint32_t, std::size_t, ph_rank>;

// What one member is told.
struct JointVerdict {
  std::uint64_t bits = 0;
  std::vector<ph_status> lost;  // by member
};

class JointVerdicts {
 public:
  explicit JointVerdicts(Oracle& oracle) : oracle_(oracle) {}

  void called(const JointAgreement& name, ph_rank rank, std::uint64_t bits);
  // `lacks`: by member, whether it has failed to make the team.
  void told(const JointAgreement& name, ph_rank rank, const std::vector<ph_rank>& members,
            const JointVerdict& verdict, const std::vector<bool>& lacks);

 private:
  struct Known {
    std::map<ph_rank, std::uint64_t> called;  // with these bits
    bool is_told = false;
    JointVerdict verdict;
  };

  std::string wrong_loss(const Known& known, ph_rank rank, ph_status status, bool lacks) const;
  static bool has_right_bits(const Known& known, const std::vector<ph_rank>& members,
                             const JointVerdict& verdict);

  Oracle& oracle_;
  std::map<JointAgreement, Known> all_;
};

}  // namespace photon::simtest
