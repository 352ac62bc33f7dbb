#include "transport/network/own_side.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace photon::transport::network {
namespace {

TEST(CarriedOwnSide, has_registrations_of_its_own_or_those_that_it_was_given) {
  OwnSide own;
  ASSERT_TRUE(own.open({}, 16));
  EXPECT_EQ(own.regions().size(), 16u);
  sync::RegionView view;
  EXPECT_FALSE(own.regions()[3].read(3, view));

  std::vector<RegionEntry> others(8);
  OwnSide lender;
  ASSERT_TRUE(lender.open(others, others.size()));
  EXPECT_EQ(lender.regions().data(), others.data());
  EXPECT_EQ(lender.regions().size(), others.size());
}

TEST(CarriedOwnSide, opens_no_more_lanes_than_it_may_until_one_is_given_back) {
  OwnSide own;
  EXPECT_TRUE(own.take_lane(2));
  EXPECT_TRUE(own.take_lane(2));
  const auto third = own.take_lane(2);
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().status, PH_ERR_MEMORY);
  EXPECT_EQ(third.error().what,
            "all 2 lanes are open, the context's own included; close one or raise "
            "PHOTON_MAX_LANES");
  own.give_lane_back();
  EXPECT_TRUE(own.take_lane(2));
}

}  // namespace
}  // namespace photon::transport::network
