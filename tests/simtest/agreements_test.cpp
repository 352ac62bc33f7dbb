// What members of teams agree on in random programs, and an oracle of that which is fed by hand.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fed_oracle.hpp"
#include "simtest/case.hpp"
#include "simtest/joint_verdicts.hpp"
#include "tests/simtest/brief.hpp"

namespace photon::simtest {
namespace {

const JointAgreement kOneAgreement{3, 1, 0};
const std::vector<ph_rank> kBothRanks{0, 1};

// Both ranks have called, with bits 12 and 10.
struct FedVerdicts : FedOracle {
  JointVerdicts verdicts{oracle};

  FedVerdicts() {
    verdicts.called(kOneAgreement, 0, 12);
    verdicts.called(kOneAgreement, 1, 10);
  }
  void tell(ph_rank rank, std::uint64_t bits, ph_status of_other) {
    std::vector<ph_status> lost(2, PH_OK);
    lost[1 - rank] = of_other;
    verdicts.told(kOneAgreement, rank, kBothRanks, {bits, lost}, {false, false});
  }
};

TEST(JointVerdicts, are_right_when_both_get_the_bits_of_both) {
  FedVerdicts one;
  one.tell(0, 8, PH_OK);
  one.tell(1, 8, PH_OK);
  EXPECT_EQ(one.finding(), "");
}

TEST(JointVerdicts, may_count_the_dead_or_not) {
  for (const std::uint64_t bits : {8u, 12u}) {
    FedVerdicts one;
    one.oracle.died(1);
    one.tell(0, bits, PH_ERR_PEER);
    EXPECT_EQ(one.finding(), "") << bits;
  }
}

TEST(JointVerdicts, find_bits_that_are_nobodys) {
  FedVerdicts of_one;
  of_one.tell(0, 12, PH_OK);
  EXPECT_EQ(of_one.finding(), "agreement");
  FedVerdicts of_none;
  of_none.oracle.died(1);
  of_none.tell(0, 4, PH_ERR_PEER);
  EXPECT_EQ(of_none.finding(), "agreement");
}

TEST(JointVerdicts, find_members_that_live_and_count_as_lost) {
  for (const ph_status status : {PH_ERR_PEER, PH_ERR_DEPARTED}) {
    FedVerdicts one;
    one.tell(0, 12, status);
    EXPECT_EQ(one.finding(), "agreement") << status;
  }
}

TEST(JointVerdicts, find_members_that_never_called_and_count_as_alive) {
  FedOracle one;
  JointVerdicts verdicts{one.oracle};
  verdicts.called(kOneAgreement, 0, 12);
  verdicts.told(kOneAgreement, 0, kBothRanks, {12, {PH_OK, PH_OK}}, {false, false});
  EXPECT_EQ(one.finding(), "agreement");
}

TEST(JointVerdicts, find_members_that_are_told_something_else) {
  FedVerdicts one;
  one.tell(0, 8, PH_OK);
  one.oracle.died(0);
  one.tell(1, 8, PH_ERR_PEER);
  EXPECT_EQ(one.finding(), "agreement");
}

Case agreeing_case(std::uint64_t seed, Profile profile) {
  Case one{seed, profile, 4, 200, {}};
  one.collectives = Collectives::all;
  return one;
}

std::size_t times_in(const std::string& history, const std::string& words) {
  std::size_t count = 0;
  for (std::size_t at = history.find(words); at != std::string::npos;
       at = history.find(words, at + 1))
    ++count;
  return count;
}

TEST(JointAgreements, find_who_lives_and_who_is_lost_in_ordinary_seeds) {
  for (const Profile profile : kProfiles) {
    std::size_t whole = 0, bereaved = 0, shrunk = 0;
    for (std::uint64_t seed = 1; seed <= seeds_of(60); ++seed) {
      const Case one = agreeing_case(seed, profile);
      const Result result = run_case(one, true);
      EXPECT_FALSE(result.finding) << seed << ": " << result.finding->text;
      const std::size_t all = times_in(result.history, "agreed on team");
      const std::size_t with_all = times_in(result.history, " live, 0 lost, bits");
      whole += with_all;
      bereaved += all - with_all;
      if (text_of(program_of(one)).find("what is left of team") != std::string::npos) ++shrunk;
    }
    if (kIsBrief) continue;
    for (const std::size_t count : {whole, bereaved, shrunk})
      EXPECT_GT(count, 10u) << kProfileNames[static_cast<int>(profile)] << ": " << whole << ", "
                            << bereaved << ", " << shrunk;
  }
}

}  // namespace
}  // namespace photon::simtest
