#include "service/coll/channels.hpp"

#include <gtest/gtest.h>

#include "coll_unit.hpp"

namespace photon::test {
namespace {

using service::coll::Channels;

TEST(CollChannels, are_numbered_in_the_order_of_prepare) {
  Channels channels;
  EXPECT_EQ(channels.find(0), &channels.one_shot());
  EXPECT_EQ(channels.find(1), nullptr);
  EXPECT_EQ(channels.prepare(), 1u);
  EXPECT_EQ(channels.prepare(), 2u);
  ASSERT_NE(channels.find(2), nullptr);
  EXPECT_FALSE(channels.is_gone(2));
  EXPECT_FALSE(channels.is_gone(3));
  EXPECT_EQ(channels.age_of(1), 1u);
}

TEST(CollChannels, keep_what_came_for_those_that_are_prepared_later) {
  Channels channels;
  ASSERT_NE(channels.reach(5), nullptr);
  channels.reach(5)->early.push({7});
  for (std::uint32_t number = 1; number <= 5; ++number) EXPECT_EQ(channels.prepare(), number);
  ASSERT_EQ(channels.find(5)->early.size(), 1u);
  EXPECT_EQ(channels.find(5)->early.front().first, 7u);
  EXPECT_TRUE(channels.find(4)->early.empty());
  EXPECT_EQ(channels.reach(6 + Channels::kMostAhead), nullptr) << "it is too far ahead";
  EXPECT_FALSE(channels.is_gone(6 + Channels::kMostAhead));
}

TEST(CollChannels, know_those_that_are_gone_and_keep_nothing_of_them) {
  Channels channels;
  for (std::uint32_t number = 1; number <= 100000; ++number) {
    ASSERT_EQ(channels.prepare(), number);
    channels.find(number)->begun = number;
    if (number > 3) {
      channels.free(number - 2);
    }
  }
  std::vector<std::uint32_t> kept;
  channels.each([&](std::uint32_t number, const auto&) { kept.push_back(number); });
  EXPECT_EQ(kept.front(), 0u);
  EXPECT_EQ(kept.back(), 100000u);
  EXPECT_TRUE(channels.is_gone(50000));
  EXPECT_EQ(channels.find(50000), nullptr);
  EXPECT_EQ(channels.reach(50000), nullptr);
  EXPECT_EQ(channels.find(1)->begun, 1u) << "an old one stays as long as it is used";
  channels.free(1);
  kept.clear();
  channels.each([&](std::uint32_t number, const auto&) { kept.push_back(number); });
  EXPECT_EQ(kept, (std::vector<std::uint32_t>{0, 99999, 100000}));
  EXPECT_EQ(channels.find(99999)->begun, 99999u);
}

TEST(CollChannels, begin_again_at_one_when_the_numbers_are_used_up) {
  Channels channels(0xffff'fffd);
  EXPECT_EQ(channels.prepare(), 0xffff'fffeu);
  EXPECT_EQ(channels.prepare(), 0xffff'ffffu);
  channels.reach(1)->early.push({9});
  EXPECT_EQ(channels.prepare(), 1u);
  EXPECT_EQ(channels.find(1)->early.size(), 1u);
  channels.free(0xffff'fffe);
  channels.free(0xffff'ffff);
  EXPECT_TRUE(channels.is_gone(0xffff'ffff));
  EXPECT_FALSE(channels.is_gone(2));
  EXPECT_EQ(channels.age_of(0xffff'ffff), 1u);
  EXPECT_EQ(channels.prepare(), 2u);
  EXPECT_NE(channels.find(1), nullptr);
}

// All start an operation that was prepared as another one.
TEST(CollChannels, are_places_for_arguments_that_are_known_later) {
  Members members;
  std::vector<Sum> sums;
  std::array<Operation*, Members::kCount> ops{};
  auto place = coll_args(PH_COLL_BARRIER);
  place.flags = PH_NO_LCE;
  for (Rank rank = 0; rank < Members::kCount; ++rank) sums.emplace_back(4000, rank);
  for (Rank rank = 0; rank < Members::kCount; ++rank) {
    sums[rank].args.flags = PH_NO_LCE;
    ASSERT_EQ(members[rank].prepare(members.world(rank), place, ops[rank]), PH_OK);
    auto wrong = sums[rank].args;
    wrong.op = static_cast<ph_op>(99);
    EXPECT_EQ(members[rank].change(*ops[rank], wrong), PH_ERR_ARGUMENT);
    EXPECT_EQ(members[rank].change(*ops[rank], sums[rank].args), PH_OK);
    ASSERT_EQ(members[rank].start(*ops[rank]), PH_OK);
    EXPECT_EQ(members[rank].change(*ops[rank], place), PH_ERR_STATE);
  }
  members.run();
  for (Rank rank = 0; rank < Members::kCount; ++rank) {
    EXPECT_EQ(sums[rank].out[1], 10);
    EXPECT_EQ(members[rank].free(*ops[rank]), PH_OK);
  }
  members.expect_nothing_held();
}

// Member 0 frees what all others start: their notes are answered, before and after.
TEST(CollChannels, refuse_what_comes_for_one_that_is_freed) {
  Members members;
  std::vector<Sum> sums;
  std::array<Operation*, Members::kCount> ops{};
  for (Rank rank = 0; rank < Members::kCount; ++rank) sums.emplace_back(4000, rank);
  for (Rank rank = 0; rank < Members::kCount; ++rank) {
    sums[rank].args.flags = PH_NO_LCE;
    ASSERT_EQ(members[rank].prepare(members.world(rank), sums[rank].args, ops[rank]), PH_OK);
  }
  for (Rank rank = 1; rank < Members::kCount; ++rank) {
    ASSERT_EQ(members[rank].start(*ops[rank]), PH_OK);
    if (rank == 1) members.run();
    if (rank == 1) {
      ASSERT_EQ(members[0].free(*ops[0]), PH_OK);
    }
  }
  members.run();
  for (Rank rank = 1; rank < Members::kCount; ++rank) {
    EXPECT_EQ(ops[rank]->state, OpState::over) << rank;
    EXPECT_EQ(ops[rank]->blame.status, PH_ERR_ARGUMENT) << rank;
    EXPECT_EQ(members[rank].free(*ops[rank]), PH_OK);
  }
  members.expect_nothing_held();
}

}  // namespace
}  // namespace photon::test
