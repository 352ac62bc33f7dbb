// What a mailbox knows of its buffers, and when it hands them over, over every transport.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <array>
#include <utility>
#include <vector>

#include "engine/mailbox_calls.hpp"

namespace photon::test {
namespace {

class MailboxBuffersOver : public OverSettings {};

using Pairs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

// Offset and size of each.
Pairs ranges_of(ph_context* context, ph_mailbox box, std::uint64_t epoch) {
  std::array<ph_mailbox_range, 8> all{};
  ph_mailbox_range_list list{all.data(), all.size(), 0};
  EXPECT_EQ(ph_mailbox_ranges(context, box, epoch, &list), PH_OK) << last_error(context).text;
  Pairs found;
  for (std::size_t i = 0; i < list.count; ++i) found.emplace_back(all[i].offset, all[i].size_bytes);
  return found;
}

TEST_P(MailboxBuffersOver, overlap_is_counted_once_or_refused_for_messages_of_any_size) {
  constexpr std::size_t kBytes = 300'000, kLarge = 100'000;
  for (const bool refuses : {false, true}) {
    ThreadJob job(2, options());
    job.run([&](ph_context* context, ph_rank rank) {
      std::vector<std::byte> memory(kBytes);
      ph_mailbox box{};
      if (rank == 1) {
        const std::uint32_t flag = refuses ? PH_MAILBOX_REFUSE_OVERLAP : PH_MAILBOX_COUNT_ONCE;
        box = opened(context, {.flags = flag, .retained = 1});
        ASSERT_EQ(post(context, box, memory), PH_OK);
      }
      ASSERT_EQ(ph_barrier(context), PH_OK);
      const ph_status again = refuses ? PH_ERR_RANGE : PH_OK;
      if (rank == 0) {
        const auto put = [&](std::size_t offset, std::size_t size) {
          return verdict(context, 1, mail(filled(size, 1), offset));
        };
        EXPECT_EQ(put(10, 8), PH_OK);
        EXPECT_EQ(put(kLarge, kLarge), PH_OK);
        EXPECT_EQ(put(17, 8), again);
        EXPECT_EQ(put(2 * kLarge - 1, kLarge), again);
        EXPECT_EQ(put(kLarge + 5, 2000), again);
        EXPECT_EQ(put(18, 0), PH_OK);
      }
      ASSERT_EQ(ph_barrier(context), PH_OK);
      if (rank == 1) {
        const Pairs refused = {{10, 8}, {kLarge, kLarge}};
        const Pairs counted = {{10, 15}, {kLarge, 2 * kLarge - 1}};
        EXPECT_EQ(ranges_of(context, box, 0), refuses ? refused : counted);
        EXPECT_EQ(first_difference(std::span(memory).subspan(kLarge, 5), 1), 5u);
      }
      ASSERT_EQ(ph_barrier(context), PH_OK);
      if (rank == 0) {
        const auto first = filled(10, 1), second = filled(kLarge - (refuses ? 18 : 25), 1),
                   third = filled(refuses ? kLarge : 1, 1);
        EXPECT_EQ(verdict(context, 1, mail(first)), PH_OK);
        EXPECT_EQ(verdict(context, 1, mail(second, refuses ? 18 : 25)), PH_OK);
        EXPECT_EQ(verdict(context, 1, mail(third, kBytes - third.size())), PH_OK);
      } else {
        const ph_mailbox_event event = taken(context, box);
        EXPECT_EQ(event.why, PH_MAILBOX_COMPLETE);
        EXPECT_EQ(event.bytes, kBytes);
        EXPECT_EQ(event.operations, refuses ? 6u : 9u);
        EXPECT_EQ(ranges_of(context, box, 0), (Pairs{{0, kBytes}}));
        ph_mailbox_range_list none{};
        EXPECT_EQ(ph_mailbox_ranges(context, box, 1, &none), PH_ERR_STATE);
      }
      ASSERT_EQ(ph_barrier(context), PH_OK);
    });
  }
}

// The receiver sleeps, and nothing more comes: its own time wakes it.
TEST_P(MailboxBuffersOver, one_that_lingers_is_handed_over_in_time) {
  constexpr std::size_t kTurns = 3;
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    std::vector<std::vector<std::byte>> memory(kTurns, std::vector<std::byte>(1000));
    ph_mailbox box{};
    if (rank == 1) {
      box = opened(context, {.placing = PH_MAILBOX_MANAGED, .linger_us = 2000});
      for (auto& one : memory) ASSERT_EQ(post(context, box, one), PH_OK);
    }
    for (std::size_t turn = 0; turn < kTurns; ++turn) {
      ASSERT_EQ(ph_barrier(context), PH_OK);
      if (rank == 0) {
        const auto source = filled(100 + turn, turn);
        EXPECT_EQ(verdict(context, 1, mail(source), true), PH_OK);
      } else {
        const ph_mailbox_event event = taken(context, box);
        EXPECT_EQ(event.epoch, turn);
        EXPECT_EQ(event.why, PH_MAILBOX_LINGER);
        EXPECT_EQ(event.bytes, 100 + turn);
        EXPECT_EQ(first_difference({memory[turn].data(), event.bytes}, turn), event.bytes);
      }
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

TEST_P(MailboxBuffersOver, those_that_are_posted_are_told) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    std::vector<std::byte> memory(32);
    ph_mailbox box{};
    std::array<ph_mailbox_posted, 4> all{};
    std::size_t count = 0;
    if (rank == 1) {
      box = opened(context);
      ASSERT_EQ(post(context, box, std::span(memory).first(8)), PH_OK);
      ASSERT_EQ(post(context, box, std::span(memory).last(16)), PH_OK);
      ASSERT_EQ(ph_mailbox_buf_ptrs(context, box, all.data(), all.size(), &count), PH_OK);
      ASSERT_EQ(count, 2u);
      EXPECT_EQ(all[0].data, memory.data());
      EXPECT_EQ(all[1].data, memory.data() + 16);
      EXPECT_EQ(all[1].size_bytes, 16u);
      EXPECT_EQ(all[1].cookie, 42u);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      const auto source = filled(8, 1);
      EXPECT_EQ(verdict(context, 1, mail(source)), PH_OK);
    } else {
      static_cast<void>(taken(context, box));
      ASSERT_EQ(ph_mailbox_buf_ptrs(context, box, all.data(), all.size(), &count), PH_OK);
      ASSERT_EQ(count, 1u);
      EXPECT_EQ(all[0].epoch, 1u);
      EXPECT_EQ(all[0].data, memory.data() + 16);
      ASSERT_EQ(ph_mailbox_close(context, box), PH_OK);
      EXPECT_EQ(ph_mailbox_buf_ptrs(context, box, all.data(), all.size(), &count), PH_ERR_STATE);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, MailboxBuffersOver, testing::ValuesIn(all_settings()),
                         setting_name);

}  // namespace
}  // namespace photon::test
