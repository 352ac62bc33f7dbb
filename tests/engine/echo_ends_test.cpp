// The echo service where something ends or is short: chunks that are kept while gets go on, users
// who probe nothing or whose every probe hits, lanes that close under those who wait, and threads.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "engine/settings.hpp"

namespace photon::test {
namespace {

class EchoEnds : public OverSettings {
 protected:
  // A job of two ranks with what the setting wants and `more`.
  static void run_two(const ThreadJob::Body& body, const Options& more = {}) {
    ThreadJob job(2, options(more));
    job.run(body);
  }
};

ph_echo_result answer_of(ph_context* context) {
  ph_echo_result result{};
  const ph_status status = ph_echo_wait(context, &result, kTakeTimeoutUs);
  if (status != PH_OK)
    throw std::runtime_error(std::string("no answer: ") + ph_status_text(status));
  return result;
}

ph_const_block block_of(std::span<const std::byte> bytes) { return {bytes.data(), bytes.size()}; }

// Bodies fill the bulk ring that the answers to the gets of their target need, too.
TEST_P(EchoEnds, chunks_are_kept_while_gets_go_on) {
  static constexpr std::size_t kBytes = 200'000;
  static constexpr int kRounds = 5;
  run_two([](ph_context* context, ph_rank rank) {
    std::vector<std::byte> memory = filled(kBytes, rank), landing(kBytes);
    ph_region mine{};
    ASSERT_EQ(ph_register(context, memory.data(), kBytes, PH_ACCESS_ALL, &mine), PH_OK);
    const auto all = exchange(context, mine);
    for (int round = 0; round < kRounds; ++round) {
      for (std::uint64_t i = 0; i < 3; ++i)
        ASSERT_EQ(
            insist(context, [&] { return ph_echo_body(context, 1 - rank, block_of(memory), i); }),
            PH_OK);
      const std::uint64_t local = 40 + static_cast<std::uint64_t>(round);
      ph_get_args get = get_args(landing, ph_at(&all[1 - rank], 0), local, local);
      get.flags = PH_NO_RCE;
      ASSERT_EQ(insist(context, [&] { return ph_get(context, 1 - rank, &get); }), PH_OK);
      for (std::uint64_t i = 0; i < 3; ++i) {
        const ph_echo_result result = answer_of(context);
        ASSERT_EQ(result.status, PH_OK);
        ASSERT_EQ(result.value, i);
        ASSERT_EQ(result.sum, ph_echo_sum(block_of(memory)));
      }
      ph_completion one{};
      std::size_t count = 0;
      while (count == 0) ASSERT_EQ(ph_probe(context, kAnyLocal, &one, 1, &count), PH_OK);
      ASSERT_EQ(one.status, PH_OK);
      ASSERT_EQ(first_difference(landing, 1 - rank), kBytes);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
    ASSERT_EQ(ph_unregister(context, mine.key), PH_OK);
  });
}

TEST_P(EchoEnds, a_user_whose_every_probe_hits_gets_answers_all_the_same) {
  static constexpr std::uint64_t kAnswers = 50;
  run_two([](ph_context* context, ph_rank rank) {
    std::vector<std::byte> body(5000, std::byte{1});
    std::uint64_t answers = 0, asked = 0, probes = 0, hits = 0, own = 0;
    while (answers < kAnswers) {
      if (asked < kAnswers && ph_echo_body(context, 1 - rank, block_of(body), asked) == PH_OK)
        ++asked;
      // Ids of our own for each probe: to ourselves, and one more than it takes.
      while (own < 3 && ph_put_u64(context, rank, {nullptr, 0}, {0, 0}, {7, 8}) == PH_OK) own += 2;
      ph_completion found{};
      std::size_t count = 0;
      ASSERT_EQ(ph_probe(context, kAny, &found, 1, &count), PH_OK);
      ++probes;
      hits += count;
      own -= count;
      ph_echo_result result{};
      if (probes % 16 == 0 && ph_echo_answer(context, &result) == PH_OK) {
        ASSERT_EQ(result.status, PH_OK);
        ASSERT_EQ(result.value, answers);
        ++answers;
      }
    }
    // A simulated network takes its time, also from a rank to itself.
    EXPECT_TRUE(hits == probes || is_sim()) << hits << " of " << probes;
    EXPECT_GT(hits, 0u);
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

TEST_P(EchoEnds, ids_of_any_size_and_of_none_leave_messages_alone) {
  for (const char* most : {"0", "8", "1024"}) {
    run_two(
        [](ph_context* context, ph_rank rank) {
          std::vector<std::byte> body(3000, std::byte{5});
          for (std::uint64_t i = 0; i < 100; ++i) {
            ASSERT_EQ(insist(context, [&] { return ph_echo(context, 1 - rank, i); }), PH_OK);
            if (i % 10 != 0) continue;
            ASSERT_EQ(
                insist(context, [&] { return ph_echo_body(context, 1 - rank, block_of(body), i); }),
                PH_OK);
          }
          for (int i = 0; i < 110; ++i) ASSERT_EQ(answer_of(context).status, PH_OK);
          ASSERT_EQ(ph_barrier(context), PH_OK);
        },
        {{"max_cid_size", most}});
  }
}

// The wait is over with PH_ERR_STATE, and touches nothing of the engine that has gone.
TEST_P(EchoEnds, a_context_that_is_finalized_ends_the_wait_of_another_thread) {
  for (int round = 0; round < 5; ++round)
    run_two([](ph_context* context, ph_rank) {
      std::atomic<bool> is_about_to = false;
      ph_status status = PH_OK;
      std::thread waiter([&] {
        ph_echo_result result{};
        is_about_to = true;
        status = ph_echo_wait(context, &result, PH_FOREVER);
      });
      while (!is_about_to) std::this_thread::yield();
      const ph_status finalized = ph_finalize(context);
      waiter.join();
      EXPECT_EQ(finalized, PH_OK);
      EXPECT_EQ(status, PH_ERR_STATE);
    });
}

TEST_P(EchoEnds, a_lane_may_be_closed_with_answers_under_way) {
  std::atomic<int> ranks_asked = 0;
  run_two([&](ph_context* context, ph_rank rank) {
    ph_context* lane = open_lane(context, 1);
    ASSERT_NE(lane, nullptr);
    const std::vector<std::byte> body(30'000, std::byte{2});
    for (std::uint64_t i = 0; i < 20; ++i) {
      ASSERT_EQ(insist(lane, [&] { return ph_echo(lane, 1 - rank, i); }), PH_OK);
      ASSERT_EQ(insist(lane, [&] { return ph_echo_body(lane, 1 - rank, block_of(body), i); }),
                PH_OK);
    }
    ++ranks_asked;
    while (ranks_asked < 2) {  // the other one needs this lane for what it still asks
      count_now(lane, PH_EITHER);
      std::this_thread::yield();
    }
    EXPECT_EQ(ph_lane_close(lane), PH_OK);
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

// Each lane is served by calls of its own, so nobody insists in one while a peer waits for the
// other, and both go on until both ranks have what they want.
TEST_P(EchoEnds, each_lane_has_answers_of_its_own) {
  static constexpr std::uint64_t kEach = 200;
  std::atomic<int> ranks_done = 0;
  run_two([&](ph_context* context, ph_rank rank) {
    ph_context* lane = open_lane(context, 1);
    ASSERT_NE(lane, nullptr);
    ph_context* const lanes[] = {context, lane};
    std::uint64_t asked[2] = {}, answered[2] = {};
    for (bool is_done = false; !is_done || ranks_done < 2;) {
      for (std::uint64_t i = 0; i < 2; ++i) {
        if (asked[i] < kEach && ph_echo(lanes[i], 1 - rank, 1000 * i + asked[i]) == PH_OK)
          ++asked[i];
        ph_echo_result result{};
        if (ph_echo_answer(lanes[i], &result) != PH_OK) continue;
        EXPECT_EQ(result.status, PH_OK);
        EXPECT_EQ(result.value, 1000 * i + answered[i]);
        ++answered[i];
      }
      if (is_done || answered[0] < kEach || answered[1] < kEach) continue;
      is_done = true;
      ++ranks_done;
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
    EXPECT_EQ(ph_lane_close(lane), PH_OK);
  });
}

struct Closer {
  ph_context* context = nullptr;
  ph_context* lane = nullptr;
  bool is_over = false;
};

TEST_P(EchoEnds, a_handler_of_a_lane_closes_neither_its_lane_nor_the_context) {
  run_two([](ph_context* context, ph_rank rank) {
    Closer closer{context, open_lane(context, 1), false};
    ASSERT_NE(closer.lane, nullptr);
    const auto close = [](void* user, ph_rank, std::uint64_t) {
      Closer& it = *static_cast<Closer*>(user);
      expect_error(it.lane, ph_lane_close(it.lane), PH_ERR_STATE, "handler");
      expect_error(it.context, ph_finalize(it.context), PH_ERR_STATE, "handler");
      it.is_over = true;
    };
    ASSERT_EQ(ph_echo_listen(closer.lane, close, &closer), PH_OK);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    ASSERT_EQ(insist(closer.lane, [&] { return ph_echo_tell(closer.lane, 1 - rank, 1); }), PH_OK);
    while (!closer.is_over) static_cast<void>(count_now(closer.lane, PH_EITHER));
    ASSERT_EQ(ph_barrier(context), PH_OK);
    EXPECT_EQ(ph_lane_close(closer.lane), PH_OK);
  });
}

struct Listener {
  std::atomic<int> inside = 0;
  std::atomic<std::uint64_t> heard = 0;
  std::uint64_t last[2] = {};  // of one handler at a time: no atomics
  bool in_order = true;
};

TEST_P(EchoEnds, threads_that_ask_take_and_tell_in_one_lane_share_its_answers_and_its_handler) {
  static constexpr int kThreads = 4;
  static constexpr std::uint64_t kEach = 300;
  run_two([](ph_context* context, ph_rank rank) {
    Listener listener;
    const auto hear = [](void* user, ph_rank from, std::uint64_t value) {
      Listener& it = *static_cast<Listener*>(user);
      EXPECT_EQ(it.inside.fetch_add(1), 0) << "two handlers at a time";
      it.in_order = it.in_order && value == it.last[from]++;
      it.inside.fetch_sub(1);
      ++it.heard;
    };
    ASSERT_EQ(ph_echo_listen(context, hear, &listener), PH_OK);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    std::atomic<std::uint64_t> answers = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        for (std::uint64_t asked = 0, told = 0; asked < kEach || answers < kThreads * kEach ||
                                                listener.heard < kEach ||
                                                (t == 0 && told < kEach);) {
          if (asked < kEach && ph_echo(context, 1 - rank, asked) == PH_OK) ++asked;
          if (t == 0 && told < kEach && ph_echo_tell(context, 1 - rank, told) == PH_OK) ++told;
          ph_echo_result result{};
          if (ph_echo_answer(context, &result) == PH_OK) {
            EXPECT_EQ(result.status, PH_OK);
            ++answers;
          }
        }
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(answers, kThreads * kEach);
    EXPECT_EQ(listener.heard, kEach);
    EXPECT_TRUE(listener.in_order);
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, EchoEnds, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
