#include "service/coll/channels.hpp"

#include "coll_unit.hpp"
#include "shortage.hpp"

namespace photon::test {
namespace {

using service::coll::Channels;

TEST(CollChannels, finds_what_was_made_and_forgets_what_was_freed) {
  Channels channels;
  EXPECT_NE(channels.find(0), nullptr);
  EXPECT_EQ(channels.find(1), nullptr);
  channels.make(1).begun = 5;
  channels.make(100).begun = 7;
  EXPECT_EQ(channels.find(1)->begun, 5u);
  EXPECT_EQ(&channels.make(1), channels.find(1));
  channels.free(1);
  channels.free(1);
  EXPECT_EQ(channels.find(1), nullptr);
  EXPECT_EQ(channels.find(100)->begun, 7u);
  std::vector<std::uint32_t> seen;
  channels.for_each([&](std::uint32_t number, auto& channel) {
    if (channel.begun != 0) seen.push_back(number);
  });
  EXPECT_EQ(seen, std::vector<std::uint32_t>({100}));
}

// A message for one far ahead makes its page alone; the pages between are not over by that.
TEST(CollChannels, gives_the_memory_of_freed_numbers_back) {
  Channels channels;
  channels.make(5000).begun = 3;
  for (std::uint32_t number = 1; number <= 4000; ++number) {
    channels.make(number);
    channels.free(number);
    EXPECT_EQ(channels.find(number), nullptr);
  }
  EXPECT_LE(channels.pages_count(), 5000u / 32 + 1 - 4000 / 32);
  ASSERT_NE(channels.find(5000), nullptr);
  EXPECT_EQ(channels.find(5000)->begun, 3u);
  channels.make(4500).begun = 4;
  EXPECT_EQ(channels.find(4500)->begun, 4u);
  EXPECT_EQ(channels.find(17), nullptr);
}

TEST(CollChannels, prepares_a_hundred_thousand_in_the_memory_of_one) {
  Members members;
  auto args = coll_args(PH_COLL_BARRIER);
  args.flags = PH_NO_LCE;
  for (int i = 0; i < 100'000; ++i) {
    Operation* op = nullptr;
    ASSERT_EQ(members[0].prepare(members.world(0), args, op), PH_OK);
    ASSERT_EQ(members[0].free(*op), PH_OK);
  }
  EXPECT_LE(members.world(0).channels.pages_count(), 1u);
}

TEST(CollChannels, answers_at_its_free_what_came_early_for_a_prepared_operation) {
  Members members;
  std::vector<std::int64_t> bytes(5000);
  auto args = coll_args(PH_COLL_BCAST);
  args.out = bytes.data(), args.count = bytes.size(), args.type = PH_INT64;
  args.flags = PH_NO_LCE;
  std::array<Operation*, 2> ops{};
  for (const Rank rank : {0U, 1U})
    ASSERT_EQ(members[rank].prepare(members.world(rank), args, ops[rank]), PH_OK);
  ASSERT_EQ(members[0].start(*ops[0]), PH_OK);
  members.run();
  EXPECT_NE(members[1].held(), 0u) << "the note waits";
  ASSERT_EQ(members[1].free(*ops[1]), PH_OK);
  EXPECT_EQ(members[1].held(), 0u);
  members.run();
  EXPECT_EQ(ops[0]->state, OpState::over) << "its bytes are its own again";
  EXPECT_EQ(ops[0]->blame.status, PH_ERR_ARGUMENT);
}

}  // namespace
}  // namespace photon::test
