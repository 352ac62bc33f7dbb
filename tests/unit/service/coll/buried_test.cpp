// What members do for a team that they have freed, and what bad peers may not do.
#include "many_members.hpp"

namespace photon::test {
namespace {

using service::coll::encode;
using service::coll::Head;
using service::coll::Op;

// Members 0 and 5 of 16 have no contact with each other: those between them have freed the team.
TEST(CollBuried, passes_word_of_a_death_on_after_the_team_is_freed) {
  constexpr Rank kDead = 15;
  ManyMembers members(16);
  const std::vector<Team*> teams = members.split();
  const auto args = coll_args(PH_COLL_BARRIER);
  std::vector<Operation*> ops(members.size());
  for (const Rank rank : {0U, 5U})
    ASSERT_EQ(members[rank].begin(*teams[rank], args, &ops[rank]), PH_OK);
  for (Rank rank = 0; rank < members.size(); ++rank)
    if (rank != 0 && rank != 5 && rank != kDead) {
      teams[rank]->history[0] = ops[0]->plan.described;  // as if they had made that call
      ++teams[rank]->channels.one_shot().begun;
      ASSERT_EQ(members[rank].free(*teams[rank]), PH_OK);
    }
  members.run(kDead);
  members.port(0).lose(kDead);
  members.run(kDead);
  for (const Rank rank : {0U, 5U}) {
    ASSERT_EQ(ops[rank]->state, OpState::over) << rank;
    EXPECT_EQ(members[rank].done(*ops[rank]), PH_ERR_PEER);
  }
}

TEST(CollBuried, tells_of_a_death_that_only_those_notice_who_have_freed_the_team) {
  constexpr Rank kDead = 15;
  ManyMembers members(16);
  const std::vector<Team*> teams = members.split();
  const auto args = coll_args(PH_COLL_BARRIER);
  Operation* op = nullptr;
  ASSERT_EQ(members[5].begin(*teams[5], args, &op), PH_OK);
  for (const Rank rank : {1U, 14U}) ASSERT_EQ(members[rank].free(*teams[rank]), PH_OK);
  members.run(kDead);
  members.port(14).lose(kDead);
  members.run(kDead);
  ASSERT_EQ(op->state, OpState::over);
  EXPECT_EQ(members[5].done(*op), PH_ERR_PEER);
}

TEST(CollBuried, leaves_nothing_of_many_teams_that_are_made_and_freed) {
  ManyMembers members(2);
  for (int i = 0; i < 200; ++i) {
    const std::vector<Team*> teams = members.split();
    EXPECT_EQ(teams[0]->slot, 1u) << "slots are used again";
    for (const Rank rank : {0U, 1U}) ASSERT_EQ(members[rank].free(*teams[rank]), PH_OK);
  }
}

TEST(CollBuried, uses_the_slot_that_was_freed_last_as_the_last) {
  ManyMembers members(2);
  std::vector<std::vector<Team*>> all;
  for (int i = 0; i < 3; ++i) all.push_back(members.split());
  for (const int i : {1, 0, 2})
    for (const Rank rank : {0U, 1U}) ASSERT_EQ(members[rank].free(*all[i][rank]), PH_OK);
  for (const std::uint32_t slot : {2U, 1U, 3U}) EXPECT_EQ(members.split()[0]->slot, slot);
}

TEST(CollBuried, cuts_off_a_peer_that_sends_more_than_its_grant) {
  Members members(4096);
  const auto send = [&](std::uint32_t sequence) {
    const Head head{static_cast<std::uint8_t>(Op::payload), {0, 0, 0, sequence, 0}, 0};
    const auto words = encode(head);
    return members.port(0).deliver(
        {1, words_of({words[0], words[1], words[2]}), Bytes(64), {}, 0, 0});
  };
  for (std::uint32_t i = 0; i < 4096 / 128; ++i) EXPECT_TRUE(send(i)) << i;
  EXPECT_EQ(members.port(0).state(1), PH_OK);
  send(100);
  EXPECT_EQ(members.port(0).state(1), PH_ERR_PROTOCOL);
  EXPECT_EQ(members.port(0).state(2), PH_OK);
}

TEST(CollBuried, cuts_off_a_peer_that_comes_early_to_too_many_teams) {
  Members members;
  for (std::uint64_t i = 0;; ++i) {
    ASSERT_LE(i, 4096u);
    if (!members.port(0).deliver(
            {1, words_of({static_cast<std::uint64_t>(Op::meet), 7'000'000 + i, 1}), {}, {}, 0, 0}))
      break;
    ASSERT_TRUE(i >= 4000 ||
                members.port(0).deliver(
                    {2, words_of({static_cast<std::uint64_t>(Op::meet), i, 1}), {}, {}, 0, 0}));
  }
  EXPECT_EQ(members.port(0).state(1), PH_ERR_PROTOCOL);
  EXPECT_EQ(members.port(0).state(2), PH_OK);
}

}  // namespace
}  // namespace photon::test
