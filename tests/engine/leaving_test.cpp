// Limits on what is under way, and ranks that leave: in order, or without a word.
#include <atomic>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <thread>

#include <unistd.h>

#include "settings.hpp"

namespace photon::test {
namespace {

class Leaving : public OverSettings {};

TEST_P(Leaving, at_the_limit_of_requests_calls_say_again_and_nothing_is_lost) {
  ThreadJob job(2, options({{"requests", "16"}, {"ledger_slots", "2"}}));
  job.run([&job](ph_context* context, ph_rank rank) {
    constexpr std::uint64_t kCount = 1000;
    if (rank == 0) {
      std::uint64_t accepted = 0, refused = 0, local = 0;
      // Unprobed completions count, so without a probe there must be a refusal.
      while (accepted < 20) {
        const ph_status status = ph_put_u64(context, 1, {nullptr, 0}, {}, {accepted, accepted});
        if (status == PH_AGAIN) break;
        ASSERT_EQ(status, PH_OK);
        ++accepted;
      }
      EXPECT_EQ(accepted, 16u);
      while (accepted < kCount || local < kCount) {
        if (accepted < kCount) {
          const ph_status status = ph_put_u64(context, 1, {nullptr, 0}, {}, {accepted, accepted});
          ++(status == PH_OK ? accepted : refused);
          ASSERT_TRUE(status == PH_OK || status == PH_AGAIN) << status;
        }
        ph_completion found[3];
        std::size_t count = 0;
        ASSERT_EQ(ph_probe(context, {1, PH_LOCAL, nullptr}, found, 3, &count), PH_OK);
        for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(found[i].id, local++);
        if (count == 0) std::this_thread::yield();  // the peer may need this core
      }
    } else {
      for (std::uint64_t i = 0; i < kCount; ++i) ASSERT_EQ(take_remote(context, 0).id, i);
    }
    job.meet(context);
    EXPECT_EQ(count_now(context, PH_EITHER), 0u);
  });
}

TEST_P(Leaving, what_was_accepted_is_delivered_although_the_sender_finalizes_at_once) {
  for (const std::size_t size : {0ul, 8ul, 150ul, 5000ul, 300000ul}) {
    // Thousands of turns through a small ring: on a busy machine they may last longer than the
    // 10 s that finalize has by default. The job's deadline is the limit here.
    ThreadJob job(3, options({{"finalize_timeout_ms", "60000"}}));
    job.run([size](ph_context* context, ph_rank rank) {
      constexpr std::uint64_t kCount = rounds(30, 10);
      std::vector<std::byte> memory(2 * kCount * size + 1);
      ph_region mine{};
      ASSERT_EQ(ph_register(context, memory.data(), memory.size(), PH_ACCESS_ALL, &mine), PH_OK);
      const auto regions = exchange(context, mine);
      const auto source = filled(size, rank);
      if (rank != 0) {
        for (std::uint64_t i = 0; i < kCount; ++i)
          ASSERT_EQ(ph_put_u64(context, 0, {source.data(), size},
                               ph_at(&regions[0], ((rank - 1) * kCount + i) * size), {i, i}),
                    PH_OK);
        ASSERT_EQ(ph_finalize(context), PH_OK);
      } else {
        std::uint64_t next[3] = {};
        for (std::uint64_t i = 0; i < 2 * kCount; ++i) {
          const ph_completion one = take_remote(context);
          EXPECT_EQ(one.id, next[one.peer]++);
          const auto* landed = memory.data() + ((one.peer - 1) * kCount + one.id) * size;
          EXPECT_EQ(first_difference({landed, size}, one.peer), size);
        }
        EXPECT_EQ(ph_wait(context, {1, PH_REMOTE, nullptr}, kTakeTimeoutUs), PH_ERR_DEPARTED);
        expect_error(context, ph_notify(context, 1, 1), PH_ERR_DEPARTED, "rank 1");
        expect_error(context, ph_flush(context, 1, 0), PH_ERR_DEPARTED, "rank 1");
      }
    });
  }
}

TEST_P(Leaving, finalize_gives_up_after_its_time_and_names_who_did_not_take_what) {
  ThreadJob job(2, options({{"finalize_timeout_ms", "50"},
                            {"ledger_slots", "2"},
                            {"overflow_total_bytes", "0"}}));
  job.run([&job](ph_context* context, ph_rank rank) {
    if (rank == 0) {
      for (std::uint64_t i = 0; i < 10; ++i) ASSERT_EQ(ph_notify(context, 1, i), PH_OK);
      expect_error(context, ph_finalize(context), PH_TIMEOUT, "PHOTON_FINALIZE_TIMEOUT_MS");
      EXPECT_NE(std::string(last_error(context).text).find("1"), std::string::npos);
    }
    job.meet();  // rank 1 does nothing at all meanwhile
    if (rank == 0 || !is_ofi()) return;
    // It finds that it was asked for, and no end of who asked: the provider reports no refused
    // connection, and callbacks no end of a thread. It may wait for it, as long as its own time.
    const ph_status status = ph_finalize(context);
    EXPECT_TRUE(status == PH_OK || status == PH_TIMEOUT) << ph_status_text(status);
  });
}

TEST_P(Leaving, a_rank_that_goes_without_finalizing_is_dead_to_its_peers_and_only_to_them) {
  if (!is_sim()) GTEST_SKIP() << "callbacks tell nobody that a rank of the same process ended";
  ThreadJob job(3, options());
  job.run_bare([&](const ph_bootstrap& bootstrap) {
    ph_context* context = job.create(bootstrap);
    ASSERT_NE(context, nullptr);
    const ph_rank rank = bootstrap.rank;
    for (const ph_rank other : {0u, 1u, 2u}) {
      if (other != rank) {
        ASSERT_EQ(ph_notify(context, other, rank), PH_OK);
        EXPECT_EQ(take_remote(context, other).id, other);
      }
    }
    job.meet(context);
    if (rank == 2) {
      ph_context_destroy(context);
      job.meet();
      return;
    }
    job.meet();
    // What it had received unprobed, or not at all, is lost; the operation says so.
    ph_put_args args = put_args({}, {}, 0, 0);
    const std::uint64_t id = 77;
    args.local = args.remote = id_of(id);
    args.flags = PH_DELIVERED | PH_NO_LCE;
    const ph_status posted = ph_put(context, 2, &args);
    if (posted == PH_OK) {
      const ph_completion told = take_local(context, 2);
      EXPECT_EQ(told.status, PH_ERR_PEER);
      EXPECT_EQ(told.id, id);
    } else {
      EXPECT_EQ(posted, PH_ERR_PEER);
    }
    EXPECT_EQ(ph_wait(context, {2, PH_REMOTE, nullptr}, kTakeTimeoutUs), PH_ERR_PEER);
    expect_error(context, ph_notify(context, 2, 1), PH_ERR_PEER, "rank 2");
    const ph_rank friend_ = 1 - rank;
    ASSERT_EQ(ph_notify(context, friend_, 9), PH_OK);
    EXPECT_EQ(take_remote(context, friend_).id, 9u);
    EXPECT_EQ(ph_flush(context, PH_ANY_RANK, kTakeTimeoutUs), PH_OK);
    EXPECT_EQ(ph_finalize(context), PH_OK);
    ph_context_destroy(context);
  });
}

std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

// A receiver that stops after every thousand until the sender has been told "again" for long, or
// has sent all.
class Stops {
 public:
  void await_full() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return full_ || over_; });
    full_ = false;
  }
  void say_full() {
    const std::scoped_lock lock(mutex_);
    full_ = true;
    changed_.notify_all();
  }
  void say_over() {
    const std::scoped_lock lock(mutex_);
    over_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool full_ = false;
  bool over_ = false;
};

TEST_P(Leaving, a_sender_that_never_stops_against_a_receiver_that_does_loses_nothing) {
  constexpr std::uint64_t kCount = rounds(12'000, 8000);
  constexpr std::uint64_t kBeforeStop = 1000;
  constexpr std::uint64_t kAgainsMeanFull = 500;
  Stops stops;
  std::size_t most_bytes = 0;
  std::size_t before_bytes = 0;
  ThreadJob job(2, options(), std::chrono::seconds(120));
  job.run([&](ph_context* context, ph_rank rank) {
    std::vector<std::byte> memory(256);
    ph_region mine{};
    ASSERT_EQ(ph_register(context, memory.data(), memory.size(), PH_ACCESS_ALL, &mine), PH_OK);
    const ph_region target = exchange(context, mine)[1];
    // What a transport, or a library below it, takes for a connection is no queue.
    ASSERT_EQ(ph_notify(context, 1 - rank, 1), PH_OK);
    ASSERT_EQ(take_remote(context, 1 - rank).id, 1u);
    job.meet(context);
    if (rank == 0) before_bytes = resident_bytes();
    if (rank == 1) {
      for (std::uint64_t i = 0; i < kCount; ++i) {
        ASSERT_EQ(take_remote(context, 0).id, i);
        std::uint64_t value = 0;
        std::memcpy(&value, memory.data() + i % 32 * 8, 8);
        // Later ones may have landed in the same place; none may be missing.
        ASSERT_TRUE(value >= i && value % 32 == i % 32) << value << " at " << i;
        if (i % kBeforeStop == kBeforeStop - 1 && i + kBeforeStop * 5 < kCount) stops.await_full();
      }
    } else {
      std::uint64_t agains = 0, posted = 0;
      while (posted < kCount) {
        const ph_status status =
            ph_put_u64(context, 1, {&posted, 8}, ph_at(&target, posted % 32 * 8), {posted, posted});
        if (status == PH_OK) {
          ++posted;
          agains = 0;
        } else if (++agains % kAgainsMeanFull == 0) {
          stops.say_full();
        }
        if (count_now(context, PH_LOCAL) == 0) std::this_thread::yield();
        if (posted % 1000 == 0) most_bytes = std::max(most_bytes, resident_bytes());
      }
      stops.say_over();
    }
    job.meet(context);
  });
  EXPECT_LT(most_bytes, before_bytes + (64 << 20)) << "the queue at the sender has no bound";
}

INSTANTIATE_TEST_SUITE_P(Transports, Leaving, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
