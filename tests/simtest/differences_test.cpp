// Members that call another operation than the others, in random programs.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simtest/case.hpp"
#include "simtest/joint_differences.hpp"
#include "tests/simtest/brief.hpp"

namespace photon::simtest {
namespace {

Joint bcast_of(std::uint32_t root) {
  Joint joint;
  joint.kind = PH_COLL_BCAST;
  joint.root = root;
  joint.count = 4;
  return joint;
}

TEST(JointDifferences, are_none_where_roots_are_the_same_member) {
  Joint joint = bcast_of(0);
  joint.other = {bcast_of(2)};
  joint.odd = 2;
  EXPECT_FALSE(has_difference(joint, {0, 1}));
  EXPECT_TRUE(has_difference(joint, {0, 1, 3}));
  EXPECT_FALSE(has_difference(joint, {0, 2, 3}));
  EXPECT_EQ(called_by(1, joint).root, 2u);
  EXPECT_EQ(called_by(3, joint).root, 0u);
}

TEST(JointDifferences, end_operations_and_nothing_else) {
  for (const Profile profile : kProfiles) {
    std::size_t refused = 0;
    for (std::uint64_t seed = 1; seed <= seeds_of(60); ++seed) {
      Case one{seed, profile, 4, 200, {}};
      one.collectives = Collectives::differing;
      const Result result = run_case(one, true);
      EXPECT_FALSE(result.finding) << seed << ": " << result.finding->text;
      const std::string words = " over = " + std::to_string(PH_ERR_ARGUMENT);
      for (std::size_t at = result.history.find(words); at != std::string::npos;
           at = result.history.find(words, at + 1))
        ++refused;
    }
    if (kIsBrief) continue;
    EXPECT_GT(refused, 50u) << kProfileNames[static_cast<int>(profile)];
  }
}

}  // namespace
}  // namespace photon::simtest
