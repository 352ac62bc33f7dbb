// Messages to mailboxes that their sender calls back, over every transport.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <algorithm>
#include <vector>

#include "engine/mailbox_calls.hpp"

namespace photon::test {
namespace {

constexpr std::size_t kMuch = 300'000;

class AbortOver : public OverSettings {};

struct Aborted {
  ph_request request = PH_REQUEST_NONE;
  std::uint64_t epoch = 0;
};

ph_status ask(ph_context* context, ph_mailbox_put_args args, Aborted& asked) {
  args.flags = 0;
  args.request = &asked.request;
  args.landed_in = &asked.epoch;
  return insist(context, [&] { return ph_mailbox_put(context, 1, &args); });
}

// Its verdict may be here already.
void call_back(ph_context* context, Aborted& asked) {
  ph_outcome outcome = PH_CANCELLED;
  ASSERT_EQ(ph_cancel(context, &asked.request, &outcome), PH_OK);
  EXPECT_NE(outcome, PH_CANCELLED);
}

ph_status end_of(ph_context* context, Aborted& asked) {
  return ph_wait_request(context, &asked.request, nullptr, kTakeTimeoutUs);
}

TEST_P(AbortOver, what_waits_for_a_buffer_never_lands) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    ph_mailbox box{};
    if (rank == 1) box = opened(context);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      for (const std::size_t size : {std::size_t{0}, std::size_t{8}, std::size_t{3000}, kMuch}) {
        std::vector<std::byte> source = filled(size, 7);
        Aborted asked;
        ASSERT_EQ(ask(context, mail(source), asked), PH_OK);
        call_back(context, asked);
        call_back(context, asked);
        EXPECT_EQ(end_of(context, asked), PH_ERR_NOT_FOUND) << size;
        EXPECT_EQ(asked.epoch, PH_ANY_EPOCH);
        ph_outcome outcome{};
        EXPECT_EQ(ph_cancel(context, &asked.request, &outcome), PH_ERR_NOT_FOUND) << "it is taken";
        std::fill(source.begin(), source.end(), std::byte{0xee});
      }
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      const auto source = filled(100, 1);
      EXPECT_EQ(verdict(context, 1, mail(source)), PH_OK);
    } else {
      std::vector<std::byte> memory(kMuch);
      ASSERT_EQ(post(context, box, memory, 100), PH_OK);
      const ph_mailbox_event event = taken(context, box);
      EXPECT_EQ(event.operations, 1u);
      EXPECT_EQ(event.bytes, 100u);
      EXPECT_EQ(first_difference({memory.data(), 100}, 1), 100u);
      EXPECT_EQ(std::count(memory.begin() + 100, memory.end(), std::byte{}),
                static_cast<std::ptrdiff_t>(kMuch - 100));
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

TEST_P(AbortOver, what_has_landed_says_in_which_epoch) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    std::vector<std::byte> memory(3 * kMuch);
    ph_mailbox box{};
    if (rank == 1) {
      box = opened(context);
      for (std::size_t i = 0; i < 3; ++i)
        ASSERT_EQ(post(context, box, std::span(memory).subspan(i * kMuch, kMuch)), PH_OK);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      const auto source = filled(kMuch, 1);
      for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
        Aborted asked;
        ASSERT_EQ(ask(context, mail(source), asked), PH_OK);
        ASSERT_EQ(end_of(context, asked), PH_OK);
        EXPECT_EQ(asked.epoch, epoch);
      }
    } else {
      for (int i = 0; i < 3; ++i) EXPECT_EQ(taken(context, box).bytes, kMuch);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

// Whatever crosses on the way: each is counted exactly if its request ends well, in the epoch that
// it names, and a source that came back may be overwritten at once.
TEST_P(AbortOver, at_any_moment_is_landed_or_not_landed) {
  constexpr std::uint64_t kCount = 60;
  ThreadJob job(2, options());
  std::vector<std::uint64_t> landed_in(kCount, PH_ANY_EPOCH);
  std::vector<std::uint64_t> found_in(kCount, PH_ANY_EPOCH);
  job.run([&](ph_context* context, ph_rank rank) {
    const auto size_of = [](std::uint64_t i) { return i % 3 == 0 ? kMuch + i : 100 + i; };
    if (rank == 0) {
      for (std::uint64_t i = 0; i < kCount; ++i) {
        std::vector<std::byte> source = filled(size_of(i), i);
        Aborted asked;
        ASSERT_EQ(ask(context, mail(source), asked), PH_OK);
        ph_status status = PH_AGAIN;
        for (std::uint64_t turn = 0; status == PH_AGAIN; ++turn) {
          if (turn == i * i % 64) {
            call_back(context, asked);
          }
          status = ph_test(context, &asked.request, nullptr);
        }
        std::fill(source.begin(), source.end(), std::byte{0xee});
        ASSERT_TRUE(status == PH_OK || status == PH_ERR_NOT_FOUND) << status;
        ASSERT_EQ(status == PH_OK, asked.epoch != PH_ANY_EPOCH);
        landed_in[i] = asked.epoch;
      }
      ph_mailbox_put_args last = mail({});
      EXPECT_EQ(verdict(context, 1, last), PH_OK);
    } else {
      const ph_mailbox box = opened(context, {.unit = PH_MAILBOX_OPERATIONS});
      std::vector<std::byte> memory(2 * kMuch);
      for (bool is_over = false; !is_over;) {
        ASSERT_EQ(post(context, box, memory, 1), PH_OK);
        const ph_mailbox_event event = taken(context, box);
        is_over = event.bytes == 0;
        if (is_over) break;
        const std::uint64_t i = event.bytes > kMuch - 1 ? event.bytes - kMuch : event.bytes - 100;
        ASSERT_LT(i, kCount);
        ASSERT_EQ(first_difference({memory.data(), event.bytes}, i), event.bytes) << i;
        EXPECT_EQ(found_in[i], PH_ANY_EPOCH) << "counted twice";
        found_in[i] = event.epoch;
      }
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
  EXPECT_EQ(landed_in, found_in);
}

// The call returns at once, and the request ends with the receiver's next progress.
TEST_P(AbortOver, of_a_receiver_without_progress_never_blocks) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    const auto source = filled(kMuch, 1);
    Aborted asked;
    if (rank == 1) opened(context);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      ASSERT_EQ(ask(context, mail(source), asked), PH_OK);
      call_back(context, asked);
    }
    job.meet();
    if (rank == 0) {
      EXPECT_EQ(end_of(context, asked), PH_ERR_NOT_FOUND);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

TEST_P(AbortOver, of_a_lane_that_closes_is_not_landed) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    ph_context* lane = nullptr;
    ASSERT_EQ(ph_lane_open(context, 3, &lane), PH_OK);
    const auto source = filled(kMuch, 1);
    Aborted asked;
    if (rank == 1) opened(lane);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      ASSERT_EQ(ask(lane, mail(source), asked), PH_OK);
    }
    job.meet(lane);
    if (rank == 0) {
      call_back(lane, asked);
    } else {
      ASSERT_EQ(ph_lane_close(lane), PH_OK);
    }
    if (rank == 0) {
      const ph_status status = end_of(lane, asked);
      EXPECT_TRUE(status == PH_ERR_NOT_FOUND || status == PH_ERR_DEPARTED) << status;
      EXPECT_EQ(asked.epoch, PH_ANY_EPOCH);
      EXPECT_EQ(ph_lane_close(lane), PH_OK);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, AbortOver, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
