// A wait that sleeps is woken for what it waits for: no news is left lying until its time limit.
#include <chrono>

#include "settings.hpp"
#include "support/taken_back.hpp"

namespace photon::test {
namespace {

// Measures single steps, each of which waits once: what many of them need together depends on what
// else the machine does.
class Soon {
 public:
  void expect(const char* what) {
    const auto now = std::chrono::steady_clock::now();
    EXPECT_LT(now - begin_, kLimit) << what << " was slept through";
    begin_ = now;
  }

 private:
  // Below the limit that take() gives a wait, far above what any of this needs.
  static constexpr std::chrono::microseconds kLimit{kTakeTimeoutUs * 3 / 4};
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

class Sleeping : public OverSettings {};

TEST_P(Sleeping, a_large_put_is_finished_by_a_wait_that_would_sleep) {
  ThreadJob job(2, options({{"spin_us", "0"}}));
  job.run([&](ph_context* context, ph_rank rank) {
    constexpr std::size_t kSize = rounds(8, 2) << 20;
    for (const bool allocated : {true, false}) {
      Soon soon;
      constexpr std::size_t kHalves = 2 * kSize;  // one that peers write, one that they read
      std::vector<std::byte> ordinary(kHalves);
      ph_region mine{};
      if (allocated)
        ASSERT_EQ(ph_alloc(context, kHalves, &mine), PH_OK);
      else
        ASSERT_EQ(ph_register(context, ordinary.data(), kHalves, PH_ACCESS_ALL, &mine), PH_OK);
      const ph_region target = exchange(context, mine)[1 - rank];
      std::vector<std::byte> source = filled(kSize, rank);
      ASSERT_EQ(ph_put_u64(context, 1 - rank, {source.data(), kSize}, ph_at(&target, 0), {1, 2}),
                PH_OK);
      EXPECT_EQ(take_local(context).id, 1u);
      soon.expect("the put");
      EXPECT_EQ(take_remote(context).id, 2u);
      ASSERT_EQ(
          ph_get_u64(context, 1 - rank, {source.data(), kSize}, ph_at(&target, kSize), {3, 4}),
          PH_OK);
      EXPECT_EQ(take_local(context).id, 3u);
      soon.expect("the get");
      EXPECT_EQ(take_remote(context).id, 4u);
      EXPECT_EQ(ph_flush(context, PH_ANY_RANK, kTakeTimeoutUs), PH_OK);
      job.meet(context);
      soon.expect("the meeting");
      // Where the kernel took over, the owner still reads for the answer that nobody needs.
      const auto given_back = allocated ? ph_free(context, reinterpret_cast<void*>(mine.address))
                                        : ph_unregister(context, mine.key);
      EXPECT_EQ(given_back, PH_OK);
    }
  });
}

TEST_P(Sleeping, a_wait_for_deliveries_sees_each_of_them_at_once) {
  for (std::uint64_t round = 0; round < rounds(30, 10); ++round) {
    ThreadJob job(2, options({{"spin_us", "0"}}));
    job.run([&](ph_context* context, ph_rank rank) {
      Soon soon;
      constexpr std::size_t kSize = 70'000;
      constexpr std::uint64_t kCount = 10;
      std::vector<std::byte> memory(kCount * kSize);
      ph_region mine{};
      ASSERT_EQ(ph_register(context, memory.data(), memory.size(), PH_ACCESS_ALL, &mine), PH_OK);
      const ph_region target = exchange(context, mine)[1 - rank];
      const auto source = filled(kSize, rank);
      for (std::uint64_t i = 0; i < kCount; ++i) {
        ph_put_args args = put_args(source, ph_at(&target, i * kSize), i, i);
        args.flags = PH_DELIVERED | PH_NO_RCE;
        ASSERT_EQ(insist(context, [&] { return ph_put(context, 1 - rank, &args); }), PH_OK);
      }
      soon.expect("a credit");
      for (std::uint64_t i = 0; i < kCount; ++i) {
        take_local(context);
        soon.expect("a delivery");
      }
      job.meet(context);
    });
  }
}

TEST_P(Sleeping, ping_pong_of_waiting_ranks_loses_no_wake_up) {
  for (const char* spin : {"0", "5"}) {
    ThreadJob job(2, options({{"spin_us", spin}}));
    job.run([&](ph_context* context, ph_rank rank) {
      Soon soon;
      for (std::uint64_t i = 0; i < 3000; ++i) {
        if (i % 2 == rank) {
          ASSERT_EQ(insist(context, [&] { return ph_notify(context, 1 - rank, i); }), PH_OK);
          // It may have to wait for credit, which needs us.
          ASSERT_EQ(ph_flush(context, 1 - rank, kTakeTimeoutUs), PH_OK);
        } else {
          ASSERT_EQ(take_remote(context).id, i);
        }
        soon.expect("a notification");
      }
      job.meet(context);
    });
  }
}

TEST_P(Sleeping, a_flood_against_a_waiting_receiver_goes_on_without_a_pause) {
  ThreadJob job(2, options({{"spin_us", "0"}}));
  job.run([&](ph_context* context, ph_rank rank) {
    Soon soon;
    constexpr std::uint64_t kCount = 3000;
    for (std::uint64_t i = 0; i < kCount; ++i) {
      if (rank == 0) {
        ASSERT_EQ(insist(context, [&] { return ph_notify(context, 1, i); }), PH_OK);
      } else {
        ASSERT_EQ(take_remote(context).id, i);
      }
      soon.expect("a notification");
    }
    job.meet(context);
  });
}

// Whose barrier is a callback is no less there for its peers: else the one would wait for the
// other's answer and the other for the one at the barrier.
TEST_P(Sleeping, a_peer_in_a_barrier_answers) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    Soon soon;
    constexpr std::size_t kSize = 1 << 20;
    std::vector<std::byte> memory(kSize);
    ph_region mine{};
    ASSERT_EQ(ph_register(context, memory.data(), kSize, PH_ACCESS_ALL, &mine), PH_OK);
    const TakenBack end(context, mine);
    const ph_region target = exchange(context, mine)[1];
    const std::vector<std::byte> source = filled(kSize, 5);
    if (rank == 0) {
      ASSERT_EQ(ph_put_u64(context, 1, {source.data(), kSize}, ph_at(&target, 0), {1, 2}), PH_OK);
      EXPECT_EQ(ph_flush(context, 1, kTakeTimeoutUs), PH_OK);
      soon.expect("the flush");
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      EXPECT_EQ(take_local(context).id, 1u);
    } else {
      EXPECT_EQ(first_difference(memory, 5), kSize);
      EXPECT_EQ(take_remote(context).id, 2u);
    }
    job.meet(context);
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, Sleeping, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
