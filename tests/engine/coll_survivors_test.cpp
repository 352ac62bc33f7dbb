// What is left of a team when members go, over every transport and its settings: agreements, teams
// of the survivors, and buffers after an error.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include "engine/coll_calls.hpp"

namespace photon::test {
namespace {

class CollSurvivors : public OverSettings {};

constexpr std::uint64_t bits_of(ph_rank rank) { return ~(std::uint64_t{1} << rank); }

void expect_team_adds_up(ph_team* team) {
  for (const std::uint64_t count : {1, 5000}) {
    Collective one(team, {PH_COLL_ALLREDUCE, count, 0, false, 0});
    ASSERT_EQ(ph_coll_run(team, &one.args(), PH_FOREVER), PH_OK);
    one.expect_right("of the survivors");
  }
}

TEST_P(CollSurvivors, all_members_get_the_bits_that_all_have_set) {
  ThreadJob job(4, options());
  job.run([](ph_context* context, ph_rank rank) {
    ph_team* const team = world_of(context);
    for (int round = 0; round < 20; ++round) {
      std::uint64_t bits = bits_of(rank) ^ std::uint64_t{1} << (8 + round);
      ASSERT_EQ(ph_team_agree(team, &bits, PH_FOREVER), PH_OK) << last_error(context).text;
      ASSERT_EQ(bits, (~std::uint64_t{0xf}) ^ std::uint64_t{1} << (8 + round));
      for (std::uint32_t member = 0; member < 4; ++member)
        EXPECT_EQ(ph_team_lost(team, member), PH_OK);
    }
    ph_team* same = nullptr;
    ASSERT_EQ(ph_team_shrink(team, PH_FOREVER, &same), PH_OK) << last_error(context).text;
    ASSERT_EQ(ph_team_size(same), 4u);
    EXPECT_EQ(ph_team_rank(same), rank);
    expect_team_adds_up(same);
    EXPECT_EQ(ph_team_free(same), PH_OK);
  });
}

// Each goes at another time, the first leader too.
TEST_P(CollSurvivors, those_that_stay_agree_and_make_a_team_when_members_leave) {
  ThreadJob job(4, options());
  job.run([](ph_context* context, ph_rank rank) {
    ph_team* team = world_of(context);
    expect_team_adds_up(team);
    for (const ph_rank leaver : {0U, 2U}) {
      if (rank == leaver) {
        EXPECT_EQ(ph_finalize(context), PH_OK);
        return;
      }
      ph_team* smaller = nullptr;
      do {
        ASSERT_EQ(ph_team_shrink(team, PH_FOREVER, &smaller), PH_OK) << last_error(context).text;
        for (std::uint32_t member = 0; member < ph_team_size(team); ++member)
          ASSERT_EQ(
              ph_team_lost(team, member) != PH_OK,
              ph_team_member(team, member) == leaver && ph_team_size(smaller) < ph_team_size(team));
        if (ph_team_size(smaller) == ph_team_size(team)) {
          ASSERT_EQ(ph_team_free(smaller), PH_OK);
        }
      } while (ph_team_size(smaller) == ph_team_size(team));
      if (leaver != 0) {
        ASSERT_EQ(ph_team_free(team), PH_OK);
      }
      team = smaller;
      expect_team_adds_up(team);
    }
    ASSERT_EQ(ph_team_size(team), 2u);
    EXPECT_EQ(ph_team_member(team, 0), 1u);
    EXPECT_EQ(ph_team_member(team, 1), 3u);
    std::uint64_t bits = bits_of(rank);
    ASSERT_EQ(ph_team_agree(team, &bits, PH_FOREVER), PH_OK);
    EXPECT_EQ(bits, bits_of(1) & bits_of(3));
  });
}

TEST_P(CollSurvivors, a_time_limit_leaves_an_agreement_that_the_same_call_goes_on_with) {
  ThreadJob job(3, options());
  job.run([&](ph_context* context, ph_rank rank) {
    ph_team* const team = world_of(context);
    std::uint64_t bits = bits_of(rank);
    if (rank == 1) {
      EXPECT_EQ(ph_team_agree(team, &bits, 0), PH_TIMEOUT);
      EXPECT_EQ(ph_team_agree(team, &bits, 1000), PH_TIMEOUT);
      EXPECT_EQ(bits, bits_of(1));
      ph_team* smaller = nullptr;
      expect_error(context, ph_team_shrink(team, 0, &smaller), PH_ERR_STATE, "team_agree");
    }
    job.meet(context);
    ASSERT_EQ(ph_team_agree(team, &bits, PH_FOREVER), PH_OK) << last_error(context).text;
    EXPECT_EQ(bits, ~std::uint64_t{7});
  });
}

// The engine tells that it has ended; other transports tell it of processes (tests/process).
TEST_P(CollSurvivors, those_that_live_make_a_team_when_one_ends_without_a_word) {
  if (!is_sim()) GTEST_SKIP() << "callbacks tell nobody that a rank of the same process ended";
  ThreadJob job(4, options());
  job.run_bare([&](const ph_bootstrap& bootstrap) {
    ph_context* const context = job.create(bootstrap);
    ASSERT_NE(context, nullptr);
    ph_team* const team = world_of(context);
    expect_team_adds_up(team);
    job.meet(context);
    if (bootstrap.rank == 0) {
      ph_context_destroy(context);
      return;
    }
    Collective broken(team, {PH_COLL_BARRIER, 0, 0, false, 0});
    EXPECT_EQ(ph_coll_run(team, &broken.args(), PH_FOREVER), PH_ERR_PEER);
    std::uint64_t bits = bits_of(bootstrap.rank);
    ASSERT_EQ(ph_team_agree(team, &bits, PH_FOREVER), PH_OK) << last_error(context).text;
    EXPECT_EQ(bits & 0xe, 0u);
    EXPECT_EQ(ph_team_lost(team, 0), PH_ERR_PEER);
    ph_team* smaller = nullptr;
    ASSERT_EQ(ph_team_shrink(team, PH_FOREVER, &smaller), PH_OK) << last_error(context).text;
    ASSERT_EQ(ph_team_size(smaller), 3u);
    expect_team_adds_up(smaller);
    EXPECT_EQ(ph_team_free(smaller), PH_OK);
    ph_finalize(context);
    ph_context_destroy(context);
  });
}

// Each member uses its buffers anew as soon as its own operation has ended with an error, while
// others still fail.
TEST_P(CollSurvivors, after_an_error_no_byte_of_a_live_member_lands) {
  constexpr std::int64_t kMine = 0x5a5a'5a5a'5a5a'5a5a;
  ThreadJob job(4, options());
  job.run([&](ph_context* context, ph_rank rank) {
    ph_team* const team = world_of(context);
    for (const ph_coll_kind kind : {PH_COLL_ALLREDUCE, PH_COLL_BCAST, PH_COLL_ALLTOALL})
      for (const std::uint64_t count : {3, 900, 40'000})
        for (ph_rank other = 0; other < 4; ++other) {
          const std::uint64_t blocks = kind == PH_COLL_ALLTOALL ? 4 : 1;
          std::vector<std::int64_t> in((count + 1) * blocks, rank), out((count + 1) * blocks, rank);
          ph_coll_args args{};
          args.size = sizeof args;
          args.kind = kind;
          args.in = kind == PH_COLL_BCAST ? nullptr : in.data();
          args.out = out.data();
          args.count = count + (rank == other);
          args.type = PH_INT64;
          args.op = kind == PH_COLL_ALLREDUCE ? PH_OP_ADD : static_cast<ph_op>(0);
          const ph_status status = ph_coll_run(team, &args, PH_FOREVER);
          // The root of a broadcast may be over before anybody sees that it was not the same.
          ASSERT_TRUE(status == PH_ERR_ARGUMENT || (status == PH_OK && kind == PH_COLL_BCAST))
              << last_error(context).text;
          std::fill(in.begin(), in.end(), kMine);
          std::fill(out.begin(), out.end(), kMine);
          job.meet(context);
          EXPECT_EQ(ph_flush(context, PH_ANY_RANK, PH_FOREVER), PH_OK);
          job.meet(context);
          for (const std::int64_t value : out)
            ASSERT_EQ(value, kMine) << "kind " << kind << " of " << count << ", other " << other;
          for (const std::int64_t value : in) ASSERT_EQ(value, kMine);
        }
    expect_team_adds_up(team);
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, CollSurvivors, testing::ValuesIn(all_settings()),
                         setting_name);

}  // namespace
}  // namespace photon::test
