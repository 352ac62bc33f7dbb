// Bytes and operations that will not come, over every transport.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <vector>

#include "engine/mailbox_calls.hpp"

namespace photon::test {
namespace {

class WithdrawOver : public OverSettings {};

ph_mailbox_withdraw_args withdrawal(std::uint64_t bytes, std::uint64_t operations) {
  ph_mailbox_withdraw_args args{};
  args.size = sizeof args;
  args.address = kAddress;
  args.bytes = bytes;
  args.operations = operations;
  args.epoch = PH_ANY_EPOCH;
  return args;
}

ph_status withdraw(ph_context* context, ph_mailbox_withdraw_args args) {
  ph_request request = PH_REQUEST_NONE;
  args.request = &request;
  const ph_status posted = insist(context, [&] { return ph_mailbox_withdraw(context, 1, &args); });
  if (posted != PH_OK) return posted;
  return ph_wait_request(context, &request, nullptr, kTakeTimeoutUs);
}

// Ranks 0 and 2 owe eight messages each; one gives up after three.
TEST_P(WithdrawOver, an_epoch_ends_incomplete_when_a_sender_gives_up) {
  constexpr std::uint64_t kEach = 8;
  constexpr std::size_t kBytes = 3000;
  ThreadJob job(3, options());
  job.run([&](ph_context* context, ph_rank rank) {
    std::vector<std::byte> memory(2 * kEach * kBytes);
    ph_mailbox box{};
    Pointer pointer;
    if (rank == 1) {
      box = opened(context, {.unit = PH_MAILBOX_OPERATIONS});
      ASSERT_EQ(post(context, box, memory, 2 * kEach, &pointer), PH_OK);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
    const std::uint64_t sent = rank == 0 ? 3 : kEach;
    if (rank != 1) {
      for (std::uint64_t i = 0; i < sent; ++i) {
        const std::uint64_t at = i + (rank == 0 ? 0 : kEach);
        const auto source = filled(kBytes, at);
        ASSERT_EQ(verdict(context, 1, mail(source, at * kBytes)), PH_OK);
      }
      if (sent != kEach) {
        EXPECT_EQ(withdraw(context, withdrawal((kEach - sent) * kBytes, kEach - sent)), PH_OK);
      }
    } else {
      const ph_mailbox_event event = taken(context, box);
      EXPECT_EQ(event.why, PH_MAILBOX_INCOMPLETE);
      EXPECT_EQ(event.operations, 3 + kEach);
      EXPECT_EQ(event.bytes, (3 + kEach) * kBytes);
      EXPECT_EQ(event.withdrawn_operations, kEach - 3);
      EXPECT_EQ(event.withdrawn_bytes, (kEach - 3) * kBytes);
      EXPECT_EQ(pointer.at.address, memory.data());
      for (std::uint64_t at = 0; at < 2 * kEach; ++at) {
        if (at >= 3 && at < kEach) continue;
        EXPECT_EQ(first_difference({memory.data() + at * kBytes, kBytes}, at), kBytes) << at;
      }
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

// A withdrawal of an epoch that is over counts into no other.
TEST_P(WithdrawOver, what_cannot_be_withdrawn_is_refused) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    std::vector<std::byte> memory(128);
    ph_mailbox box{};
    if (rank == 1) {
      box = opened(context);
      for (const std::size_t i : {0, 1})
        ASSERT_EQ(post(context, box, std::span(memory).subspan(64 * i, 64)), PH_OK);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      ph_mailbox_withdraw_args args = withdrawal(65, 0);
      EXPECT_EQ(withdraw(context, args), PH_ERR_RANGE);
      args.bytes = UINT64_MAX;
      EXPECT_EQ(withdraw(context, args), PH_ERR_RANGE);
      args.bytes = 0;
      EXPECT_EQ(withdraw(context, args), PH_ERR_ARGUMENT);
      args.bytes = 64;
      args.address = 3;
      EXPECT_EQ(withdraw(context, args), PH_ERR_NOT_FOUND);
      args.address = kAddress;
      args.incarnation = 99;
      EXPECT_EQ(withdraw(context, args), PH_ERR_EPOCH);
      args.incarnation = 0;
      args.epoch = 0;
      EXPECT_EQ(withdraw(context, args), PH_OK);
      EXPECT_EQ(withdraw(context, args), PH_ERR_EPOCH);
      const auto source = filled(64, 1);
      EXPECT_EQ(verdict(context, 1, mail(source)), PH_OK);
    } else {
      EXPECT_EQ(taken(context, box).why, PH_MAILBOX_INCOMPLETE);
      const ph_mailbox_event event = taken(context, box);
      EXPECT_EQ(event.why, PH_MAILBOX_COMPLETE);
      EXPECT_EQ(event.withdrawn_bytes, 0u);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

// Without a request the refusal is one more completion.
TEST_P(WithdrawOver, is_over_at_once_and_refused_later) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    if (rank == 0) {
      const std::uint64_t id = 42;
      ph_mailbox_withdraw_args args = withdrawal(1, 1);
      args.local = {&id, sizeof id};
      ASSERT_EQ(insist(context, [&] { return ph_mailbox_withdraw(context, 1, &args); }), PH_OK);
      for (const ph_status status : {PH_OK, PH_ERR_NOT_FOUND}) {
        const ph_completion found = take_local(context, 1);
        EXPECT_EQ(found.status, status);
        EXPECT_EQ(found.id, id);
      }
    }
    job.meet(context);
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, WithdrawOver, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
