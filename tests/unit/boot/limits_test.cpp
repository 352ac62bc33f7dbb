#include "boot/limits.hpp"

#include <gtest/gtest.h>

namespace photon::boot {
namespace {

TEST(BootLimits, a_message_may_be_as_large_as_allowed_and_not_larger) {
  EXPECT_TRUE(check_message({1, 2}, kMaxMessageBytes, kMaxMessageFds));
  EXPECT_EQ(check_message({1, 2}, kMaxMessageBytes + 1, 0).error().status, PH_ERR_ARGUMENT);
  EXPECT_EQ(check_message({1, 2}, 0, kMaxMessageFds + 1).error().status, PH_ERR_ARGUMENT);
  EXPECT_EQ(check_message({2, 2}, 0, 0).error().status, PH_ERR_RANK);
}

TEST(BootLimits, a_gather_may_be_as_large_as_allowed_and_not_larger) {
  EXPECT_TRUE(check_gather(kMaxGatherBytes, 3 * kMaxGatherBytes, 3));
  EXPECT_EQ(check_gather(kMaxGatherBytes + 1, 3 * (kMaxGatherBytes + 1), 3).error().status,
            PH_ERR_ARGUMENT);
  EXPECT_EQ(check_gather(8, 23, 3).error().status, PH_ERR_ARGUMENT);
}

TEST(BootLimits, a_full_queue_names_the_rank_and_is_no_failure) {
  EXPECT_EQ(queue_full(3).status, PH_AGAIN);
  EXPECT_EQ(queue_full(3).rank, 3u);
}

TEST(BootLimits, secrets_differ) { EXPECT_NE(*random_secret(), *random_secret()); }

}  // namespace
}  // namespace photon::boot
