// Atomics over every transport and its settings, and from both sides at once.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <algorithm>
#include <vector>

#include "engine/settings.hpp"

namespace photon::test {
namespace {

class Atomics : public OverSettings {};

// One operation with a request, to its end.
std::uint64_t add(ph_context* context, ph_rank rank, ph_target target, std::uint64_t operand) {
  std::uint64_t before = 0;
  ph_request request = PH_REQUEST_NONE;
  ph_atomic_args args{};
  args.size = sizeof args;
  args.target = target;
  args.op = PH_OP_ADD;
  args.type = PH_UINT64;
  args.operand.uint64 = operand;
  args.fetched = &before;
  args.flags = PH_NO_RCE;
  args.request = &request;
  ph_status status = PH_AGAIN;
  while (status == PH_AGAIN) status = ph_atomic(context, rank, &args);
  EXPECT_EQ(status, PH_OK);
  EXPECT_EQ(ph_wait_request(context, &request, nullptr, PH_FOREVER), PH_OK);
  return before;
}

// Every rank, the owner too, takes numbers from one counter: each number is taken once.
TEST_P(Atomics, a_shared_counter_gives_each_number_once) {
  constexpr std::uint32_t kRanks = 3;
  constexpr std::uint64_t kEach = 200;
  for (const bool allocated : {true, false}) {
    ThreadJob job(kRanks, options());
    std::vector<std::vector<std::uint64_t>> taken(kRanks);
    alignas(8) std::uint64_t ordinary = 0;
    job.run([&](ph_context* context, ph_rank rank) {
      ph_region mine{};
      if (rank == 0) {
        const ph_status status = allocated
                                     ? ph_alloc(context, 64, &mine)
                                     : ph_register(context, &ordinary, 8, PH_ACCESS_ALL, &mine);
        ASSERT_EQ(status, PH_OK);
      }
      const ph_region counter = exchange(context, mine)[0];
      for (std::uint64_t i = 0; i < kEach; ++i)
        taken[rank].push_back(add(context, 0, ph_at(&counter, 0), 1));
      job.meet(context);
    });
    std::vector<std::uint64_t> all;
    for (const auto& some : taken) {
      EXPECT_TRUE(std::is_sorted(some.begin(), some.end())) << "in posting order";
      all.insert(all.end(), some.begin(), some.end());
    }
    std::sort(all.begin(), all.end());
    for (std::uint64_t i = 0; i < kRanks * kEach; ++i) ASSERT_EQ(all[i], i);
  }
}

TEST_P(Atomics, an_id_is_probed_after_its_word_was_changed) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    ph_region mine{};
    ASSERT_EQ(ph_alloc(context, 64, &mine), PH_OK);
    const ph_region there = exchange(context, mine)[1];
    for (std::uint64_t i = 1; i <= 100; ++i) {
      if (rank == 0) {
        ph_atomic_args args{};
        args.size = sizeof args;
        args.target = ph_at(&there, 8);
        args.op = PH_OP_SWAP;
        args.type = PH_UINT64;
        args.operand.uint64 = i;
        args.remote = id_of(i);
        args.flags = PH_NO_LCE;
        ASSERT_EQ(ph_atomic(context, 1, &args), PH_OK);
        EXPECT_EQ(take(context, PH_REMOTE, 1).id, i) << "its answer";
      } else {
        EXPECT_EQ(take(context, PH_REMOTE, 0).id, i);
        EXPECT_EQ(reinterpret_cast<std::uint64_t*>(mine.address)[1], i);
        ASSERT_EQ(ph_notify(context, 0, i), PH_OK);
      }
    }
    job.meet(context);
  });
}

// What was granted for small puts, and these used up, must not outlive the rank: the next post to
// it would be written to no ring. The first of them makes the grant, of 4 lines.
TEST_P(Atomics, posts_to_a_rank_that_died_after_them_say_so_however_many_they_were) {
  if (!is_sim()) GTEST_SKIP() << "callbacks tell nobody that a rank of the same process ended";
  for (int count = 1; count <= 8; ++count) {
    ThreadJob job(2, options({{"ledger_slots", "4"}}));
    job.run_bare([&](const ph_bootstrap& bootstrap) {
      ph_context* context = job.create(bootstrap);
      ASSERT_NE(context, nullptr);
      alignas(8) std::uint64_t word = 0;
      ph_region mine{};
      ASSERT_EQ(ph_register(context, &word, sizeof word, PH_ACCESS_ALL, &mine), PH_OK);
      const auto regions = exchange(context, mine);
      if (bootstrap.rank == 0) {
        for (int i = 0; i < count; ++i) add(context, 1, ph_at(&regions[1], 0), 1);
        job.meet(context);
        EXPECT_EQ(ph_wait(context, {1, PH_REMOTE, nullptr}, kTakeTimeoutUs), PH_ERR_PEER);
        expect_error(context, ph_notify(context, 1, 1), PH_ERR_PEER, "rank 1");
        EXPECT_EQ(ph_finalize(context), PH_OK);
      } else {
        job.meet(context);
        EXPECT_EQ(word, static_cast<std::uint64_t>(count));
      }
      ph_context_destroy(context);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Transports, Atomics, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
