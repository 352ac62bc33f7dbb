// When handlers of active messages run, and what goes on meanwhile: chunks that are lent, floods,
// ids of the application, and the end of a registration.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "engine/am_calls.hpp"
#include "support/taken_back.hpp"

namespace photon::test {
namespace {

class AmProbe : public OverSettings {};

TEST_P(AmProbe, plain_probe_still_sees_ids) {
  constexpr std::uint64_t kCount = 500;
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    std::uint64_t handled = 0, ids = 0;
    AmHandler handler([&](const ph_am_message&, ph_am_landing&) {
      ++handled;
      return PH_OK;
    });
    handler.enroll(context, 1);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    std::uint64_t sent = 0, told = 0;
    while (sent < kCount || told < kCount || ids < kCount || handled < kCount) {
      if (sent < kCount && ph_am_send_small(context, 1 - rank, 1, {}) == PH_OK) ++sent;
      if (told < kCount && ph_notify(context, 1 - rank, told) == PH_OK) ++told;
      std::array<ph_completion, 8> found{};
      std::size_t count = 0;
      ASSERT_EQ(ph_probe(context, kAnyRemote, found.data(), found.size(), &count), PH_OK);
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(found[i].id_size_bytes, 8u);
        ASSERT_EQ(found[i].id, ids++) << "an id of the application, in order";
      }
    }
    EXPECT_EQ(ids, kCount);
    EXPECT_EQ(handled, kCount);
    job.meet(context);
  });
}

class AmUnregister : public OverSettings {};

TEST_P(AmUnregister, waits_for_the_one_that_runs) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    std::atomic<bool> has_begun = false, has_ended = false, may_end = false;
    AmHandler handler([&](const ph_am_message&, ph_am_landing&) {
      has_begun = true;
      while (!may_end) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      has_ended = true;
      return PH_OK;
    });
    handler.enroll(context, 1);
    job.meet();  // which runs no handler
    if (rank == 0) {
      ASSERT_EQ(small_surely(context, 1, 1, {}), PH_OK);
    } else {
      std::thread runner([&] { poll_until(context, [&] { return has_ended.load(); }); });
      while (!has_begun) std::this_thread::yield();
      std::thread releasing([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        may_end = true;
      });
      EXPECT_EQ(ph_am_unregister(context, 1), PH_OK);
      EXPECT_TRUE(has_ended) << "it came back while the handler ran";
      releasing.join();
      runner.join();
    }
    job.meet(context);
  });
}

TEST_P(AmUnregister, lets_other_handlers_run_while_it_waits) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    AmRecord record(context, 2);
    AmHandler handler([](const ph_am_message&, ph_am_landing&) { return PH_OK; });
    for (std::uint64_t round = 0; round < 20; ++round) {
      handler.enroll(context, 1);
      ASSERT_EQ(small_surely(context, 1 - rank, 2, filled(8, round)), PH_OK);
      ASSERT_EQ(ph_am_unregister(context, 1), PH_OK);
    }
    poll_until(context, [&] { return record.all.size() == 20; });
    job.meet(context);
  });
}

class AmReply : public OverSettings {};

// Both ranks ask all the time, and answer all the time, with as little room as there may be.
TEST_P(AmReply, flood_both_ways) {
  constexpr std::uint64_t kCount = 1000;
  ThreadJob job(2, options({{"am_slots", "4"}, {"am_queue_bytes", "65536"}}));
  job.run([&](ph_context* context, ph_rank rank) {
    std::uint64_t replies = 0;
    AmHandler server([&](const ph_am_message& message, ph_am_landing&) {
      const ph_am_args args =
          am_args(2, {static_cast<const std::byte*>(message.payload), message.payload_bytes});
      EXPECT_EQ(ph_am_reply(&message, &args), PH_OK) << last_error(context).text;
      return PH_OK;
    });
    AmHandler client([&](const ph_am_message& message, ph_am_landing&) {
      std::uint64_t value = 0;
      std::memcpy(&value, message.payload, sizeof value);
      EXPECT_EQ(value, replies++);
      return PH_OK;
    });
    server.enroll(context, 1);
    client.enroll(context, 2);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    for (std::uint64_t i = 0; i < kCount; ++i) {
      std::vector<std::byte> bytes(i % 7 == 0 ? 2000 : 8 + i % 60);
      std::memcpy(bytes.data(), &i, sizeof i);
      ph_am_args args = am_args(1, bytes);
      args.flags |= PH_AM_REPLY;
      ASSERT_EQ(send_surely(context, [&] { return ph_am_send(context, 1 - rank, &args); }), PH_OK)
          << last_error(context).text;
    }
    poll_until(context, [&] { return replies == kCount; });
    job.meet(context);
  });
}

class AmQueue : public OverSettings {};

// Each message is answered by two more until its hops are used up: more than slots and queues hold.
TEST_P(AmQueue, handlers_that_flood_each_other_go_on) {
  constexpr ph_rank kRanks = 3;
  constexpr std::uint64_t kHops = 9;
  ThreadJob job(kRanks, options({{"am_slots", "4"}}));
  static std::atomic<std::uint64_t> handled, accepted;
  handled = accepted = 0;
  job.run([&](ph_context* context, ph_rank rank) {
    AmHandler handler([&](const ph_am_message& message, ph_am_landing&) {
      std::uint64_t hops = 0;
      std::memcpy(&hops, message.payload, sizeof hops);
      if (hops != 0) {
        --hops;
        for (const ph_rank to : {(rank + 1) % kRanks, (rank + 2) % kRanks}) {
          const ph_status status = ph_am_send_small(context, to, 1, {&hops, sizeof hops});
          EXPECT_EQ(status, PH_OK) << last_error(context).text;
          accepted += status == PH_OK;
        }
      }
      ++handled;
      return PH_OK;
    });
    handler.enroll(context, 1);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    accepted += 2;
    for (int i = 0; i < 2; ++i)
      ASSERT_EQ(small_surely(context, (rank + 1) % kRanks, 1, std::as_bytes(std::span(&kHops, 1))),
                PH_OK);
    const std::uint64_t all = kRanks * 2 * ((std::uint64_t{2} << kHops) - 1);
    poll_until(context, [&] { return handled == all; });
    EXPECT_EQ(accepted, all);
    job.meet(context);
  });
}

// What a handler sends beyond `am_queue_bytes` it is told of; the rest goes all the same.
TEST_P(AmQueue, a_handler_is_told_when_its_queue_is_full_and_nothing_accepted_is_lost) {
  ThreadJob job(2, options({{"am_slots", "4"}, {"am_queue_bytes", "65536"}}));
  static std::atomic<std::uint64_t> accepted, refused, handled;
  accepted = refused = handled = 0;
  job.run([&](ph_context* context, ph_rank rank) {
    AmHandler source([&](const ph_am_message& message, ph_am_landing&) {
      const auto bytes = filled(1000, 3);
      for (int i = 0; i < 200; ++i) {
        const ph_am_args args = am_args(2, bytes);
        const ph_status status = ph_am_send(context, message.source, &args);
        EXPECT_TRUE(status == PH_OK || status == PH_ERR_MEMORY) << last_error(context).text;
        ++(status == PH_OK ? accepted : refused);
      }
      return PH_OK;
    });
    AmHandler sink([&](const ph_am_message& message, ph_am_landing&) {
      EXPECT_EQ(message.payload_bytes, 1000u);
      ++handled;
      return PH_OK;
    });
    source.enroll(context, 1);
    sink.enroll(context, 2);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      ASSERT_EQ(small_surely(context, 1, 1, {}), PH_OK);
      // Who takes what the handler sends gives slots back: that comes when it has returned.
      poll_until(context, [&] { return accepted + refused != 0; });
      while (accepted + refused != 200) std::this_thread::yield();
    }
    poll_until(context, [&] { return accepted + refused == 200 && handled == accepted; });
    EXPECT_GT(refused, 0u);
    EXPECT_GT(accepted, 20u);
    job.meet(context);
  });
}

class AmLent : public OverSettings {};

// Its sender goes on sending, more than the ring holds.
TEST_P(AmLent, chunk_is_not_overwritten_while_its_handler_runs) {
  constexpr std::uint64_t kCount = 120;
  constexpr std::size_t kBytes = 9000;
  ThreadJob job(2, options());
  static std::atomic<bool> is_out;
  is_out = false;
  job.run([&](ph_context* context, ph_rank rank) {
    std::uint64_t handled = 0;
    AmHandler handler([&](const ph_am_message& message, ph_am_landing&) {
      const std::span bytes(static_cast<const std::byte*>(message.payload), kBytes);
      EXPECT_EQ(message.payload_bytes, kBytes);
      EXPECT_EQ(first_difference(bytes, handled), kBytes);
      if (handled % 8 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      EXPECT_EQ(first_difference(bytes, handled), kBytes) << "it has changed meanwhile";
      ++handled;
      return PH_OK;
    });
    handler.enroll(context, 1);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      poll_until(context, [&] { return is_out.load(); });  // in the barrier nothing is lent
      for (std::uint64_t i = 0; i < kCount; ++i) {
        const auto bytes = filled(kBytes, i);
        const ph_am_args args = am_args(1, bytes);
        ASSERT_EQ(send_surely(context, [&] { return ph_am_send(context, 1, &args); }), PH_OK);
      }
    } else {
      is_out = true;
      poll_until(context, [&] { return handled == kCount; });
      // Where the ring holds so much, each is one chunk, and the poll that meets it runs its
      // handler.
      const std::uint64_t lent = am_counter(context, "am_lent");
      EXPECT_LE(lent + am_counter(context, "am_copied"), kCount);
      if (!is_small()) {
        EXPECT_GT(lent, 0u);
      }
    }
    job.meet(context);
  });
}

// Who has no slot left hears of some in the call that posts, and of what else has come. That call
// runs no handler, and whoever made it may compute for long: the sender needs its ring.
TEST_P(AmLent, nothing_is_in_a_call_that_posts) {
  ThreadJob job(2, options({{"am_slots", "4"}}));
  static std::atomic<int> step;
  step = 0;
  const auto await = [](int wanted) {
    while (step < wanted) std::this_thread::yield();
  };
  job.run([&](ph_context* context, ph_rank rank) {
    std::uint64_t handled = 0;
    AmHandler handler([&](const ph_am_message&, ph_am_landing&) {
      ++handled;
      return PH_OK;
    });
    handler.enroll(context, 1);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      for (int i = 0; i < 4; ++i) ASSERT_EQ(ph_am_send_small(context, 1, 1, {}), PH_OK);
      step = 1;
      await(2);
      ASSERT_EQ(ph_am_send_small(context, 1, 1, {}), PH_OK);
      EXPECT_EQ(handled, 0u);
      EXPECT_EQ(am_counter(context, "am_lent"), 0u);
    } else {
      await(1);
      const auto bytes = filled(1500, 1);
      const ph_am_args args = am_args(1, bytes);
      ASSERT_EQ(ph_am_send(context, 0, &args), PH_OK);
      step = 2;
    }
    poll_until(context, [&] { return handled == (rank == 0 ? 1u : 5u); });
    job.meet(context);
  });
}

TEST_P(AmLent, other_thread_serves_gets_meanwhile) {
  constexpr std::size_t kBytes = 200'000;
  ThreadJob job(2, options());
  static std::atomic<bool> inside, may_end;
  inside = may_end = false;
  job.run([&](ph_context* context, ph_rank rank) {
    std::vector<std::byte> memory(kBytes);
    fill(memory, 10 + rank);
    ph_region region{};
    ASSERT_EQ(ph_register(context, memory.data(), memory.size(), PH_ACCESS_ALL, &region), PH_OK);
    const TakenBack end(context, region);
    const auto regions = exchange(context, region);
    std::atomic<bool> has_ended = false;
    AmHandler handler([&](const ph_am_message& message, ph_am_landing&) {
      inside = true;
      while (!may_end) std::this_thread::yield();
      EXPECT_EQ(first_difference({static_cast<const std::byte*>(message.payload), 3000}, 4), 3000u);
      has_ended = true;
      return PH_OK;
    });
    handler.enroll(context, 1);
    // It serves from before the barrier on, at whose end the handler may run.
    std::atomic<bool> over = rank == 0;
    std::thread serving([&] {
      while (!over) static_cast<void>(ph_wait(context, kAnyRemote, 200));
    });
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 1) {
      poll_until(context, [&] { return has_ended.load(); });
      job.meet(context);
      over = true;
    } else {
      const auto bytes = filled(3000, 4);
      const ph_am_args args = am_args(1, bytes);
      ASSERT_EQ(send_surely(context, [&] { return ph_am_send(context, 1, &args); }), PH_OK);
      while (!inside) static_cast<void>(ph_am_poll(context, 0));
      std::vector<std::byte> landed(kBytes);
      const std::uint64_t id = 3;
      const auto get = get_args(landed, ph_at(&regions[1], 0), id, id);
      ASSERT_EQ(insist(context, [&] { return ph_get(context, 1, &get); }), PH_OK);
      EXPECT_EQ(take_polling(context, {1, PH_LOCAL, nullptr}).status, PH_OK);
      EXPECT_EQ(first_difference(landed, 11), kBytes);
      EXPECT_FALSE(may_end);
      may_end = true;
      job.meet(context);
    }
    serving.join();
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, AmProbe, testing::ValuesIn(all_settings()), setting_name);
INSTANTIATE_TEST_SUITE_P(Transports, AmUnregister, testing::ValuesIn(all_settings()), setting_name);
INSTANTIATE_TEST_SUITE_P(Transports, AmReply, testing::ValuesIn(all_settings()), setting_name);
INSTANTIATE_TEST_SUITE_P(Transports, AmQueue, testing::ValuesIn(all_settings()), setting_name);
INSTANTIATE_TEST_SUITE_P(Transports, AmLent, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
