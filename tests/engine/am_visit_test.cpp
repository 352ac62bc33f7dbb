// Handlers of active messages that run in visits: by a thread whose lane it is not.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <atomic>
#include <thread>

#include "engine/am_calls.hpp"
#include "support/rounds.hpp"

namespace photon::test {
namespace {

class AmVisit : public OverSettings {};

// One that computes makes no call; a thread beside it looks after its lane.
TEST_P(AmVisit, handlers_of_a_lane_whose_thread_computes_run_in_visits) {
  constexpr std::uint64_t kCount = 200;
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    std::atomic<std::uint64_t> handled = 0;
    AmHandler handler([&](const ph_am_message& message, ph_am_landing&) {
      EXPECT_EQ(message.immediate, handled.load()) << "in order";
      ++handled;
      return PH_OK;
    });
    handler.enroll(context, 1);
    job.meet(context);
    if (rank == 0) {
      for (std::uint64_t i = 0; i < kCount; ++i) {
        ph_am_args args = am_args(1, {});
        args.immediate = i;
        ASSERT_EQ(send_surely(context, [&] { return ph_am_send(context, 1, &args); }), PH_OK);
      }
    } else {
      std::thread visitor([&] {
        while (handled < kCount) {
          const ph_status status = ph_am_poll(context, PH_AM_VISIT);
          ASSERT_TRUE(status == PH_OK || status == PH_AGAIN) << ph_status_text(status);
        }
      });
      visitor.join();  // no call of the context's own thread until then
    }
    job.meet(context);
  });
}

// Both are inside again and again: nothing runs twice, nothing is left, and who comes back from a
// handler does not wait until the other one is outside by chance.
TEST_P(AmVisit, beside_a_thread_that_polls_nothing_is_lost_and_no_two_handlers_run_at_once) {
  constexpr std::uint64_t kCount = rounds(1000);
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    std::atomic<int> inside = 0;
    std::uint64_t handled = 0;  // by handlers alone, one at a time
    std::atomic<bool> is_over = false, has_run_in_a_visit = false;
    AmHandler handler([&](const ph_am_message&, ph_am_landing&) {
      EXPECT_EQ(inside.fetch_add(1), 0);
      is_over = ++handled == kCount;
      inside.fetch_sub(1);
      return PH_OK;
    });
    handler.enroll(context, 1);
    job.meet(context);
    std::thread visitor([&] {
      while (!is_over)
        if (ph_am_poll(context, PH_AM_VISIT) == PH_OK) has_run_in_a_visit = true;
    });
    for (std::uint64_t i = 0; i < kCount; ++i)
      ASSERT_EQ(small_surely(context, 1 - rank, 1, filled(8, i)), PH_OK);
    // Or the progress thread was faster.
    while (!has_run_in_a_visit && !is_over) std::this_thread::yield();
    poll_until(context, [&] { return is_over.load(); });
    visitor.join();
    job.meet(context);
  });
}

// They enter the lane by themselves then.
TEST_P(AmVisit, handlers_may_reply_in_a_visit) {
  constexpr std::uint64_t kCount = 200;
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    std::atomic<std::uint64_t> handled = 0;
    AmHandler handler([&](const ph_am_message& message, ph_am_landing&) {
      if ((message.flags & PH_AM_IS_REPLY) == 0) {
        const ph_am_args answer = am_args(1, {});
        EXPECT_EQ(ph_am_reply(&message, &answer), PH_OK);
      }
      ++handled;
      return PH_OK;
    });
    handler.enroll(context, 1);
    job.meet(context);
    if (rank == 0) {
      for (std::uint64_t i = 0; i < kCount; ++i) {
        ph_am_args args = am_args(1, {});
        args.flags |= PH_AM_REPLY;
        ASSERT_EQ(send_surely(context, [&] { return ph_am_send(context, 1, &args); }), PH_OK);
      }
      poll_until(context, [&] { return handled == kCount; });
    } else {
      std::thread visitor([&] {
        while (handled < kCount) ASSERT_GE(ph_am_poll(context, PH_AM_VISIT), PH_OK);
      });
      visitor.join();
    }
    job.meet(context);
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, AmVisit, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
