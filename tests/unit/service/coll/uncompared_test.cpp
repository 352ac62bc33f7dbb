// Calls that are compared with those of members that come to them much later.
#include "service/coll/uncompared.hpp"

#include "coll_unit.hpp"

namespace photon::test {
namespace {

using service::coll::Described;
using service::coll::Uncompared;

Described call_of(std::uint32_t number) {
  Described call;
  call.number = number;
  return call;
}

// The number of the call; 0: it is not there.
std::uint32_t taken(Uncompared& all, std::uint32_t channel, std::uint32_t sequence) {
  Described call;
  return all.take(channel, sequence, call) ? call.number : 0;
}

TEST(CollUncompared, gives_each_call_once_in_any_order) {
  Uncompared all;
  for (std::uint32_t i = 0; i < 10; ++i) all.add(i % 2, i, call_of(i + 1));
  EXPECT_EQ(taken(all, 0, 4), 5u);
  EXPECT_EQ(taken(all, 0, 4), 0u);
  EXPECT_EQ(taken(all, 0, 5), 0u) << "another channel's";
  for (std::uint32_t i = 0; i < 10; ++i) EXPECT_EQ(taken(all, i % 2, i), i == 4 ? 0 : i + 1);
  EXPECT_TRUE(all.empty());
}

TEST(CollUncompared, forgets_the_oldest_beyond_its_bound) {
  Uncompared all;
  for (std::uint32_t i = 0; i <= Uncompared::kMost; ++i) all.add(0, i, call_of(i + 1));
  EXPECT_EQ(taken(all, 0, 0), 0u);
  EXPECT_EQ(taken(all, 0, 1), 2u);
  for (std::uint32_t i = 2; i <= Uncompared::kMost; ++i) all.drop(0, i);
  EXPECT_TRUE(all.empty());
}

// Members gather at member 0, and check their calls: but member 2 gathers at member 1.
struct Gathers {
  static base::Config settings() {
    base::Config all;
    all.coll_check = base::Switch::on;
    all.coll_window = 1;
    return all;
  }
  ph_coll_args gather(Rank rank, std::uint32_t root) {
    auto args = coll_args(PH_COLL_GATHER);
    args.in = &in[rank];
    args.out = out[rank].data();
    args.root = root;
    args.count = 1;
    args.type = PH_INT64;
    return args;
  }
  void begin(Team& team, Rank rank, std::uint32_t root) {
    ASSERT_EQ(members[rank].begin(team, gather(rank, root), &ops[rank]), PH_OK);
  }
  // It is over before the others have begun.
  void pass(Team& team, Rank rank, std::uint32_t root) {
    begin(team, rank, root);
    ASSERT_EQ(ops[rank]->state, OpState::over) << rank;
    ASSERT_EQ(members[rank].done(*ops[rank]), PH_OK) << rank;
  }
  // The root, which begins last.
  void expect_told(Team& root, const std::string& other) {
    begin(root, 0, 0);
    ASSERT_EQ(ops[0]->state, OpState::over);
    EXPECT_EQ(members[0].done(*ops[0]), PH_ERR_ARGUMENT);
    const std::string& words = members.port(0).last_error().what;
    EXPECT_NE(words.find("member 3 (rank 3) has begun gather of 1 int64 with root 0"),
              std::string::npos)
        << words;
    EXPECT_NE(words.find(other), std::string::npos) << words;
  }

  Members members{settings()};
  std::array<Operation*, kAllMembers> ops{};
  std::array<std::int64_t, kAllMembers> in{};
  std::array<std::array<std::int64_t, kAllMembers>, kAllMembers> out{};
};

TEST(CollUncompared, are_found_however_far_the_next_member_has_gone_on) {
  Gathers all;
  for (int i = 0; i < 6; ++i) all.pass(all.members.world(3), 3, 0);
  all.pass(all.members.world(2), 2, 1);
  all.members.run();
  all.expect_told(all.members.world(0), "and member 2 (rank 2) gather of 1 int64 with root 1");
}

TEST(CollUncompared, name_a_member_that_has_forgotten_its_call) {
  Gathers all;
  for (int i = 0; i < 6; ++i) all.pass(all.members.world(3), 3, 0);
  for (const std::uint32_t root : {1U, 0U, 0U}) all.pass(all.members.world(2), 2, root);
  all.members.run();
  all.expect_told(all.members.world(0), "and member 2 (rank 2) something else that it has");
}

TEST(CollUncompared, are_found_when_the_prepared_operation_is_freed) {
  Gathers all;
  std::array<Operation*, kAllMembers> prepared{};
  for (Rank rank = 0; rank < kAllMembers; ++rank) {
    auto args = all.gather(rank, rank == 2 ? 1 : 0);
    args.flags = PH_NO_LCE;
    ASSERT_EQ(all.members[rank].prepare(all.members.world(rank), args, prepared[rank]), PH_OK);
  }
  for (const Rank rank : {3U, 2U}) {
    ASSERT_EQ(all.members[rank].start(*prepared[rank]), PH_OK);
    ASSERT_EQ(prepared[rank]->blame.status, PH_OK);
    ASSERT_EQ(all.members[rank].free(*prepared[rank]), PH_OK);
  }
  all.members.run();
  ASSERT_EQ(all.members[0].start(*prepared[0]), PH_OK);
  EXPECT_EQ(prepared[0]->state, OpState::over);
  EXPECT_EQ(prepared[0]->blame.status, PH_ERR_ARGUMENT);
  for (const Rank rank : {0U, 1U}) EXPECT_EQ(all.members[rank].free(*prepared[rank]), PH_OK);
  all.members.expect_nothing_held();
}

// Its slot is given to no other team meanwhile.
TEST(CollUncompared, are_found_when_the_team_is_freed_and_others_are_made) {
  Gathers all;
  const auto split = [&](std::array<Team*, kAllMembers>& made) {
    for (int calls = 0; calls < 2; ++calls, all.members.run())
      for (Rank rank = 0; rank < kAllMembers; ++rank)
        if (made[rank] == nullptr)
          static_cast<void>(all.members[rank].split(all.members.world(rank), 0, rank, made[rank]));
    for (Rank rank = 0; rank < kAllMembers; ++rank) ASSERT_NE(made[rank], nullptr) << rank;
  };
  std::array<Team*, kAllMembers> made{}, next{};
  split(made);
  all.pass(*made[3], 3, 0);
  ASSERT_EQ(all.members[3].free(*made[3]), PH_OK);
  split(next);
  EXPECT_NE(next[3]->slot, made[3]->slot);
  all.pass(*made[2], 2, 1);
  all.members.run();
  all.expect_told(*made[0], "and member 2 (rank 2) gather of 1 int64 with root 1");
}

}  // namespace
}  // namespace photon::test
