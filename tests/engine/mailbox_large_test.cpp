// Messages larger than `mailbox_carried_max`, over every transport: their receiver reads them.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "engine/mailbox_calls.hpp"

namespace photon::test {
namespace {

constexpr std::size_t kLarge = 65'537;

class LargeMailOver : public OverSettings {};

TEST_P(LargeMailOver, lands_where_it_is_steered) {
  constexpr std::size_t kSizes[] = {kLarge, 200'000, 1'000'003, 3'000'000};
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    std::uint64_t whole = 0;
    for (const std::size_t size : kSizes) whole += size;
    std::vector<std::byte> memory(whole);
    ph_mailbox box{};
    Pointer pointer;
    if (rank == 1) {
      box = opened(context);
      ASSERT_EQ(post(context, box, memory, 0, &pointer), PH_OK);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      std::uint64_t offset = 0;
      for (const std::size_t size : kSizes) {
        const auto source = filled(size, size);
        ASSERT_EQ(verdict(context, 1, mail(source, offset)), PH_OK) << size;
        offset += size;
      }
    } else {
      const ph_mailbox_event event = taken(context, box);
      EXPECT_EQ(event.why, PH_MAILBOX_COMPLETE);
      EXPECT_EQ(event.operations, std::size(kSizes));
      EXPECT_EQ(event.bytes, whole);
      EXPECT_EQ(event.size_bytes, whole);
      EXPECT_EQ(pointer.at.address, memory.data());
      std::uint64_t offset = 0;
      for (const std::size_t size : kSizes) {
        EXPECT_EQ(first_difference({memory.data() + offset, size}, size), size);
        offset += size;
      }
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

// Small ones that are posted behind a large one to a managed mailbox stay behind it.
TEST_P(LargeMailOver, is_appended_in_the_order_of_the_calls) {
  constexpr std::uint64_t kCount = 24;
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    const auto size_of = [](std::uint64_t i) { return i % 3 == 0 ? kLarge + i : 100 + i; };
    if (rank == 0) {
      std::vector<std::vector<std::byte>> sources;
      std::vector<ph_request> requests(kCount, PH_REQUEST_NONE);
      for (std::uint64_t i = 0; i < kCount; ++i) sources.push_back(filled(size_of(i), i));
      for (std::uint64_t i = 0; i < kCount; ++i) {
        ph_mailbox_put_args args = mail(sources[i]);
        args.flags = 0;
        args.request = &requests[i];
        ASSERT_EQ(insist(context, [&] { return ph_mailbox_append(context, 1, &args); }), PH_OK);
      }
      for (ph_request& request : requests) {
        ph_result result{};
        EXPECT_EQ(ph_wait_request(context, &request, &result, kTakeTimeoutUs), PH_OK);
      }
    } else {
      const ph_mailbox box =
          opened(context, {.unit = PH_MAILBOX_OPERATIONS, .placing = PH_MAILBOX_MANAGED});
      std::vector<std::vector<std::byte>> memory(kCount / 6, std::vector<std::byte>(6 * kLarge));
      for (auto& one : memory) ASSERT_EQ(post(context, box, one, 6), PH_OK);
      std::uint64_t next = 0;
      for (std::size_t epoch = 0; epoch < memory.size(); ++epoch) {
        const ph_mailbox_event event = taken(context, box);
        EXPECT_EQ(event.epoch, epoch);
        EXPECT_EQ(event.operations, 6u);
        std::size_t at = 0;
        for (const std::uint64_t end = next + 6; next < end; at += size_of(next), ++next) {
          ASSERT_EQ(first_difference({memory[epoch].data() + at, size_of(next)}, next),
                    size_of(next))
              << next;
        }
        EXPECT_EQ(event.bytes, at);
      }
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

TEST_P(LargeMailOver, waits_at_its_sender_until_there_is_a_buffer) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    ph_mailbox box{};
    if (rank == 1) box = opened(context);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    const auto source = filled(4 * kLarge, 7);
    ph_request request = PH_REQUEST_NONE;
    if (rank == 0) {
      ph_mailbox_put_args args = mail(source);
      args.flags = 0;
      args.request = &request;
      ASSERT_EQ(insist(context, [&] { return ph_mailbox_put(context, 1, &args); }), PH_OK);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
    ph_result result{};
    if (rank == 0) {
      EXPECT_EQ(ph_test(context, &request, &result), PH_AGAIN);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
    std::vector<std::byte> memory(4 * kLarge);
    if (rank == 0) {
      EXPECT_EQ(ph_wait_request(context, &request, &result, kTakeTimeoutUs), PH_OK);
    } else {
      ASSERT_EQ(post(context, box, memory), PH_OK);
      EXPECT_EQ(taken(context, box).bytes, memory.size());
      EXPECT_EQ(first_difference(memory, 7), memory.size());
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

// Buffers are taken back at any moment: each message lands whole in one of them, and no buffer that
// came back changes.
TEST_P(LargeMailOver, is_admitted_anew_where_its_buffer_is_taken_back) {
  constexpr std::uint64_t kCount = 40;
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    const auto source_of = [](std::uint64_t i) { return filled(kLarge + 1000 * i, i); };
    if (rank == 0) {
      for (std::uint64_t i = 0; i < kCount; ++i)
        ASSERT_EQ(verdict(context, 1, mail(source_of(i))), PH_OK) << i;
    } else {
      const ph_mailbox box = opened(context, {.unit = PH_MAILBOX_OPERATIONS});
      std::vector<std::vector<std::byte>> memory(8, std::vector<std::byte>(2 * kLarge));
      for (auto& one : memory) ASSERT_EQ(post(context, box, one, 1), PH_OK);
      std::uint64_t landed = 0;
      for (std::uint64_t turn = 1; landed < kCount; ++turn) {
        // Ever more rarely: where a message needs many turns it would never land.
        if (std::has_single_bit(turn)) {
          const ph_status status = ph_mailbox_inc_epoch(context, box);
          ASSERT_TRUE(status == PH_OK || status == PH_AGAIN);
        }
        ph_mailbox_event event{};
        const ph_status status = ph_mailbox_take(context, box, &event);
        if (status == PH_AGAIN) continue;
        ASSERT_EQ(status, PH_OK);
        auto* const data = static_cast<std::byte*>(event.data);
        if (event.operations != 0) {
          ASSERT_EQ(event.operations, 1u);
          ASSERT_EQ(event.bytes, kLarge + 1000 * landed);
          ASSERT_EQ(first_difference({data, event.bytes}, landed), event.bytes) << landed;
          ++landed;
          turn = 1;
        }
        std::fill_n(data, 2 * kLarge, std::byte{0x55});
        for (int i = 0; i < 20; ++i) {
          ph_mailbox_event none{};
          if (ph_mailbox_take(context, box, &none) == PH_OK) {
            // Another one came: it is looked at like the first, without a wait.
            if (none.operations != 0) {
              ASSERT_EQ(first_difference({static_cast<std::byte*>(none.data), none.bytes}, landed),
                        none.bytes);
              ++landed;
            }
            ASSERT_EQ(post(context, box, {static_cast<std::byte*>(none.data), 2 * kLarge}, 1),
                      PH_OK);
          }
        }
        ASSERT_EQ(std::count(data, data + 2 * kLarge, std::byte{0x55}), std::ptrdiff_t{2 * kLarge})
            << "it changed after it had been handed over";
        ASSERT_EQ(post(context, box, {data, 2 * kLarge}, 1), PH_OK);
      }
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

TEST_P(LargeMailOver, is_refused_where_a_small_one_would_be) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    std::vector<std::byte> memory(kLarge);
    ph_mailbox box{};
    if (rank == 1) {
      box = opened(context);
      ASSERT_EQ(post(context, box, memory), PH_OK);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      const auto source = filled(kLarge, 1);
      ph_mailbox_put_args args = mail(source, 1);
      EXPECT_EQ(verdict(context, 1, args), PH_ERR_RANGE);
      args.address = 3;
      EXPECT_EQ(verdict(context, 1, args), PH_ERR_NOT_FOUND);
      args = mail(source);
      EXPECT_EQ(verdict(context, 1, args, true), PH_ERR_ARGUMENT);
      args.incarnation = 99;
      EXPECT_EQ(verdict(context, 1, args), PH_ERR_EPOCH);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 1) {
      ASSERT_EQ(ph_mailbox_close(context, box), PH_OK);
      const ph_mailbox_event event = taken(context, box);
      EXPECT_EQ(event.why, PH_MAILBOX_CLOSED);
      EXPECT_EQ(event.bytes + event.operations, 0u);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

// One that waits for a buffer is refused when its mailbox is closed, and its source is free.
TEST_P(LargeMailOver, is_refused_when_its_mailbox_is_closed) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    ph_mailbox box{};
    if (rank == 1) box = opened(context);
    ASSERT_EQ(ph_barrier(context), PH_OK);
    const auto source = filled(kLarge, 1);
    ph_request request = PH_REQUEST_NONE;
    if (rank == 0) {
      ph_mailbox_put_args args = mail(source);
      args.flags = 0;
      args.request = &request;
      ASSERT_EQ(insist(context, [&] { return ph_mailbox_put(context, 1, &args); }), PH_OK);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 1) {
      ASSERT_EQ(ph_mailbox_close(context, box), PH_OK);
    }
    ph_result result{};
    if (rank == 0) {
      EXPECT_EQ(ph_wait_request(context, &request, &result, kTakeTimeoutUs), PH_ERR_NOT_FOUND);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, LargeMailOver, testing::ValuesIn(all_settings()),
                         setting_name);

}  // namespace
}  // namespace photon::test
