// arm, look, sleep, disarm: idle without a lost wake-up. A rank that is not woken would sleep
// ten minutes; the watchdog ends the test long before.
#include <chrono>
#include <ctime>

#include "transport_harness.hpp"

namespace photon::test {
namespace {

constexpr std::int64_t kTenMinutesUs = 600'000'000;

const auto kNothing = [] { return false; };

std::int64_t thread_cpu_ms() {
  timespec time = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1000 + time.tv_nsec / 1'000'000;
}

TEST_P(TransportConformance, a_sleep_ends_at_its_deadline) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  for (const std::int64_t timeout_us : {0, 1, 1000, 30'000})
    job[0].sleep_unless(kNothing, timeout_us);  // the watchdog is the test
}

TEST_P(TransportConformance, a_sleeping_rank_uses_no_processor) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  job.settle();
  const std::int64_t before_ms = thread_cpu_ms();
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(400);
  while (std::chrono::steady_clock::now() < end) {
    job[0].poll();
    job[0].sleep_unless(kNothing, 400'000);
  }
  EXPECT_LT(thread_cpu_ms() - before_ms, 200);
}

TEST_P(TransportConformance, wake_from_another_thread_ends_a_sleep) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  for (unsigned i = 0; i < 200; ++i) {
    // It may come before, in or after the sleep's beginning; after arm() it counts always.
    job[0].transport().arm();
    std::thread waker([&] {
      if (i % 4 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      job[0].transport().wake();
    });
    if (i % 4 == 1) waker.join();
    job[0].transport().sleep(kTenMinutesUs);
    job[0].transport().disarm();
    if (waker.joinable()) waker.join();
  }
}

TEST_P(TransportConformance, waking_a_rank_that_does_not_sleep_is_harmless) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  for (unsigned i = 0; i < 1000; ++i) job[0].transport().wake();
  for (unsigned i = 0; i < 20; ++i) job[0].sleep_unless(kNothing, 1000);
  ASSERT_TRUE(job[1].to(0).send(record_of_lines(1, 3)));
  job[0].wait_until([&] { return job[0].to(1).has_record(); });
  EXPECT_EQ(job[0].to(1).receive(), record_of_lines(1, 3));
}

TEST_P(TransportConformance, what_is_sent_between_announcing_and_sleeping_ends_the_sleep) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  for (std::uint64_t i = 0; i < 100; ++i) {
    job[0].set_cold(true);
    job[0].transport().arm();
    ASSERT_TRUE(job[1].to(0).send(record_of_lines(1, i)));
    job[0].transport().sleep(kTenMinutesUs);
    job[0].transport().disarm();
    job[0].set_cold(false);
    job[0].wait_until([&] { return job[0].to(1).has_record(); });
    ASSERT_EQ(job[0].to(1).receive(), record_of_lines(1, i));
    job[1].poll();  // its credits
  }
}

TEST_P(TransportConformance, two_ranks_that_sleep_after_every_record_lose_no_wake_up) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  constexpr std::uint64_t kRounds = 2000;
  job.on_threads([&](transport::Rank rank) {
    Channel& peer = job[rank].to(1 - rank);
    for (std::uint64_t i = 0; i < kRounds; ++i) {
      if (rank == 0 && !peer.send(record_of_lines(1, i))) throw std::runtime_error("no room");
      job[rank].wait_until([&] { return peer.has_record(); });
      if (peer.receive() != record_of_lines(1, i)) throw std::runtime_error("another record");
      if (rank == 1 && !peer.send(record_of_lines(1, i))) throw std::runtime_error("no room");
    }
  });
}

TEST_P(TransportConformance, a_sender_that_sleeps_for_credit_is_woken_by_it) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  constexpr std::uint64_t kRecords = 3000;
  job.on_threads([&](transport::Rank rank) {
    Channel& peer = job[rank].to(1 - rank);
    for (std::uint64_t i = 0; i < kRecords; ++i) {
      const Record record = random_record(i, job.config().bulk_chunk);
      if (rank == 0) {
        job[0].wait_until([&] { return peer.fits(record); });
        peer.send(record);
      } else {
        job[1].wait_until([&] { return peer.has_record(); });
        if (peer.receive() != record) throw std::runtime_error("another record");
      }
    }
  });
}

// What comes back there is no credit of the ring.
TEST_P(TransportConformance, a_sender_that_sleeps_for_room_in_its_overflow_is_woken) {
  TransportHarness job(GetParam(), 2);
  ASSERT_TRUE(job.opened());
  ASSERT_TRUE(job.join(0, 1));
  if (job[0].to(1).link().tx_overflow.words == nullptr)
    GTEST_SKIP() << "this transport shares no overflow";
  const std::uint64_t capacity = job.config().overflow_bytes / sizeof(std::uint64_t);
  sync::OverflowProducer<transport::Policy> out(job[0].to(1).link().tx_overflow, capacity);
  sync::OverflowConsumer<transport::Policy> in(job[1].to(0).link().rx_overflow, capacity);
  job.settle();
  for (std::uint64_t i = 0; i < 100; ++i) {
    std::uint64_t position = 0;
    out.publish({0, 1, true}, position);
    in.jump(position);
    ASSERT_EQ(in.peek(), decltype(in)::State::entry);
    job[0].set_cold(true);
    job[0].transport().arm();
    ASSERT_EQ(out.refresh(), 0u);
    in.pop(1);
    in.give_back();
    job[1].transport().kick(0);
    job[0].transport().sleep(kTenMinutesUs);
    job[0].transport().disarm();
    job[0].set_cold(false);
    EXPECT_EQ(out.refresh(), 1u);
    job[0].poll();  // takes what woke it
  }
}

TEST_P(TransportConformance, first_contact_ends_a_sleep) {
  TransportHarness job(GetParam(), 4);
  ASSERT_TRUE(job.opened());
  job.on_threads([&](transport::Rank rank) {
    if (rank == 0) {
      for (transport::Rank from = 1; from < job.size(); ++from) {
        job[0].wait_until([&] { return job[0].knows(from) && job[0].to(from).has_record(); });
        if (job[0].to(from).receive() != record_of_lines(2, from))
          throw std::runtime_error("another record");
      }
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(20 * rank));
      job[rank].to(0).send(record_of_lines(2, rank));
    }
  });
}

}  // namespace
}  // namespace photon::test
