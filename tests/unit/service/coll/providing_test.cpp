#include "service/coll/providing.hpp"

#include "scripted_provider.hpp"

namespace photon::test {
namespace {

TEST(CollProviding, asks_a_provider_until_it_says_that_it_is_over) {
  ProvidedMembers all;
  all.begin_barrier();
  all.run();
  for (Scripted& script : all.scripts) {
    EXPECT_EQ(script.joined, 1);
    ASSERT_EQ(script.calls.size(), 1u);
    EXPECT_EQ(script.calls[0].kind, PH_COLL_BARRIER);
    EXPECT_EQ(script.calls[0].team_count, 4u);
    EXPECT_GE(script.advanced, 1);
    script.advance_says = PH_OK;
  }
  EXPECT_EQ(all.ops[0]->state, OpState::running);
  all.run();
  for (Rank rank = 0; rank < Members::kCount; ++rank) {
    EXPECT_EQ(all.ops[rank]->state, OpState::over);
    EXPECT_EQ(all.members[rank].done(*all.ops[rank]), PH_OK);
  }
  all.begin_barrier();
  all.run();
  EXPECT_EQ(all.scripts[0].joined, 1) << "once for each team";
  EXPECT_EQ(all.scripts[0].calls[1].sequence, 1u);
  for (Rank rank = 0; rank < Members::kCount; ++rank)
    EXPECT_EQ(all.members[rank].done(*all.ops[rank]), PH_OK);
  all.members.expect_nothing_held();
}

TEST(CollProviding, leaves_to_the_library_what_it_does_not_take) {
  ProvidedMembers all;
  std::vector<Sum> sums;
  for (Rank rank = 0; rank < Members::kCount; ++rank) sums.emplace_back(3, rank);
  for (Rank rank = 0; rank < Members::kCount; ++rank)
    ASSERT_EQ(all.members[rank].begin(all.members.world(rank), sums[rank].args), PH_OK);
  all.run();
  for (const Sum& sum : sums) EXPECT_EQ(sum.out[1], 10);
  EXPECT_EQ(all.scripts[0].joined, 0);
}

TEST(CollProviding, fails_everywhere_what_one_member_cannot_do_and_calls_the_others_off) {
  ProvidedMembers all;
  all.begin_barrier();
  all.run();
  all.scripts[2].advance_says = PH_ERR_SYSTEM;
  for (Scripted& script : all.scripts) script.cancel_says = PH_AGAIN;
  all.run();
  EXPECT_EQ(all.scripts[2].cancelled, 0) << "it is over there";
  EXPECT_EQ(all.ops[2]->state, OpState::over);
  for (const Rank rank : {0U, 1U, 3U}) {
    EXPECT_EQ(all.ops[rank]->state, OpState::failing) << "its buffers may be in use";
    EXPECT_GE(all.scripts[rank].cancelled, 1);
    all.scripts[rank].cancel_says = PH_OK;
  }
  all.run();
  for (Rank rank = 0; rank < Members::kCount; ++rank)
    EXPECT_EQ(all.members[rank].done(*all.ops[rank]), PH_ERR_SYSTEM) << rank;
  all.members.expect_nothing_held();
}

// At the others it may have begun, or not.
TEST(CollProviding, fails_everywhere_what_one_member_cannot_begin_or_join) {
  for (const bool at_join : {false, true}) {
    ProvidedMembers all;
    (at_join ? all.scripts[1].join_says : all.scripts[1].begin_says) = PH_ERR_SYSTEM;
    all.begin_barrier();
    all.run();
    EXPECT_EQ(all.scripts[1].advanced, 0);
    for (Rank rank = 0; rank < Members::kCount; ++rank) {
      ASSERT_EQ(all.ops[rank]->state, OpState::over) << rank;
      EXPECT_EQ(all.members[rank].done(*all.ops[rank]), PH_ERR_SYSTEM) << rank;
    }
    all.members.expect_nothing_held();
  }
}

// One that is not ready yet is asked again.
TEST(CollProviding, begins_later_what_a_provider_cannot_begin_now) {
  ProvidedMembers all;
  for (Scripted& script : all.scripts) script.begin_says = PH_AGAIN;
  all.begin_barrier();
  all.run();
  EXPECT_EQ(all.ops[0]->state, OpState::running);
  EXPECT_EQ(all.scripts[0].advanced, 0);
  for (Scripted& script : all.scripts) script.begin_says = script.advance_says = PH_OK;
  all.run();
  for (Rank rank = 0; rank < Members::kCount; ++rank)
    EXPECT_EQ(all.members[rank].done(*all.ops[rank]), PH_OK);
}

TEST(CollProviding, calls_off_what_a_dead_member_was_in) {
  ProvidedMembers all;
  all.begin_barrier();
  all.run();
  all.members.kill(1);
  all.run();
  for (const Rank rank : {0U, 2U, 3U}) {
    EXPECT_EQ(all.scripts[rank].cancelled, 1);
    EXPECT_EQ(all.members[rank].done(*all.ops[rank]), PH_ERR_PEER);
  }
}

TEST(CollProviding, ends_with_its_lane) {
  ProvidedMembers all;
  all.begin_barrier();
  all.run();
  all.scripts[0].cancel_says = PH_AGAIN;
  all.members[0].close();
  EXPECT_EQ(all.scripts[0].cancelled, 1);
  EXPECT_EQ(all.ops[0]->state, OpState::over);
  EXPECT_EQ(all.members[0].done(*all.ops[0]), PH_ERR_DEPARTED);
}

TEST(CollProviding, leaves_a_team_when_it_is_freed_or_the_lane_ends) {
  std::array<Scripted, Members::kCount> scripts;
  {
    Members members;
    for (Rank rank = 0; rank < Members::kCount; ++rank) {
      members.port(rank).settings.coll = base::word("scripted");
      scripts[rank].advance_says = PH_OK;
      ASSERT_EQ(members[rank].add_provider(nullptr, scripts[rank].table), PH_OK);
    }
    std::array<Team*, Members::kCount> teams{};
    for (int look = 0; look < 2; ++look) {
      for (Rank rank = 0; rank < Members::kCount; ++rank)
        ASSERT_EQ(members[rank].split(members.world(rank), 0, 0, teams[rank]),
                  look == 0 ? PH_TIMEOUT : PH_OK);
      members.run();
    }
    auto args = coll_args(PH_COLL_BARRIER);
    args.flags = PH_NO_LCE;
    for (Rank rank = 0; rank < Members::kCount; ++rank) {
      ASSERT_EQ(members[rank].begin(*teams[rank], args), PH_OK);
      ASSERT_EQ(members[rank].begin(members.world(rank), args), PH_OK);
    }
    members.run();
    for (Rank rank = 0; rank < Members::kCount; ++rank) {
      EXPECT_EQ(scripts[rank].joined, 2);
      EXPECT_EQ(members[rank].free(*teams[rank]), PH_OK);
    }
    members.run();
    EXPECT_EQ(scripts[0].left, 1);
  }
  EXPECT_EQ(scripts[0].left, 2);
}

TEST(CollProviding, is_chosen_by_name_before_the_first_team) {
  Members members;
  Scripted one("one"), two("two"), own("default"), nameless("");
  members.port(0).settings.coll = base::word("three");
  EXPECT_EQ(members[0].add_provider(nullptr, one.table), PH_OK);
  EXPECT_EQ(members[0].add_provider(nullptr, one.table), PH_ERR_ARGUMENT);
  EXPECT_EQ(members[0].add_provider(nullptr, own.table), PH_ERR_ARGUMENT);
  EXPECT_EQ(members[0].add_provider(nullptr, nameless.table), PH_ERR_ARGUMENT);
  two.table.cancel = nullptr;
  EXPECT_EQ(members[0].add_provider(nullptr, two.table), PH_ERR_ARGUMENT);
  Team* team = nullptr;
  EXPECT_EQ(members[0].world(team), PH_ERR_ARGUMENT);
  const std::string& words = members.port(0).last_error().what;
  EXPECT_NE(words.find("\"three\", which is no provider here; known: default, one"),
            std::string::npos)
      << words;
  Scripted three("three");
  EXPECT_EQ(members[0].add_provider(nullptr, three.table), PH_OK) << "there is no team yet";
  EXPECT_EQ(members[0].world(team), PH_OK);
  Scripted late("late");
  EXPECT_EQ(members[0].add_provider(nullptr, late.table), PH_ERR_STATE);
}

}  // namespace
}  // namespace photon::test
