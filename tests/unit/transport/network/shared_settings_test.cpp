#include "transport/network/shared_settings.hpp"

#include <gtest/gtest.h>

namespace photon::transport::network {
namespace {

TEST(SharedSettings, that_differ_are_named_with_both_values) {
  const SharedSettings mine = shared_settings(base::Config{}, 4);
  EXPECT_TRUE(check_settings(mine, shared_settings(base::Config{}, 4)));
  SharedSettings other = mine;
  other.ring_lines = 4711;
  const auto same = check_settings(mine, other);
  ASSERT_FALSE(same);
  EXPECT_EQ(same.error().status, PH_ERR_BOOTSTRAP);
  EXPECT_NE(same.error().what.find("ring_lines"), std::string::npos) << same.error().what;
  EXPECT_NE(same.error().what.find("4711"), std::string::npos);
  EXPECT_NE(same.error().what.find("512"), std::string::npos);
}

TEST(SharedSettings, of_jobs_of_other_sizes_differ) {
  EXPECT_FALSE(
      check_settings(shared_settings(base::Config{}, 4), shared_settings(base::Config{}, 5)));
}

}  // namespace
}  // namespace photon::transport::network
