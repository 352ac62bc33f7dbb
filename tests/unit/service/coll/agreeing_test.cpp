#include "service/coll/agreeing.hpp"

#include <random>

#include "agreement_play.hpp"
#include "rounds.hpp"

namespace photon::test {
namespace {

using Death = AgreementPlay::Death;

Choose at_random(std::uint32_t seed) {
  auto random = std::make_shared<std::mt19937>(seed);
  return [random](std::size_t count) { return (*random)() % count; };
}

std::string text(std::uint32_t seed, const std::string& calls, const std::vector<Death>& deaths) {
  std::string all = "seed " + std::to_string(seed) + " of " + calls;
  for (const Death& death : deaths)
    all += ", " + std::to_string(death.who) + " at " + std::to_string(death.step) + " by " +
           std::to_string(death.why);
  return all;
}

void expect_agreement(std::uint32_t seed, const std::string& calls,
                      const std::vector<Death>& deaths) {
  AgreementPlay play(at_random(seed), calls, deaths);
  play.run();
  play.expect_one_answer(text(seed, calls, deaths));
}

TEST(CollAgreeing, gives_all_members_the_bits_that_all_have_set) {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    AgreementPlay play(at_random(seed), "aa");
    play.run();
    play.expect_one_answer("nobody dies");
    std::uint64_t both[2] = {~std::uint64_t{0}, ~std::uint64_t{0}};
    for (Rank rank = 0; rank < AgreementPlay::kCount; ++rank)
      for (std::uint32_t call = 0; call < 2; ++call) both[call] &= play.bits_of(rank, call);
    EXPECT_EQ(play.answers(0).at(0).bits, both[0]);
    EXPECT_EQ(play.answers(3).at(1).bits, both[1]);
    play.members().expect_nothing_held();
  }
}

TEST(CollAgreeing, gives_all_survivors_one_answer_whoever_dies_at_whatever_step) {
  for (const std::string calls : {"aa", "as", "sa"}) {
    AgreementPlay whole(at_random(1), calls);
    whole.run();
    for (std::uint32_t seed = 0; seed < rounds(8); ++seed)
      for (std::size_t step = 0; step <= whole.steps() + 2; ++step)
        for (Rank who = 0; who < AgreementPlay::kCount; ++who)
          for (const ph_status why : {PH_ERR_PEER, PH_ERR_DEPARTED}) {
            expect_agreement(seed * 100 + who, calls, {{step, who, why}});
            if (HasFatalFailure()) return;
          }
  }
}

TEST(CollAgreeing, gives_the_last_survivors_one_answer_when_leader_after_leader_dies) {
  AgreementPlay whole(at_random(1), "aa");
  whole.run();
  std::mt19937 random(4711);
  for (std::uint32_t seed = 0; seed < rounds(6000); ++seed) {
    std::vector<Death> deaths;
    for (Rank who = 0; who < 2 + seed % 2; ++who)
      deaths.push_back({random() % (whole.steps() + 10), seed % 3 == 0 ? 3 - who : who,
                        random() % 3 == 0 ? PH_ERR_DEPARTED : PH_ERR_PEER});
    expect_agreement(seed, seed % 2 == 0 ? "aa" : "as", deaths);
    if (HasFatalFailure()) return;
  }
}

// Every order of the messages of two members, one of which may die at every step (under a sanitizer
// at every fifth); of three, those orders that differ in their last steps.
TEST(CollAgreeing, agrees_in_every_order_of_messages) {
  constexpr int kMost = rounds(600);
  for (const bool are_two : {true, false})
    for (std::size_t step = 0; step < 24; step += rounds(1, 5))
      for (const Rank who : {0U, 1U}) {
        AllChoices choices;
        int runs = 0;
        bool is_more = true;
        for (; is_more && runs < (are_two ? 100'000 : kMost); ++runs) {
          AgreementPlay play([&](std::size_t count) { return choices.choose(count); }, "a",
                             {{0, 3}, {0, are_two ? 2U : 3U}, {step, who}});
          play.run();
          play.expect_one_answer(std::to_string(who) + " dies at " + std::to_string(step) +
                                 ", run " + std::to_string(runs));
          if (HasFatalFailure()) return;
          is_more = choices.next();
        }
        EXPECT_TRUE(!are_two || !is_more) << "some orders were not tried";
      }
}

// Whom an agreement did not count as lost the next one does.
TEST(CollAgreeing, finds_every_member_that_was_lost_before_it) {
  for (const ph_status why : {PH_ERR_PEER, PH_ERR_DEPARTED})
    for (Rank who = 0; who < AgreementPlay::kCount; ++who) {
      AgreementPlay play(at_random(who), "a", {{0, who, why}});
      play.run();
      for (Rank rank = 0; rank < AgreementPlay::kCount; ++rank) {
        if (rank == who) continue;
        ASSERT_EQ(play.answers(rank).size(), 1u);
        for (Rank other = 0; other < AgreementPlay::kCount; ++other)
          EXPECT_EQ(play.answers(rank)[0].lost[other], other == who ? why : PH_OK);
      }
    }
}

TEST(CollAgreeing, makes_a_team_of_the_survivors_that_works) {
  for (Rank who = 0; who < AgreementPlay::kCount; ++who) {
    AgreementPlay play(at_random(17), "s", {{0, who}});
    play.run();
    Members& members = play.members();
    std::vector<Sum> sums(Members::kCount, Sum(3, 1));
    std::array<Operation*, Members::kCount> ops{};
    for (Rank rank = 0; rank < Members::kCount; ++rank) {
      if (rank == who) continue;
      Team* const team = play.answers(rank).at(0).smaller;
      ASSERT_NE(team, nullptr);
      ASSERT_EQ(team->size(), 3u);
      for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(team->members[i].rank, i + (i >= who));
      EXPECT_EQ(team->members[team->own].rank, rank);
      sums[rank].args.in = sums[rank].in.data(), sums[rank].args.out = sums[rank].out.data();
      ASSERT_EQ(members[rank].begin(*team, sums[rank].args, &ops[rank]), PH_OK);
    }
    for (bool moved = true; moved;) {
      moved = false;
      for (Rank rank = 0; rank < Members::kCount; ++rank)
        if (rank != who) moved = members.step(rank) || moved;
    }
    for (Rank rank = 0; rank < Members::kCount; ++rank) {
      if (rank == who) continue;
      EXPECT_EQ(members[rank].done(*ops[rank]), PH_OK);
      EXPECT_EQ(sums[rank].out[2], 9);
      EXPECT_EQ(members[rank].free(*play.answers(rank).at(0).smaller), PH_OK);
    }
  }
}

TEST(CollAgreeing, ends_for_all_with_words_if_some_agree_and_some_shrink) {
  Members members;
  const auto call = [&](Rank rank) {
    std::uint64_t bits = 0;
    Team* smaller = nullptr;
    return rank == 2 ? members[rank].shrink(members.world(rank), smaller)
                     : members[rank].agree(members.world(rank), bits);
  };
  for (Rank rank = 0; rank < Members::kCount; ++rank) EXPECT_EQ(call(rank), PH_TIMEOUT);
  members.run();
  for (Rank rank = 0; rank < Members::kCount; ++rank) {
    EXPECT_EQ(call(rank), PH_ERR_ARGUMENT) << rank;
    EXPECT_NE(members.port(rank).last_error().what.find("team_shrink"), std::string::npos);
  }
}

TEST(CollAgreeing, lets_nobody_free_or_call_the_other_while_one_is_under_way) {
  Members members;
  std::array<Team*, Members::kCount> teams{};
  for (int look = 0; look < 2; ++look) {
    for (Rank rank = 0; rank < Members::kCount; ++rank)
      members[rank].split(members.world(rank), 0, 0, teams[rank]);
    members.run();
  }
  std::uint64_t bits = 5;
  Team* smaller = nullptr;
  EXPECT_EQ(members[1].agree(*teams[1], bits), PH_TIMEOUT);
  EXPECT_EQ(members[1].free(*teams[1]), PH_ERR_STATE);
  EXPECT_EQ(members[1].shrink(*teams[1], smaller), PH_ERR_STATE);
  EXPECT_EQ(members[1].agree(*teams[1], bits), PH_TIMEOUT);
  EXPECT_EQ(bits, 5u);
}

// What it could not say it says when there is memory again, and nothing twice.
TEST(CollAgreeing, goes_on_when_there_is_memory_again) {
  for (Rank poor = 0; poor < Members::kCount; ++poor) {
    Members members;
    std::uint64_t bits = 9;
    const auto call = [&](Rank rank) { return members[rank].agree(members.world(rank), bits); };
    members.port(poor).lacks_words = true;
    for (Rank rank = 0; rank < Members::kCount; ++rank) {
      if (rank == poor) {
        EXPECT_THROW(static_cast<void>(call(rank)), std::bad_alloc);
      } else {
        EXPECT_EQ(call(rank), PH_TIMEOUT);
      }
    }
    EXPECT_THROW(members.port(poor).run_turns(), std::bad_alloc);
    for (Rank rank = 0; rank < Members::kCount; ++rank)
      if (rank != poor)
        while (members.step(rank)) {
        }
    EXPECT_THROW(members.port(poor).run_turns(), std::bad_alloc);
    members.port(poor).lacks_words = false;
    members.run();
    for (Rank rank = 0; rank < Members::kCount; ++rank) {
      EXPECT_EQ(call(rank), PH_OK) << rank;
      for (Rank other = 0; other < Members::kCount; ++other)
        EXPECT_EQ(members.port(rank).state(other), PH_OK);
    }
    EXPECT_EQ(bits, 9u);
  }
}

// Who has freed the team calls nothing on it any more.
TEST(CollAgreeing, counts_members_that_have_freed_the_team_as_gone) {
  for (Rank freed = 0; freed < Members::kCount; ++freed) {
    Members members;
    std::array<Team*, Members::kCount> teams{};
    for (int look = 0; look < 2; ++look) {
      for (Rank rank = 0; rank < Members::kCount; ++rank)
        members[rank].split(members.world(rank), 0, 0, teams[rank]);
      members.run();
    }
    ASSERT_EQ(members[freed].free(*teams[freed]), PH_OK);
    for (int look = 0; look < 2; ++look) {
      for (Rank rank = 0; rank < Members::kCount; ++rank) {
        if (rank == freed) continue;
        std::uint64_t bits = 3;
        const ph_status status = members[rank].agree(*teams[rank], bits);
        EXPECT_EQ(status, look == 0 ? PH_TIMEOUT : PH_OK) << rank;
      }
      members.run();
    }
    for (Rank rank = 0; rank < Members::kCount; ++rank) {
      if (rank == freed) continue;
      for (Rank other = 0; other < Members::kCount; ++other)
        EXPECT_EQ(Collectives::lost(*teams[rank], other), other == freed ? PH_ERR_DEPARTED : PH_OK);
      EXPECT_EQ(members[rank].free(*teams[rank]), PH_OK);
    }
  }
}

}  // namespace
}  // namespace photon::test
