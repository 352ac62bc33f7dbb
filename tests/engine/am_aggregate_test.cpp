// Active messages that may wait for others: they come in order with all the rest, and in time.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <chrono>
#include <vector>

#include "engine/am_calls.hpp"

namespace photon::test {
namespace {

class AmAggregate : public OverSettings {
 protected:
  static ph_status send(ph_context* context, ph_rank rank, std::span<const std::byte> bytes,
                        std::uint64_t immediate, std::uint32_t flags) {
    ph_am_args args = am_args(1, bytes);
    args.flags = flags | PH_NO_LCE;
    args.immediate = immediate;
    return send_surely(context, [&] { return ph_am_send(context, rank, &args); });
  }
};

TEST_P(AmAggregate, they_come_in_order_with_all_the_rest) {
  constexpr std::uint64_t kCount = 3000;
  for (const char* const slots : {"4", "128"}) {
    ThreadJob job(2, options({{"am_slots", slots}, {"am_aggregate_bytes", "1024"}}));
    job.run([&](ph_context* context, ph_rank rank) {
      std::uint64_t next = 1;
      AmHandler handler([&](const ph_am_message& message, ph_am_landing&) {
        EXPECT_EQ(message.immediate, next++);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(message.payload) % 8, 0u);
        const std::span bytes(static_cast<const std::byte*>(message.payload),
                              static_cast<std::size_t>(message.payload_bytes));
        EXPECT_EQ(first_difference(bytes, message.immediate), bytes.size());
        return PH_OK;
      });
      handler.enroll(context, 1);
      ASSERT_EQ(ph_barrier(context), PH_OK);
      for (std::uint64_t i = 1; i <= kCount; ++i) {
        const std::size_t size = i % 97 == 0 ? 5000 : i % 13 == 0 ? 300 : i % 41;
        ASSERT_EQ(send(context, 1 - rank, filled(size, i), i, i % 7 == 0 ? 0 : PH_AM_MAY_WAIT),
                  PH_OK)
            << last_error(context).text;
      }
      poll_until(context, [&] { return next == kCount + 1; });
      job.meet(context);
    });
  }
}

// Else its time, a second, would have to go by.
TEST_P(AmAggregate, last_one_goes_before_sleep) {
  ThreadJob job(2, options({{"am_aggregate_us", "1000000"}}));
  job.run([&](ph_context* context, ph_rank rank) {
    AmHandler handler([&](const ph_am_message& message, ph_am_landing&) {
      EXPECT_EQ(ph_notify(context, message.source, 5), PH_OK);
      return PH_OK;
    });
    handler.enroll(context, 1);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      const auto begin = std::chrono::steady_clock::now();
      ASSERT_EQ(send(context, 1, {}, 1, PH_AM_MAY_WAIT), PH_OK);
      ASSERT_EQ(ph_wait(context, kAnyRemote, PH_FOREVER), PH_OK);
      EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(900));
      EXPECT_EQ(take_polling(context, kAnyRemote).id, 5u);
    }
    job.meet(context);
  });
}

TEST_P(AmAggregate, flush_and_quiesce_send_them) {
  ThreadJob job(2, options({{"am_aggregate_us", "1000000"}}));
  job.run([&](ph_context* context, ph_rank rank) {
    AmRecord record(context, 1);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_EQ(send(context, 1 - rank, {}, 1, PH_AM_MAY_WAIT), PH_OK);
    ASSERT_EQ(ph_flush(context, 1 - rank, PH_FOREVER), PH_OK);
    poll_until(context, [&] { return record.all.size() >= 1; });
    ASSERT_EQ(send(context, 1 - rank, {}, 2, PH_AM_MAY_WAIT), PH_OK);
    ASSERT_EQ(ph_am_quiesce(context, PH_FOREVER), PH_OK);
    EXPECT_EQ(record.all.size(), 2u);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(900));
    job.meet(context);
  });
}

TEST_P(AmAggregate, time_bound_holds_while_probing) {
  ThreadJob job(2, options({{"am_aggregate_us", "100"}}));
  job.run([&](ph_context* context, ph_rank rank) {
    AmRecord record(context, 1);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    for (std::size_t i = 1; i <= 5; ++i) {
      ASSERT_EQ(send(context, 1 - rank, {}, i, PH_AM_MAY_WAIT), PH_OK);
      poll_until(context, [&] { return record.all.size() >= i; });
      ASSERT_EQ(ph_barrier(context), PH_OK);
    }
    job.meet(context);
  });
}

// The rank makes no call: its progress thread sends what has waited long enough.
TEST_P(AmAggregate, time_bound_holds_while_computing) {
  if (is_sim()) GTEST_SKIP() << "its network moves in the calls of all ranks";
  ThreadJob job(2, options({{"am_aggregate_us", "100"}, {"progress_thread", "on"}}));
  std::atomic<bool> has_come = false;
  job.run([&](ph_context* context, ph_rank rank) {
    AmHandler handler([&](const ph_am_message&, ph_am_landing&) {
      has_come = true;
      return PH_OK;
    });
    handler.enroll(context, 1);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      ASSERT_EQ(send(context, 1, {}, 1, PH_AM_MAY_WAIT), PH_OK);
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (!has_come && std::chrono::steady_clock::now() < end) std::this_thread::yield();
      EXPECT_TRUE(has_come) << "it waited for a call";
      has_come = true;
    } else {
      poll_until(context, [&] { return has_come.load(); });
    }
    job.meet(context);
  });
}

TEST_P(AmAggregate, refused_items_are_told_once_with_the_id_0) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      const std::uint64_t id = 9;
      for (int i = 0; i < 3; ++i) {
        ph_am_args args = am_args(17, {});
        args.flags = PH_AM_MAY_WAIT;
        args.local = id_of(id);
        ASSERT_EQ(ph_am_send(context, 1, &args), PH_OK);
      }
      for (int i = 0; i < 3; ++i) {
        const ph_completion one = take_polling(context, {1, PH_LOCAL, nullptr});
        EXPECT_EQ(one.id, 9u);
        EXPECT_EQ(one.status, PH_OK);
      }
      const ph_completion late = take_polling(context, {1, PH_LOCAL, nullptr});
      EXPECT_EQ(late.id, 0u);
      EXPECT_EQ(late.status, PH_ERR_NOT_FOUND);
    }
    job.meet(context);
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, AmAggregate, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
