// Simulated ranks that live on and lose each other: what calls say, and what programs it happens
// in.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/simtest/job.hpp"

namespace photon::simtest {
namespace {

using transport::sim::Loss;

ph_error last_error(World& world, ph_rank rank) {
  ph_error error{};
  ph_last_error(world.context(rank), &error);
  return error;
}

TEST(Losses, waits_for_an_unreachable_rank_end_when_that_is_known_and_its_name_is_said) {
  constexpr std::uint64_t kNoticeNs = 300'000;
  for (const Profile profile : {Profile::stream, Profile::rc, Profile::srd, Profile::unnamed}) {
    for (const bool both_ways : {true, false}) {
      World world(job_of(3, profile));
      world.run(
          [&](ph_rank rank) {
            ph_context* const mine = world.context(rank);
            if (rank == 0)
              world.lose_link({Loss::Kind::unreachable, 0, 1, both_ways, kNoticeNs}, 0);
            world.pause(100);
            if (rank != 2) {
              EXPECT_EQ(ph_notify(mine, 1 - rank, 1), PH_OK);
              const ph_query query{1 - rank, PH_LOCAL, nullptr};
              EXPECT_EQ(ph_wait(mine, query, 1'000'000), PH_ERR_PEER);
              EXPECT_LE(world.now_ns(), kNoticeNs + 20'000 + world.stood_still_ns(rank));
              EXPECT_EQ(last_error(world, rank).rank, 1 - rank);
              EXPECT_EQ(ph_notify(mine, 1 - rank, 1), PH_ERR_PEER);
            }
            if (rank != 2) {
              EXPECT_EQ(ph_notify(mine, 2, rank), PH_OK) << "others are reached";
            }
            for (int i = 0; rank == 2 && i < 2; ++i) {
              ph_completion one{};
              std::size_t count = 0;
              const ph_query query{PH_ANY_RANK, PH_REMOTE, nullptr};
              EXPECT_EQ(ph_wait(mine, query, 1'000'000), PH_OK);
              EXPECT_EQ(ph_probe(mine, query, &one, 1, &count), PH_OK);
              EXPECT_EQ(one.id, one.peer);
            }
            // Who leaves before the other one knows has departed.
            EXPECT_EQ(ph_barrier(mine), PH_OK);
            static_cast<void>(ph_finalize(mine));
          },
          never_stuck);
    }
  }
}

TEST(Losses, who_cuts_a_peer_off_says_why_and_the_peer_is_told) {
  on_every_network(2, [&](World& world, ph_rank rank) {
    ph_context* const mine = world.context(rank);
    const ph_query query{1 - rank, PH_REMOTE, nullptr};
    if (rank == 0) world.lose_link({Loss::Kind::cut_off, 0, 1, true, 100'000}, 0);
    world.pause(100);
    if (rank == 0) {
      EXPECT_EQ(ph_notify(mine, 1, 1), PH_OK);
    }
    EXPECT_EQ(ph_wait(mine, query, 1'000'000), rank == 0 ? PH_ERR_PEER : PH_ERR_PROTOCOL);
    static_cast<void>(ph_finalize(mine));
  });
}

// Whether they keep the promises is for the seeds to say.
TEST(Losses, programs_that_lose_links_are_drawn_or_asked_for_and_the_others_are_what_they_were) {
  constexpr std::uint64_t kSeeds = 800;
  std::uint64_t drawn = 0, able = 0, cut_off = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Program none = generate(seed, 4, 40, {Lanes::drawn, Losses::none});
    const Program some = generate(seed, 4, 40, {Lanes::drawn, Losses::drawn});
    const Program all = generate(seed, 4, 40, {Lanes::drawn, Losses::all});
    EXPECT_FALSE(loses_links(none));
    if (!loses_links(some)) {
      EXPECT_EQ(text_of(none), text_of(some)) << "seed " << seed;
    } else {
      EXPECT_EQ(text_of(all), text_of(some)) << "seed " << seed;
      ++drawn;
    }
    if (!loses_links(all)) {
      EXPECT_EQ(text_of(none), text_of(all)) << "seed " << seed;
      continue;
    }
    ++able;
    EXPECT_TRUE(all.lanes.empty());
    for (ph_rank rank = 0; rank < 4; ++rank) {
      EXPECT_TRUE(stays(all, rank)) << "seed " << seed;
      for (const Step& step : all.steps[rank]) {
        EXPECT_NE(step.verb, Verb::announce);
        if (step.verb != Verb::lose_link) continue;
        EXPECT_NE(step.peer, step.query_peer);
        cut_off += step.is_cut_off ? 1 : 0;
      }
    }
  }
  EXPECT_GT(able, kSeeds / 2);
  EXPECT_GT(drawn, able / 12);
  EXPECT_LT(drawn, able / 5);
  EXPECT_GT(cut_off, able / 4);
}

}  // namespace
}  // namespace photon::simtest
