// Lanes of a context: opened and closed at run time, each with order, completions and errors of its
// own, and memory in common.
#include <atomic>
#include <cstring>
#include <thread>

#include "engine_group.hpp"
#include "settings.hpp"
#include "support/taken_back.hpp"

namespace photon::test {
namespace {

// The next completion of a lane; its kind is 0 if none came in time.
ph_completion next_of(ph_context* lane, const ph_query& query) {
  ph_completion found{};
  std::size_t count = 0;
  if (ph_wait(lane, query, 10'000'000) != PH_OK) return found;
  while (ph_probe(lane, query, &found, 1, &count) == PH_OK && count == 0) {
  }
  return found;
}

// As often as it takes; takes the local completions of what came before.
template <class Post>
void insist_on(ph_context* lane, Post post) {
  ph_completion found{};
  std::size_t count = 0;
  for (;;) {
    const ph_status status = post();
    if (status == PH_OK) return;
    ASSERT_EQ(status, PH_AGAIN) << last_error(lane).text;
    ph_probe(lane, kAnyLocal, &found, 1, &count);
  }
}

class Lanes : public OverSettings {};

TEST_P(Lanes, what_is_put_by_a_lane_is_probed_by_that_lane_only) {
  ThreadJob job(2, options());
  job.run([&job](ph_context* context, ph_rank rank) {
    std::vector<std::byte> memory(256);
    ph_region mine{};
    ASSERT_EQ(ph_register(context, memory.data(), memory.size(), PH_ACCESS_ALL, &mine), PH_OK);
    const auto regions = exchange(context, mine);
    ph_context* lanes[] = {context, open_lane(context, 7), open_lane(context, 3)};
    EXPECT_EQ(ph_lane_of(lanes[0]), 0u);
    EXPECT_EQ(ph_lane_of(lanes[1]), 7u);
    EXPECT_EQ(ph_rank_of(lanes[1]), rank);
    EXPECT_EQ(ph_size_of(lanes[1]), 2u);
    const ph_rank other = 1 - rank;
    const auto source = filled(64, rank);
    for (std::uint64_t i = 0; i < 3; ++i)
      insist_on(lanes[i], [&] {
        return ph_put_u64(lanes[i], other, {source.data(), 64}, ph_at(&regions[other], 64 * i),
                          {i, 100 + i});
      });
    for (std::uint64_t i : {2, 0, 1}) {
      const ph_completion found = next_of(lanes[i], kAnyRemote);
      EXPECT_EQ(found.kind, std::uint32_t{PH_REMOTE});
      EXPECT_EQ(found.id, 100 + i);
      EXPECT_EQ(first_difference(std::span(memory).subspan(64 * i, 64), other), 64u);
      EXPECT_EQ(next_of(lanes[i], kAnyLocal).id, i);
    }
    for (ph_context* lane : lanes) {
      std::size_t count = 1;
      ph_completion none{};
      EXPECT_EQ(ph_probe(lane, kAnyRemote, &none, 1, &count), PH_OK);
      EXPECT_EQ(count, 0u);
    }
    job.meet(context);
    EXPECT_EQ(ph_lane_close(lanes[1]), PH_OK) << last_error(context).text;
    EXPECT_EQ(ph_lane_close(lanes[2]), PH_OK) << last_error(context).text;
    job.meet(context);
  });
}

constexpr unsigned kOwnLanes = 3;
constexpr std::size_t kRoom = 40'000;

// What a thread does on its lane, both ranks the same: puts, gets and atomics of all sizes.
struct Worker {
  ph_context* lane;
  std::uint32_t number;
  std::span<std::byte> memory;
  const std::vector<ph_region>& regions;
  const std::vector<ph_region>& words;
  ph_rank other = 1 - ph_rank_of(lane);

  std::uint64_t seed(std::uint64_t round, ph_rank writer) const {
    return 1000 * number + 10 * round + writer;
  }
  void expect(std::uint32_t kind, std::uint64_t id) const {
    ASSERT_EQ(next_of(lane, {other, kind, nullptr}).id, id) << "kind " << kind;
  }
  void work(std::uint64_t round) const {
    const std::size_t bytes = round % 7 == 0 ? kRoom : round % 3 == 0 ? 3000 : round;
    const auto source = filled(bytes, seed(round, 1 - other));
    // The peer may be a round ahead of us, and no more.
    const std::size_t place = (2 * number + round % 2) * kRoom;
    const ph_target there = ph_at(&regions[other], place);
    insist_on(lane, [&] {
      return ph_put_u64(lane, other, {source.data(), bytes}, there, {round, round});
    });
    expect(PH_LOCAL, round);
    expect(PH_REMOTE, round);
    ASSERT_EQ(first_difference(memory.subspan(place, bytes), seed(round, other)), bytes);
    insist_on(lane, [&] { return ph_fence(lane, other); });
    std::vector<std::byte> back(bytes);
    insist_on(lane, [&] {
      return ph_get_u64(lane, other, {back.data(), bytes}, there, {round + 1000, round + 1000});
    });
    expect(PH_LOCAL, round + 1000);
    ASSERT_EQ(first_difference(back, seed(round, 1 - other)), bytes);
    expect(PH_REMOTE, round + 1000);
    add_one(round + 2000, round - 1);
  }
  void add_one(std::uint64_t id, std::uint64_t wanted) const {
    std::uint64_t before = 0;
    ph_atomic_args add{};
    add.size = sizeof add;
    add.target = ph_at(&words[other], 8 * number);
    add.op = PH_OP_ADD;
    add.type = PH_UINT64;
    add.operand.uint64 = 1;
    add.fetched = &before;
    add.local = add.remote = id_of(id);
    insist_on(lane, [&] { return ph_atomic(lane, other, &add); });
    expect(PH_LOCAL, id);
    ASSERT_EQ(before, wanted);
    expect(PH_REMOTE, id);
  }
};

// A thread on each lane, and the context's own beside them.
TEST_P(Lanes, threads_on_lanes_of_their_own_move_their_bytes_at_once) {
  constexpr std::uint64_t kRounds = 60;
  ThreadJob job(2, options());
  job.run([&job](ph_context* context, ph_rank) {
    std::vector<std::byte> memory((kOwnLanes + 1) * 2 * kRoom);
    ph_region mine{}, mine_words{};
    ASSERT_EQ(ph_register(context, memory.data(), memory.size(), PH_ACCESS_ALL, &mine), PH_OK);
    const TakenBack end(context, mine);
    ASSERT_EQ(ph_alloc(context, 8 * (kOwnLanes + 1), &mine_words), PH_OK);
    const auto regions = exchange(context, mine);
    const auto words = exchange(context, mine_words);
    const auto work = [&](std::uint32_t number, ph_context* lane) {
      const Worker worker{lane, number, memory, regions, words};
      for (std::uint64_t round = 1; round <= kRounds && !testing::Test::HasFatalFailure(); ++round)
        worker.work(round);
    };
    std::vector<std::thread> threads;
    for (std::uint32_t number = 1; number <= kOwnLanes; ++number)
      threads.emplace_back([&, number] {
        ph_context* lane = open_lane(context, number);
        if (lane == nullptr) return;
        work(number, lane);
        EXPECT_EQ(ph_lane_close(lane), PH_OK) << last_error(context).text;
      });
    work(0, context);
    for (std::thread& thread : threads) thread.join();
    job.meet(context);
  });
}

TEST_P(Lanes, what_is_sent_to_a_lane_not_yet_open_waits_for_it) {
  ThreadJob job(2, options());
  job.run([&job](ph_context* context, ph_rank rank) {
    if (rank == 0) {
      ph_context* lane = open_lane(context, 5);
      for (std::uint64_t id = 0; id < 10; ++id) ASSERT_EQ(ph_notify(lane, 1, id), PH_OK);
      job.meet(context);
      EXPECT_EQ(ph_lane_close(lane), PH_OK);
      job.meet(context);
    } else {
      job.meet(context);  // serves lane 0, so that messages for lane 5 arrive
      ph_context* lane = open_lane(context, 5);
      for (std::uint64_t id = 0; id < 10; ++id) EXPECT_EQ(next_of(lane, kAnyRemote).id, id);
      EXPECT_EQ(ph_wait(lane, {0, PH_REMOTE, nullptr}, 10'000'000), PH_ERR_DEPARTED);
      job.meet(context);
    }
  });
}

TEST_P(Lanes, who_calls_a_lane_that_its_peer_has_closed_is_told_that_it_departed) {
  ThreadJob job(2, options());
  job.run([&job](ph_context* context, ph_rank rank) {
    ph_context* lane = open_lane(context, 1);
    if (rank == 1) {
      EXPECT_EQ(ph_lane_close(lane), PH_OK);
      job.meet(context);
    } else {
      job.meet(context);
      ph_status status = PH_OK;
      while (status == PH_OK || status == PH_AGAIN) {
        status = ph_notify(lane, 1, 1);
        std::size_t count = 0;
        ph_probe(lane, kAnyLocal, nullptr, 0, &count);
      }
      EXPECT_EQ(status, PH_ERR_DEPARTED) << last_error(lane).text;
      EXPECT_EQ(ph_notify(context, 1, 3), PH_OK) << "other lanes live on";
    }
    job.meet(context);
    if (rank == 1) {
      EXPECT_EQ(next_of(context, kAnyRemote).id, 3u);
    }
    job.meet(context);
  });
}

TEST_P(Lanes, a_closed_lane_can_be_followed_by_others_for_ever) {
  ThreadJob job(2, options({{"max_lanes", "2"}}));
  job.run([&job](ph_context* context, ph_rank rank) {
    for (std::uint32_t number = static_cast<std::uint32_t>(21 - rounds(20, 10)); number <= 20;
         ++number) {
      ph_context* lane = open_lane(context, number);
      ASSERT_NE(lane, nullptr);
      ASSERT_EQ(ph_notify(lane, 1 - rank, number), PH_OK);
      EXPECT_EQ(next_of(lane, kAnyRemote).id, number);
      EXPECT_EQ(ph_lane_close(lane), PH_OK) << last_error(context).text;
    }
    ph_context* lane = nullptr;
    EXPECT_EQ(ph_lane_open(context, 20, &lane), PH_ERR_STATE) << "a number is used once";
    lane = open_lane(context, 21);
    ph_context* more = nullptr;
    EXPECT_EQ(ph_lane_open(context, 21, &more), PH_ERR_MEMORY) << "max_lanes";
    EXPECT_EQ(more, nullptr);
    job.meet(context);
    EXPECT_EQ(ph_finalize(context), PH_OK) << "with a lane open";
    EXPECT_EQ(ph_notify(lane, 1 - rank, 1), PH_ERR_STATE);
    EXPECT_EQ(ph_lane_close(lane), PH_OK) << "frees the handle";
  });
}

// Peers hammer a region through several lanes while it is taken back by one of them.
TEST_P(Lanes, memory_taken_back_by_one_lane_is_touched_by_no_other) {
  ThreadJob job(2, options());
  job.run([&job](ph_context* context, ph_rank rank) {
    constexpr std::size_t kBytes = 10'000;
    constexpr std::uint64_t kPuts = 48;  // of a lane, each with bytes of its own
    const auto source = filled(kBytes, 1);
    for (std::uint32_t round = 0; round < rounds(6, 3); ++round) {
      ph_context* lanes[] = {context, open_lane(context, 2 * round + 1),
                             open_lane(context, 2 * round + 2)};
      std::vector<std::byte> memory(std::size(lanes) * kPuts * kBytes);
      ph_region mine{};
      ASSERT_EQ(ph_register(lanes[round % 3], memory.data(), memory.size(), PH_ACCESS_ALL, &mine),
                PH_OK);
      const auto regions = exchange(context, mine);
      std::atomic<bool> over = false;
      std::atomic<std::uint64_t> seen = 0;
      std::vector<std::thread> threads;
      for (std::uint64_t which = 0; which < std::size(lanes); ++which)
        threads.emplace_back([&, which, lane = lanes[which]] {
          ph_completion found[8];
          std::size_t count = 0;
          ph_status status = PH_OK;
          for (std::uint64_t i = 0; !over;) {
            if (rank == 0 && status >= PH_OK && i < kPuts) {
              status = ph_put_u64(lane, 1, {source.data(), i % 2 == 0 ? kBytes : 16},
                                  ph_at(&regions[1], (which * kPuts + i) * kBytes), {i, i});
              if (status == PH_OK) ++i;
            }
            ph_probe(lane, {PH_ANY_RANK, PH_EITHER, nullptr}, found, 8, &count);
            seen += count;
            if (count == 0) std::this_thread::yield();
          }
        });
      if (rank == 1) {
        while (seen < 10 * (round + 1)) std::this_thread::yield();
        ASSERT_EQ(ph_unregister(lanes[(round + 1) % 3], mine.key), PH_OK)
            << last_error(context).text;
        std::memset(memory.data(), 0x5a, memory.size());  // ours again
        for (int i = 0; i < 50; ++i) std::this_thread::yield();
        EXPECT_TRUE(all_are(memory, std::byte{0x5a}));
      }
      job.meet();
      over = true;
      for (std::thread& thread : threads) thread.join();
      // Puts that were refused: of the context's own lane somebody has to take their errors. And
      // the ids of those that landed, for they hold the requests that a flush asks for.
      if (rank == 0) {
        insist_on(context, [&] { return ph_flush(context, 1, 10'000'000); });
      }
      drain_until_met(job, context);
      ph_lane_close(lanes[1]);
      ph_lane_close(lanes[2]);
    }
  });
}

TEST_P(Lanes, threads_register_and_take_back_on_lanes_of_their_own_at_once) {
  ThreadJob job(2, options());
  job.run([&job](ph_context* context, ph_rank rank) {
    std::vector<std::thread> threads;
    for (std::uint32_t number = 1; number <= 3; ++number)
      threads.emplace_back([&, number] {
        ph_context* lane = open_lane(context, number);
        std::vector<std::byte> memory(64);
        for (std::uint64_t i = 0; i < 200; ++i) {
          ph_region region{}, found{}, allocated{};
          ASSERT_EQ(ph_register(lane, memory.data(), 64, PH_ACCESS_ALL, &region), PH_OK);
          ASSERT_EQ(ph_alloc(lane, 100, &allocated), PH_OK);
          EXPECT_EQ(ph_find_region(context, memory.data(), 8, &found), PH_OK);
          EXPECT_EQ(found.key, region.key);
          if (i % 8 == 0) insist_on(lane, [&] { return ph_notify(lane, 1 - rank, i); });
          ASSERT_EQ(ph_unregister(lane, region.key), PH_OK);
          ASSERT_EQ(ph_free(lane, reinterpret_cast<void*>(allocated.address)), PH_OK);
          EXPECT_EQ(ph_unregister(lane, region.key), PH_ERR_KEY);
        }
        for (std::uint64_t i = 0; i < 200; i += 8) EXPECT_EQ(next_of(lane, kAnyRemote).id, i);
        EXPECT_EQ(ph_lane_close(lane), PH_OK) << last_error(context).text;
      });
    for (std::thread& thread : threads) thread.join();
    job.meet(context);
  });
}

// Who sleeps in one lane is not disturbed by, and does not hold up, who takes memory back in
// another.
TEST_P(Lanes, taking_memory_back_does_not_wait_for_a_thread_that_sleeps_in_another_lane) {
  ThreadJob job(2, options());
  job.run([&job](ph_context* context, ph_rank rank) {
    if (rank == 0) {
      ph_context* lane = open_lane(context, 1);
      std::thread sleeper([&] { EXPECT_EQ(next_of(lane, kAnyRemote).id, 9u); });
      std::byte memory[64];
      for (int i = 0; i < 20; ++i) {
        ph_region region{};
        ASSERT_EQ(ph_register(context, memory, sizeof memory, PH_ACCESS_ALL, &region), PH_OK);
        ASSERT_EQ(ph_unregister(context, region.key), PH_OK);
        EXPECT_EQ(ph_wait(context, kAnyRemote, 1000), PH_TIMEOUT);
      }
      job.meet();
      sleeper.join();
      EXPECT_EQ(ph_lane_close(lane), PH_OK);
    } else {
      job.meet();
      ph_context* lane = open_lane(context, 1);
      EXPECT_EQ(ph_notify(lane, 0, 9), PH_OK);
      EXPECT_EQ(ph_lane_close(lane), PH_OK);
    }
    job.meet(context);
  });
}

TEST_P(Lanes, calls_that_are_not_for_lanes_say_so) {
  ThreadJob job(1, options());
  job.run([](ph_context* context, ph_rank) {
    ph_context* lane = open_lane(context, 4);
    ph_context* none = nullptr;
    EXPECT_EQ(ph_barrier(lane), PH_ERR_ARGUMENT);
    EXPECT_NE(std::string(last_error(lane).text).find("barrier"), std::string::npos);
    std::uint64_t one = 1, all = 0;
    EXPECT_EQ(ph_allgather(lane, &one, &all, sizeof one), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_finalize(lane), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_lane_open(lane, 5, &none), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_lane_open(context, 0, &none), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_lane_open(context, 5, nullptr), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_lane_open(nullptr, 5, &none), PH_ERR_STATE);
    EXPECT_EQ(ph_lane_open(context, 4, &none), PH_ERR_STATE) << "open already";
    EXPECT_EQ(ph_lane_close(context), PH_ERR_ARGUMENT);
    EXPECT_EQ(ph_lane_close(nullptr), PH_ERR_STATE);
    EXPECT_EQ(ph_lane_of(nullptr), 0u);
    EXPECT_EQ(ph_notify(lane, 0, 6), PH_OK) << "to itself";
    EXPECT_EQ(next_of(lane, kAnyRemote).id, 6u);
    EXPECT_EQ(ph_lane_close(lane), PH_OK);
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, Lanes, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
