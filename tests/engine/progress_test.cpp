// The progress thread: what peers get of a rank that computes, with it and without; and that the
// rank's own completions are as ever.
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include "settings.hpp"
#include "support/taken_back.hpp"

namespace photon::test {
namespace {

using Clock = std::chrono::steady_clock;

class Progress : public OverSettings {
 protected:
  static Options on(const Options& more = {}) {
    return options(with({{"progress_thread", "on"}}, more));
  }
};

// Calls nothing of the library.
void compute_until(const std::atomic<bool>& over) {
  while (!over) std::this_thread::yield();
}
void compute_for(std::chrono::microseconds time) {
  const auto end = Clock::now() + time;
  while (Clock::now() < end) std::this_thread::yield();
}

constexpr std::size_t kGetBytes = 1 << 20;

// Rank 0 asks all kinds of things of rank 1, which computes.
void ask(ph_context* context, const ph_region& target) {
  const auto source = filled(kGetBytes, 5);
  const std::uint64_t put_id = 11;
  ph_put_args put = put_args(source, ph_at(&target, kGetBytes), put_id, put_id);
  put.flags = PH_DELIVERED | PH_NO_RCE;
  ASSERT_EQ(ph_put(context, 1, &put), PH_OK);
  EXPECT_EQ(take_local(context).id, 11u);
  std::vector<std::byte> got(kGetBytes);
  ASSERT_EQ(ph_get_u64(context, 1, {got.data(), kGetBytes}, ph_at(&target, 0), {21, 22}), PH_OK);
  EXPECT_EQ(take_local(context).id, 21u);
  EXPECT_EQ(first_difference(got, 1), kGetBytes);
  std::uint64_t before = 0;
  ph_atomic_args atomic{};
  atomic.size = sizeof atomic;
  atomic.op = PH_OP_ADD;
  atomic.type = PH_UINT64;
  atomic.target = ph_at(&target, 2 * kGetBytes);
  atomic.operand.uint64 = 7;
  atomic.fetched = &before;
  const std::uint64_t local = 31;
  const std::uint64_t remote = 32;
  atomic.local = id_of(local);
  atomic.remote = id_of(remote);
  ASSERT_EQ(ph_atomic(context, 1, &atomic), PH_OK);
  EXPECT_EQ(take_local(context).id, 31u);
  EXPECT_EQ(before, 100u);
  ASSERT_EQ(ph_notify(context, 1, 42), PH_OK);
  EXPECT_EQ(ph_flush(context, PH_ANY_RANK, kTakeTimeoutUs), PH_OK);
}

TEST_P(Progress, a_rank_that_computes_answers_and_finds_every_id_when_it_is_back) {
  ThreadJob job(2, on());
  std::atomic<bool> over = false;
  job.run([&](ph_context* context, ph_rank rank) {
    std::vector<std::byte> memory(2 * kGetBytes + 64);
    fill(std::span(memory).first(kGetBytes), 1);
    const std::uint64_t word = 100;
    std::memcpy(memory.data() + 2 * kGetBytes, &word, sizeof word);
    ph_region mine{};
    ASSERT_EQ(ph_register(context, memory.data(), memory.size(), PH_ACCESS_ALL, &mine), PH_OK);
    const TakenBack end(context, mine);
    const auto regions = exchange(context, mine);
    job.meet();
    if (rank == 0) {
      ask(context, regions[1]);
      over = true;
    } else {
      compute_until(over);
      for (const std::uint64_t id : {22u, 32u, 42u}) EXPECT_EQ(take_remote(context).id, id);
      EXPECT_EQ(first_difference(std::span(memory).subspan(kGetBytes, kGetBytes), 5), kGetBytes);
    }
    job.meet(context);
  });
}

TEST_P(Progress, a_rank_that_computes_answers_in_each_of_its_lanes) {
  ThreadJob job(2, on());
  std::atomic<bool> over = false;
  job.run([&](ph_context* context, ph_rank rank) {
    ph_context* lanes[3] = {context};
    for (std::uint32_t number : {1u, 2u})
      ASSERT_EQ(ph_lane_open(context, number, &lanes[number]), PH_OK);
    std::vector<std::byte> memory[3];
    for (std::uint64_t i = 0; i < 3; ++i) {
      memory[i].resize(2 * kGetBytes + 64);
      fill(std::span(memory[i]).first(kGetBytes), 1);
      const std::uint64_t word = 100;
      std::memcpy(memory[i].data() + 2 * kGetBytes, &word, sizeof word);
    }
    std::vector<ph_region> regions[3];
    std::optional<TakenBack> ends[3];
    for (std::uint64_t i = 0; i < 3; ++i) {
      ph_region mine{};
      ASSERT_EQ(ph_register(lanes[2 - i], memory[i].data(), memory[i].size(), PH_ACCESS_ALL, &mine),
                PH_OK);
      regions[i] = exchange(context, mine);
      ends[i].emplace(context, mine);
    }
    job.meet();
    if (rank == 0) {
      for (std::uint64_t i : {2, 0, 1}) ask(lanes[i], regions[i][1]);
      over = true;
    } else {
      compute_until(over);
      for (ph_context* lane : lanes)
        for (const std::uint64_t id : {22u, 32u, 42u}) EXPECT_EQ(take_remote(lane).id, id);
    }
    job.meet(context);
    EXPECT_EQ(ph_lane_close(lanes[1]), PH_OK);
    job.meet(context);
  });
}

TEST_P(Progress, lanes_come_and_go_while_peers_ask_them) {
  ThreadJob job(2, on({{"progress_silence_us", "10"}, {"spin_us", "5"}}));
  job.run([&](ph_context* context, ph_rank rank) {
    std::vector<std::byte> memory(kGetBytes);
    ph_region mine{};
    ASSERT_EQ(ph_register(context, memory.data(), kGetBytes, PH_ACCESS_ALL, &mine), PH_OK);
    const TakenBack end(context, mine);
    const ph_region target = exchange(context, mine)[1 - rank];
    for (std::uint32_t number = 1; number <= rounds(20, 8); ++number) {
      ph_context* lane = nullptr;
      ASSERT_EQ(ph_lane_open(context, number, &lane), PH_OK);
      constexpr std::size_t kEach = kGetBytes / 4;  // bytes of its own for each get
      std::vector<std::byte> got(4 * kEach);
      for (std::uint64_t i = 0; i < 4; ++i)
        ASSERT_EQ(ph_get_u64(lane, 1 - rank, {got.data() + i * kEach, kEach / (i + 1)},
                             ph_at(&target, 0), {i, i}),
                  PH_OK);
      compute_for(std::chrono::microseconds(number % 4 * 50));
      for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(take_local(lane).status, PH_OK);
      // Who closes first takes the ids of the other's gets along: each has them before.
      for (std::uint64_t i = 0; i < 4; ++i) take_remote(lane);
      EXPECT_EQ(ph_lane_close(lane), PH_OK);
    }
    job.meet(context);
  });
}

TEST_P(Progress, without_the_thread_a_rank_that_computes_answers_nothing) {
  ThreadJob job(2, options({{"progress_thread", "off"}}));
  std::atomic<bool> over = false;
  job.run([&](ph_context* context, ph_rank rank) {
    std::vector<std::byte> memory(64);
    ph_region mine{};
    ASSERT_EQ(ph_register(context, memory.data(), 64, PH_ACCESS_ALL, &mine), PH_OK);
    const auto regions = exchange(context, mine);
    job.meet(context);
    job.meet();  // from here on rank 1 makes no call
    if (rank == 0) {
      const std::uint64_t id = 42;
      const auto source = filled(64, 1);
      ph_put_args put = put_args(source, ph_at(&regions[1], 0), id, id);
      put.flags = PH_DELIVERED;
      ASSERT_EQ(ph_put(context, 1, &put), PH_OK);
      EXPECT_EQ(ph_wait(context, {1, PH_LOCAL, nullptr}, 200'000), PH_TIMEOUT);
      over = true;
      EXPECT_EQ(take_local(context).id, 42u);
    } else {
      compute_until(over);
      EXPECT_EQ(take_remote(context).id, 42u);
    }
    job.meet(context);
  });
}

// Both ranks send without end, and between bursts of calls both compute: threads of both come and
// go in each lane all the time. A rank sends so many more than it has taken, for what the progress
// thread of its peer stores has to be taken afterwards, which is slow with the smallest rings: as
// both ranks do so, at most twice as many are under way.
TEST_P(Progress, bursts_and_silences_lose_nothing_and_keep_the_order) {
  ThreadJob job(2, on({{"spin_us", "5"}, {"progress_silence_us", "20"}}));
  job.run([&](ph_context* context, ph_rank rank) {
    constexpr std::uint64_t kLast = ~std::uint64_t{0}, kAhead = 1000;
    std::vector<std::byte> memory(64);
    ph_region mine{};
    ASSERT_EQ(ph_register(context, memory.data(), 64, PH_ACCESS_ALL, &mine), PH_OK);
    const ph_region target = exchange(context, mine)[1 - rank];
    std::uint64_t sent = 0, locals = 0, remotes = 0, seed = rank + 1;
    bool all_here = false;
    bool said = false;
    const auto end = Clock::now() + std::chrono::milliseconds(rounds(1500, 600));
    while (!all_here || !said || locals < sent) {
      seed = seed * 6364136223846793005 + 1442695040888963407;
      for (std::uint64_t calls = seed >> 58; calls > 0; --calls) {
        if (Clock::now() < end) {
          if (sent < remotes + kAhead &&
              ph_put_u64(context, 1 - rank, {&sent, 0}, ph_at(&target, 0), {sent, sent}) == PH_OK)
            ++sent;
        } else if (!said) {
          said = ph_notify(context, 1 - rank, kLast) == PH_OK;
        }
        ph_completion found[4];
        std::size_t count = 0;
        ASSERT_EQ(ph_probe(context, {PH_ANY_RANK, PH_EITHER, nullptr}, found, 4, &count), PH_OK);
        for (std::size_t i = 0; i < count; ++i) {
          std::uint64_t& next = found[i].kind == PH_LOCAL ? locals : remotes;
          if (found[i].kind == PH_REMOTE && found[i].id == kLast)
            all_here = true;
          else
            ASSERT_EQ(found[i].id, next++);
        }
      }
      if (seed % 3 == 0) {
        const ph_status waited = ph_wait(context, {PH_ANY_RANK, PH_EITHER, nullptr}, 100);
        ASSERT_TRUE(waited == PH_OK || waited == PH_TIMEOUT);
      } else {
        compute_for(std::chrono::microseconds(seed >> 55));  // up to 511
      }
    }
    EXPECT_GT(remotes, 0u);
    job.meet(context);
  });
}

TEST_P(Progress, several_threads_of_a_rank_wait_while_the_thread_comes_and_goes) {
  ThreadJob job(2, on({{"spin_us", "0"}, {"progress_silence_us", "10"}}));
  job.run([&](ph_context* context, ph_rank rank) {
    constexpr std::uint64_t kRounds = 300;
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      if (round % 2 == rank) {
        compute_for(std::chrono::microseconds(round % 7 * 60));
        ASSERT_EQ(insist(context, [&] { return ph_notify(context, 1 - rank, round); }), PH_OK);
      } else {
        std::thread other([&] {
          const ph_status waited = ph_wait(context, {1 - rank, PH_LOCAL, nullptr}, 300);
          EXPECT_EQ(waited, PH_TIMEOUT);
        });
        EXPECT_EQ(take_remote(context).id, round);
        other.join();
      }
    }
    job.meet(context);
  });
}

TEST_P(Progress, a_collective_of_a_rank_that_is_awaited_long_is_left_alone) {
  ThreadJob job(2, on());
  job.run([&](ph_context* context, ph_rank rank) {
    for (int round = 0; round < 20; ++round) {
      if (round % 2 == static_cast<int>(rank)) compute_for(std::chrono::microseconds(2000));
      ASSERT_EQ(ph_barrier(context), PH_OK);
      ASSERT_EQ(ph_notify(context, 1 - rank, round), PH_OK);
      EXPECT_EQ(take_remote(context).id, static_cast<std::uint64_t>(round));
    }
    job.meet(context);
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, Progress, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
