#include "transport/network/flusher.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "watchdog.hpp"

namespace photon::transport::network {
namespace {

// What the flusher is asked to do is counted.
struct Flushed {
  Flushed()
      : flusher(owners, [this] {
          const std::scoped_lock lock(mutex);
          ++count;
          changed.notify_all();
          return found;
        }) {}

  // False: it does not come.
  bool comes_again() {
    std::unique_lock lock(mutex);
    const unsigned before = count;
    return changed.wait_for(lock, std::chrono::seconds(20), [&] { return count > before; });
  }
  // True: it has not come for long enough to be sure that it sleeps.
  bool has_parked() {
    std::unique_lock lock(mutex);
    for (int i = 0; i < 1000; ++i) {
      const unsigned before = count;
      if (!changed.wait_for(lock, std::chrono::milliseconds(100), [&] { return count > before; }))
        return true;
    }
    return false;
  }
  void note() {
    const std::scoped_lock lock(owners);
    EXPECT_TRUE(flusher.note());
  }

  photon::test::Watchdog watchdog{std::chrono::seconds(60)};
  OwnerLock owners;
  std::mutex mutex;  // of:
  std::condition_variable changed;
  unsigned count = 0;
  Flusher::Look found = Flusher::Look::done;
  Flusher flusher;
};

TEST(NetworkFlusher, comes_after_a_note_and_parks_when_there_are_no_more) {
  Flushed flushed;
  for (int i = 0; i < 3; ++i) {
    flushed.note();
    EXPECT_TRUE(flushed.comes_again());
    EXPECT_TRUE(flushed.has_parked());
  }
}

TEST(NetworkFlusher, comes_again_and_again_while_something_is_left) {
  Flushed flushed;
  flushed.found = Flusher::Look::left;
  flushed.note();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(flushed.comes_again());
}

TEST(NetworkFlusher, comes_later_and_parks_unless_something_is_left) {
  Flushed flushed;
  for (int i = 0; i < 3; ++i) {
    {
      const std::scoped_lock lock(flushed.owners);
      EXPECT_TRUE(flushed.flusher.note_later());
      EXPECT_TRUE(flushed.flusher.note_later());
      if (i == 2) flushed.found = Flusher::Look::left;
    }
    EXPECT_TRUE(flushed.comes_again());
    if (i == 2) continue;
    EXPECT_TRUE(flushed.has_parked());
  }
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(flushed.comes_again());
}

TEST(NetworkFlusher, is_not_kept_from_coming_soon_by_a_note_for_later) {
  Flushed flushed;
  {
    const std::scoped_lock lock(flushed.owners);
    EXPECT_TRUE(flushed.flusher.note_later());
    EXPECT_TRUE(flushed.flusher.note());
  }
  EXPECT_TRUE(flushed.comes_again());
  EXPECT_TRUE(flushed.has_parked());
}

// Ticks are 250 us apart where they are needed.
TEST(NetworkFlusher, comes_ever_later_while_it_is_not_needed) {
  Flushed flushed;
  flushed.found = Flusher::Look::needless;
  flushed.note();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(flushed.comes_again());
    flushed.note();
  }
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(25));
  EXPECT_TRUE(flushed.has_parked());
}

// A rank that comes by itself is left alone, but for times when it did not come for a whole tick.
TEST(NetworkFlusher, goes_in_only_when_its_rank_has_not_come) {
  using Clock = std::chrono::steady_clock;
  Flushed flushed;
  flushed.note();
  ASSERT_TRUE(flushed.comes_again());
  const auto begin = Clock::now();
  std::int64_t ticks_missed = 1;
  unsigned visits = 0;
  for (auto now = begin, last = begin; now - begin < std::chrono::milliseconds(20); last = now) {
    {
      const std::scoped_lock lock(flushed.owners);
      flushed.flusher.came();
      EXPECT_TRUE(flushed.flusher.note());
    }
    {
      const std::scoped_lock lock(flushed.mutex);
      visits += std::exchange(flushed.count, 0);
    }
    now = Clock::now();
    ticks_missed += (now - last) / std::chrono::microseconds(200);
  }
  EXPECT_LE(visits, ticks_missed);
  EXPECT_TRUE(flushed.comes_again());
  EXPECT_TRUE(flushed.has_parked());
}

// Whoever notes beside its ticks: what was noted last is seen by a later tick.
TEST(NetworkFlusher, misses_no_note_between_ticking_and_parking) {
  const photon::test::Watchdog watchdog{std::chrono::seconds(60)};
  std::uint64_t noted = 0, seen = 0;
  OwnerLock owners;
  std::mutex mutex;
  std::condition_variable changed;
  Flusher flusher(owners, [&] {
    const std::scoped_lock lock(mutex);
    seen = noted;
    changed.notify_all();
    return Flusher::Look::done;
  });
  for (unsigned round = 0; round < 40; ++round) {
    const std::uint64_t want = noted + 1;
    {
      const std::scoped_lock inside(owners);
      const std::scoped_lock lock(mutex);
      noted = want;
      EXPECT_TRUE(flusher.note());
    }
    std::unique_lock lock(mutex);
    ASSERT_TRUE(changed.wait_for(lock, std::chrono::seconds(20), [&] { return seen == want; }));
    lock.unlock();
    // Parked after some 2 ms: about there the next note comes.
    const auto until =
        std::chrono::steady_clock::now() + std::chrono::microseconds(1900 + 10 * round);
    while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
  }
}

TEST(NetworkFlusher, ends_whatever_it_does) {
  { Flushed never_started; }
  {
    Flushed ticking;
    ticking.note();
  }
  Flushed parked;
  parked.note();
  EXPECT_TRUE(parked.has_parked());
}

TEST(NetworkFlusher, does_not_begin_again_after_its_end) {
  for (const bool has_begun : {false, true}) {
    Flushed flushed;
    if (has_begun) flushed.note();
    flushed.flusher.stop();
    const std::scoped_lock lock(flushed.owners);
    EXPECT_FALSE(flushed.flusher.note());
    EXPECT_FALSE(flushed.flusher.note_later());
  }
}

}  // namespace
}  // namespace photon::transport::network
