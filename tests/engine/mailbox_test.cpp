// Mailboxes over every transport: what is sent lands once, in order, and nothing else is touched.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "engine/mailbox_calls.hpp"

namespace photon::test {
namespace {

class MailboxOver : public OverSettings {};

TEST_P(MailboxOver, messages_of_every_size_land_where_they_are_steered) {
  constexpr std::size_t kSizes[] = {0,  1,   7,    8,    24,   25,     32,
                                    33, 200, 1024, 1025, 5000, 40'000, 65'536};
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    std::uint64_t whole = 0;
    for (const std::size_t size : kSizes) whole += size;
    std::vector<std::byte> memory(whole);
    Pointer pointer;
    ph_mailbox box{};
    if (rank == 1) {
      box = opened(context, {.unit = PH_MAILBOX_OPERATIONS});
      ASSERT_EQ(post(context, box, memory, std::size(kSizes), &pointer), PH_OK);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      std::uint64_t offset = 0;
      std::vector<std::vector<std::byte>> sources;
      for (const std::size_t size : kSizes) {
        sources.push_back(filled(size, size));
        ASSERT_EQ(verdict(context, 1, mail(sources.back(), offset)), PH_OK) << size;
        offset += size;
      }
    } else {
      const ph_mailbox_event event = taken(context, box);
      EXPECT_EQ(event.why, PH_MAILBOX_COMPLETE);
      EXPECT_EQ(event.operations, std::size(kSizes));
      EXPECT_EQ(event.bytes, whole);
      EXPECT_EQ(event.size_bytes, whole);
      EXPECT_EQ(event.cookie, 42u);
      EXPECT_EQ(event.data, memory.data());
      EXPECT_EQ(pointer.at.address, memory.data());
      EXPECT_EQ(pointer.at.size_bytes, whole);
      std::uint64_t offset = 0;
      for (const std::size_t size : kSizes) {
        EXPECT_EQ(first_difference({memory.data() + offset, size}, size), size);
        offset += size;
      }
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

// One buffer of one message, posted again each time; the receiver sees each value once, in order.
TEST_P(MailboxOver, epochs_follow_each_other_in_the_order_of_the_calls) {
  constexpr std::uint64_t kCount = 1500;
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    if (rank == 0) {
      for (std::uint64_t i = 0; i < kCount; ++i)
        ASSERT_EQ(insist(context,
                         [&] {
                           return ph_mailbox_put_u64(context, 1, kAddress, 0, {&i, sizeof i});
                         }),
                  PH_OK);
    } else {
      const ph_mailbox box = opened(context);
      std::array<std::uint64_t, 2> memory{};
      for (std::uint64_t& one : memory)
        ASSERT_EQ(post(context, box, std::as_writable_bytes(std::span(&one, 1))), PH_OK);
      for (std::uint64_t i = 0; i < kCount; ++i) {
        const ph_mailbox_event event = taken(context, box);
        ASSERT_EQ(event.epoch, i);
        auto* const value = static_cast<std::uint64_t*>(event.data);
        ASSERT_EQ(*value, i);
        ASSERT_EQ(post(context, box, std::as_writable_bytes(std::span(value, 1))), PH_OK);
      }
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

// They come before the mailbox has a buffer, and hold up nothing else.
TEST_P(MailboxOver, early_messages_wait_and_delay_no_other_mailbox_and_no_id) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    constexpr std::uint64_t kOther = 5;
    ph_mailbox box{}, other{};
    std::vector<std::byte> memory(8 * 100);
    std::uint64_t value = 0;
    if (rank == 1) {
      box = opened(context, {.unit = PH_MAILBOX_OPERATIONS, .placing = PH_MAILBOX_MANAGED});
      other = opened(context, {.address = kOther});
      ASSERT_EQ(post(context, other, std::as_writable_bytes(std::span(&value, 1))), PH_OK);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      for (std::uint64_t i = 0; i < 100; ++i) {
        const ph_mailbox_put_args args = mail(std::as_bytes(std::span(&i, 1)));
        ASSERT_EQ(insist(context, [&] { return ph_mailbox_append(context, 1, &args); }), PH_OK);
      }
      const std::uint64_t nine = 9;
      ph_mailbox_put_args args = mail(std::as_bytes(std::span(&nine, 1)));
      args.address = kOther;
      ASSERT_EQ(verdict(context, 1, args), PH_OK);
      ASSERT_EQ(insist(context, [&] { return ph_notify(context, 1, 77); }), PH_OK);
    } else {
      EXPECT_EQ(taken(context, other).bytes, 8u);
      EXPECT_EQ(value, 9u);
      EXPECT_EQ(take_remote(context, 0).id, 77u);
      ph_mailbox_event event{};
      EXPECT_EQ(ph_mailbox_take(context, box, &event), PH_AGAIN);
      ASSERT_EQ(post(context, box, memory, 100), PH_OK);
      EXPECT_EQ(taken(context, box).operations, 100u) << "at once, for they were there";
      for (std::uint64_t i = 0; i < 100; ++i) {
        std::uint64_t found = 0;
        std::memcpy(&found, memory.data() + 8 * i, 8);
        ASSERT_EQ(found, i);
      }
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

TEST_P(MailboxOver, what_is_refused_touches_nothing_and_its_sender_hears_why) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    std::array<std::byte, 64> memory{};
    ph_mailbox box{};
    if (rank == 1) {
      box = opened(context);
      opened(context, {.address = 6, .flags = PH_MAILBOX_REFUSE_EARLY});
      opened(context, {.address = 7, .source = 1});
      ASSERT_EQ(post(context, box, memory), PH_OK);
      ASSERT_EQ(ph_mailbox_inc_epoch(context, box), PH_OK);
      EXPECT_EQ(taken(context, box).why, PH_MAILBOX_EARLY);
      ASSERT_EQ(post(context, box, memory), PH_OK);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      const auto bytes = filled(16, 3);
      ph_mailbox_put_args args = mail(bytes, 49);
      EXPECT_EQ(verdict(context, 1, args), PH_ERR_RANGE);
      args.offset = UINT64_MAX - 20;
      EXPECT_EQ(verdict(context, 1, args), PH_ERR_RANGE);
      args.offset = UINT64_MAX;
      EXPECT_EQ(verdict(context, 1, args), PH_ERR_ARGUMENT) << "it wraps";
      args = mail(bytes);
      args.epoch = 0;
      EXPECT_EQ(verdict(context, 1, args), PH_ERR_EPOCH);
      args.epoch = PH_ANY_EPOCH;
      args.incarnation = 99;
      EXPECT_EQ(verdict(context, 1, args), PH_ERR_EPOCH);
      args.incarnation = 0;
      EXPECT_EQ(verdict(context, 1, args, true), PH_ERR_ARGUMENT) << "an append";
      args.address = 6;
      EXPECT_EQ(verdict(context, 1, args), PH_ERR_NO_BUFFER);
      args.address = 7;
      EXPECT_EQ(verdict(context, 1, args), PH_ERR_ACCESS);
      args.address = 8;
      EXPECT_EQ(verdict(context, 1, args), PH_ERR_NOT_FOUND);
      ASSERT_EQ(insist(context, [&] { return ph_notify(context, 1, 1); }), PH_OK);
    } else {
      EXPECT_EQ(take_remote(context, 0).id, 1u);
      ASSERT_EQ(ph_mailbox_close(context, box), PH_OK);
      const ph_mailbox_event event = taken(context, box);
      EXPECT_EQ(event.why, PH_MAILBOX_CLOSED);
      EXPECT_EQ(event.operations, 0u);
      for (const std::byte one : memory) EXPECT_EQ(one, std::byte{});
      ph_mailbox_event none{};
      EXPECT_EQ(ph_mailbox_take(context, box, &none), PH_ERR_STATE);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

// Of one that was over the refusal comes as one more completion.
TEST_P(MailboxOver, a_refusal_of_what_was_over_comes_as_one_more_completion) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    if (rank == 0) {
      const auto bytes = filled(16, 3);
      const std::uint64_t id = 5;
      ph_mailbox_put_args args = mail(bytes);
      args.address = 8;
      args.flags = 0;
      args.local = id_of(id);
      ASSERT_EQ(insist(context, [&] { return ph_mailbox_put(context, 1, &args); }), PH_OK);
      EXPECT_EQ(take_local(context, 1).status, PH_OK);
      const ph_completion refused = take_local(context, 1);
      EXPECT_EQ(refused.status, PH_ERR_NOT_FOUND);
      EXPECT_EQ(refused.id, id);
      EXPECT_EQ(insist(context,
                       [&] {
                         return ph_mailbox_put_u64(context, 1, 8, 0, {bytes.data(), 8});
                       }),
                PH_OK);
      EXPECT_EQ(take_local(context, 1).status, PH_ERR_NOT_FOUND);
      ASSERT_EQ(insist(context, [&] { return ph_notify(context, 1, 1); }), PH_OK);
    } else {
      EXPECT_EQ(take_remote(context, 0).id, 1u);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

TEST_P(MailboxOver, a_reopened_mailbox_goes_on_and_refuses_mail_of_its_former_life) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    std::array<std::byte, 8> memory{};
    if (rank == 1) {
      ph_mailbox box = opened(context);
      std::uint64_t epoch = 9;
      std::uint32_t incarnation = 0;
      ASSERT_EQ(ph_mailbox_epoch(context, box, &epoch, &incarnation), PH_OK);
      EXPECT_EQ(epoch, 0u);
      ASSERT_EQ(insist(context, [&] { return ph_notify(context, 0, incarnation); }), PH_OK);
      ASSERT_EQ(post(context, box, memory), PH_OK);
      ASSERT_EQ(ph_mailbox_close(context, box), PH_OK);
      EXPECT_EQ(post(context, box, memory), PH_ERR_STATE);
      EXPECT_EQ(taken(context, box).epoch, 0u);
      box = opened(context);
      std::uint32_t now = 0;
      ASSERT_EQ(ph_mailbox_epoch(context, box, &epoch, &now), PH_OK);
      EXPECT_EQ(epoch, 1u);
      EXPECT_NE(now, incarnation);
      ASSERT_EQ(post(context, box, memory), PH_OK);
      ASSERT_EQ(insist(context, [&] { return ph_notify(context, 0, now); }), PH_OK);
      EXPECT_EQ(taken(context, box).epoch, 1u);
    } else {
      const auto before = static_cast<std::uint32_t>(take_remote(context, 1).id);
      const auto now = static_cast<std::uint32_t>(take_remote(context, 1).id);
      const auto bytes = filled(8, 3);
      ph_mailbox_put_args args = mail(bytes);
      args.incarnation = before;
      EXPECT_EQ(verdict(context, 1, args), PH_ERR_EPOCH);
      args.incarnation = now;
      args.epoch = 1;
      EXPECT_EQ(verdict(context, 1, args), PH_OK);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

TEST_P(MailboxOver, rewind_makes_a_retained_epoch_the_last_one_again) {
  ThreadJob job(1, options());
  job.run([&](ph_context* context, ph_rank) {
    std::array<std::array<std::byte, 8>, 4> memory{};
    const ph_mailbox box = opened(context, {.retained = 3});
    for (auto& one : memory) ASSERT_EQ(post(context, box, one), PH_OK);
    for (int i = 0; i < 3; ++i) {
      const auto bytes = filled(8, i);
      ASSERT_EQ(verdict(context, 0, mail(bytes)), PH_OK);
      EXPECT_EQ(taken(context, box).epoch, std::uint64_t(i));
    }
    EXPECT_EQ(post(context, box, memory[1]), PH_ERR_STATE) << "it is retained";
    std::array<ph_mailbox_event, 2> found{};
    std::size_t count = 0;
    ASSERT_EQ(ph_mailbox_retained(context, box, found.data(), found.size(), &count), PH_OK);
    EXPECT_EQ(count, 3u);
    EXPECT_EQ(found[0].epoch, 2u);
    EXPECT_EQ(found[1].epoch, 1u);
    EXPECT_EQ(ph_mailbox_rewind(context, box, 3), PH_ERR_STATE);
    ASSERT_EQ(ph_mailbox_rewind(context, box, 0), PH_OK);
    for (const std::uint64_t epoch : {1, 2}) {
      const ph_mailbox_event event = taken(context, box);
      EXPECT_EQ(event.why, PH_MAILBOX_REWOUND);
      EXPECT_EQ(event.epoch, epoch);
    }
    ASSERT_EQ(post(context, box, memory[1]), PH_OK) << "it came back";
    const auto bytes = filled(8, 9);
    ph_mailbox_put_args args = mail(bytes);
    args.incarnation = found[0].incarnation;
    EXPECT_EQ(verdict(context, 0, args), PH_ERR_EPOCH) << "of the former life";
    args.incarnation = 0;
    args.epoch = 1;
    EXPECT_EQ(verdict(context, 0, args), PH_OK);
    EXPECT_EQ(taken(context, box).epoch, 1u);
    EXPECT_EQ(ph_mailbox_release(context, box, 0), PH_OK);
    EXPECT_EQ(ph_mailbox_release(context, box, 0), PH_ERR_STATE);
  });
}

TEST_P(MailboxOver, arguments_that_cannot_be_are_refused) {
  ThreadJob job(1, options());
  job.run([&](ph_context* context, ph_rank) {
    ph_mailbox box{};
    ph_mailbox_args args{};
    EXPECT_EQ(ph_mailbox_open(context, &args, &box), PH_ERR_ARGUMENT) << "no size";
    args.size = sizeof args;
    args.source = 5;
    EXPECT_EQ(ph_mailbox_open(context, &args, &box), PH_ERR_RANK);
    args.source = PH_ANY_RANK;
    args.flags = 1 << 9;
    EXPECT_EQ(ph_mailbox_open(context, &args, &box), PH_ERR_ARGUMENT);
    args.flags = 0;
    args.unit = static_cast<ph_mailbox_unit>(7);
    EXPECT_EQ(ph_mailbox_open(context, &args, &box), PH_ERR_ARGUMENT);
    args.unit = PH_MAILBOX_OPERATIONS;
    ASSERT_EQ(ph_mailbox_open(context, &args, &box), PH_OK);
    ph_mailbox again{};
    EXPECT_EQ(ph_mailbox_open(context, &args, &again), PH_ERR_STATE) << "a double open";
    std::array<std::byte, 64> memory{};
    EXPECT_EQ(post(context, box, memory), PH_ERR_ARGUMENT) << "operations have no threshold of 0";
    EXPECT_EQ(post(context, {12345}, memory, 1), PH_ERR_STATE);
    ph_mailbox_buffer buffer{sizeof buffer, memory.data(), 8, 1, nullptr, 0};
    alignas(64) std::array<std::byte, 128> pointers{};
    buffer.pointer = reinterpret_cast<ph_mailbox_pointer*>(pointers.data() + 16);
    EXPECT_EQ(ph_mailbox_post(context, box, &buffer), PH_ERR_ARGUMENT) << "not at a multiple of 64";
    buffer.pointer = nullptr;
    ASSERT_EQ(ph_mailbox_post(context, box, &buffer), PH_OK);
    buffer.data = memory.data() + 7;
    EXPECT_EQ(ph_mailbox_post(context, box, &buffer), PH_ERR_STATE) << "it overlaps";
    buffer.data = nullptr;
    EXPECT_EQ(ph_mailbox_post(context, box, &buffer), PH_ERR_ARGUMENT);
    const auto bytes = filled(8, 1);
    ph_mailbox_put_args args_of = mail(bytes);
    args_of.flags = 1 << 20;
    EXPECT_EQ(ph_mailbox_put(context, 0, &args_of), PH_ERR_ARGUMENT);
    args_of = mail(bytes);
    EXPECT_EQ(ph_mailbox_put(context, 7, &args_of), PH_ERR_RANK);
    ph_mailbox_event event{};
    EXPECT_EQ(ph_mailbox_take(context, {777}, &event), PH_ERR_STATE);
    EXPECT_EQ(ph_mailbox_take(context, box, nullptr), PH_ERR_ARGUMENT);
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, MailboxOver, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
