// Several threads on one context: posting, probing, waiting and leaving at the same time.
#include <atomic>
#include <thread>

#include "engine_group.hpp"
#include "settings.hpp"

namespace photon::test {
namespace {

class Threads : public OverSettings {};

std::vector<std::thread> start(unsigned count, const std::function<void(unsigned)>& body) {
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < count; ++i) threads.emplace_back(body, i);
  return threads;
}
void join(std::vector<std::thread>& threads) {
  for (std::thread& thread : threads) thread.join();
}

TEST_P(Threads, four_threads_a_rank_post_and_wait_and_every_completion_is_given_once) {
  constexpr unsigned kThreads = 4;
  constexpr std::uint64_t kEach = rounds(300, 100);
  constexpr std::size_t kEachBytes = 600'000;  // at a target, for all the puts of one thread
  for (const std::uint32_t ranks : {2u, 3u}) {
    ThreadJob job(ranks, options());
    job.run([&job](ph_context* context, ph_rank rank) {
      const ph_rank size = ph_size_of(context);
      std::vector<std::byte> memory(size * kThreads * kEachBytes);
      ph_region mine{};
      ASSERT_EQ(ph_register(context, memory.data(), memory.size(), PH_ACCESS_ALL, &mine), PH_OK);
      const auto regions = exchange(context, mine);
      const auto source = filled(1 << 14, rank);
      const std::uint64_t total = kThreads * kEach;
      std::atomic<std::uint64_t> locals = 0, remotes = 0, sum = 0;
      auto threads = start(kThreads, [&](unsigned thread) {
        std::uint64_t posted = 0;
        std::size_t offset = (rank * kThreads + thread) * kEachBytes;
        while (posted < kEach || locals < total || remotes < total) {
          const ph_rank to = (rank + 1 + posted % (size - 1)) % size;
          const std::size_t bytes = posted % 5 == 0 ? 9000 : posted % 3 == 0 ? 100 : 8;
          const std::uint64_t id = thread * kEach + posted;
          const ph_status put = posted == kEach ? PH_AGAIN
                                                : ph_put_u64(context, to, {source.data(), bytes},
                                                             ph_at(&regions[to], offset), {id, id});
          if (put == PH_OK) {
            ++posted;
            offset += bytes;
          }
          ph_completion found[8];
          std::size_t count = 0;
          const ph_status probed =
              ph_probe(context, {PH_ANY_RANK, PH_EITHER, nullptr}, found, 8, &count);
          EXPECT_TRUE(put == PH_OK || put == PH_AGAIN) << put << " " << last_error(context).text;
          EXPECT_EQ(probed, PH_OK) << last_error(context).text;
          if ((put != PH_OK && put != PH_AGAIN) || probed != PH_OK) return;
          for (std::size_t i = 0; i < count; ++i) {
            ++(found[i].kind == PH_LOCAL ? locals : remotes);
            if (found[i].kind == PH_LOCAL) sum += found[i].id;
          }
          if (count == 0 && posted == kEach) ph_wait(context, kAnyRemote, 200);
        }
      });
      join(threads);
      EXPECT_EQ(locals, total);
      EXPECT_EQ(remotes, total);
      EXPECT_EQ(sum, total * (total - 1) / 2);
      job.meet(context);
    });
  }
}

TEST_P(Threads, each_of_several_waiting_threads_is_woken_for_its_own_peer) {
  ThreadJob job(4, options());
  job.run([&job](ph_context* context, ph_rank rank) {
    constexpr std::uint64_t kRounds = 200;
    if (rank == 0) {
      auto threads = start(3, [&](unsigned i) {
        const ph_rank peer = i + 1;
        for (std::uint64_t round = 0; round < kRounds; ++round) {
          EXPECT_EQ(take_remote(context, peer).id, round);
          EXPECT_EQ(ph_notify(context, peer, round), PH_OK);
        }
      });
      join(threads);
    } else {
      for (std::uint64_t round = 0; round < kRounds; ++round) {
        ASSERT_EQ(ph_notify(context, 0, round), PH_OK);
        EXPECT_EQ(take_remote(context, 0).id, round);
      }
    }
    job.meet(context);
  });
}

// One thread sleeps for a peer while another one probes, stops probing, and only then the peer
// posts: the probes must not have made the sleeper deaf.
TEST_P(Threads, a_sleeper_hears_of_a_post_after_another_thread_probed_and_stopped) {
  ThreadJob job(2, options());
  job.run([&job](ph_context* context, ph_rank rank) {
    for (std::uint64_t round = 0; round < 40; ++round) {
      if (rank == 0) {
        std::thread sleeper([&] {
          EXPECT_EQ(ph_wait(context, {1, PH_REMOTE, nullptr}, 5'000'000), PH_OK) << round;
        });
        std::size_t count = 0;
        for (std::uint64_t i = 0; i < 50 * (round % 8); ++i)
          ph_probe(context, {1, PH_LOCAL, nullptr}, nullptr, 0, &count);
        job.meet();
        sleeper.join();
        EXPECT_EQ(take_remote(context, 1).id, round);
        job.meet();
      } else {
        job.meet();
        ASSERT_EQ(ph_notify(context, 0, round), PH_OK);
        serve_until_met(job, context);  // so it goes out, also without credit at once
      }
    }
    job.meet(context);
  });
}

TEST(ThreadsInside, a_ring_that_another_thread_heats_while_one_sleeps_stays_cold_for_senders) {
  EngineGroup ranks(2, Ground::fake);
  ranks.meet(0, 1);
  std::thread sleeper([&] {
    engine::LaneGuard guard(ranks.lane(0));
    EXPECT_EQ(ranks[0].wait(guard, {1, PH_LOCAL, nullptr}, 10'000'000), PH_ERR_DEPARTED);
  });
  ranks.fake(0).await_sleeper();
  const auto& credits = ranks.net().way(1, 0).credits;
  EXPECT_EQ(ranks[1].put(0, notice()), PH_OK);
  {
    engine::LaneGuard guard(ranks.lane(0));
    EXPECT_EQ(ranks.probe(0, PH_REMOTE).size(), 1u);
    if (ranks.fake(0).sleeper_is_left_alone()) {
      EXPECT_EQ(credits.cold.load(std::memory_order_relaxed), 1u)
          << "the next record would ring no doorbell, and the sleeper never look";
    }
  }
  {
    engine::LaneGuard guard(ranks.lane(1));
    EXPECT_EQ(ranks[1].finalize(guard), PH_OK);
    ranks.fake(0).wake();  // as the doorbell would
  }
  sleeper.join();
}

TEST_P(Threads, finalize_sends_waiting_threads_away_before_it_takes_the_context_apart) {
  for (int round = 0; round < 20; ++round) {
    ThreadJob job(2, options());
    job.run([&job](ph_context* context, ph_rank rank) {
      if (rank == 0) {
        std::atomic<unsigned> inside = 0;
        auto threads = start(3, [&](unsigned i) {
          ++inside;
          const std::int64_t limit = i == 0 ? PH_FOREVER : 20'000'000;
          EXPECT_EQ(ph_wait(context, kAnyRemote, limit), PH_ERR_STATE);
        });
        // Let them get as far as they may: in the lane, spinning or asleep.
        while (inside != 3) std::this_thread::yield();
        for (int i = 0; i < 20; ++i)
          EXPECT_EQ(ph_wait(context, {1, PH_LOCAL, nullptr}, 100), PH_TIMEOUT);
        EXPECT_EQ(ph_finalize(context), PH_OK);
        join(threads);
      }
      job.meet();
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Transports, Threads, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
