// What mailboxes do with messages by the choices of their owners, over every transport.
#include <gtest/gtest.h>
#include <malloc.h>
#include <photon/photon.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "engine/mailbox_calls.hpp"

namespace photon::test {
namespace {

class MailboxPolicyOver : public OverSettings {};

TEST_P(MailboxPolicyOver, a_catch_all_takes_what_names_no_open_mailbox) {
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    std::vector<std::vector<std::byte>> memory(3, std::vector<std::byte>(2000));
    ph_mailbox box{}, all{};
    if (rank == 1) {
      box = opened(context);
      all = opened(context, {.address = 5, .flags = PH_MAILBOX_CATCH_ALL});
      ASSERT_EQ(post(context, box, memory[0], 8), PH_OK);
      for (const std::size_t i : {1, 2}) ASSERT_EQ(post(context, all, memory[i]), PH_OK);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      const auto small = filled(8, 3), large = filled(1500, 4);
      EXPECT_EQ(verdict(context, 1, mail(small)), PH_OK);
      ph_mailbox_put_args args = mail(large, 100);
      args.address = 77;
      EXPECT_EQ(verdict(context, 1, args), PH_OK);
      args.offset = 0;
      args.address = 78;
      args.epoch = 0;
      EXPECT_EQ(verdict(context, 1, args), PH_ERR_NOT_FOUND) << "an epoch of no mailbox";
      args.epoch = PH_ANY_EPOCH;
      EXPECT_EQ(verdict(context, 1, args, true), PH_OK);
    } else {
      EXPECT_EQ(taken(context, box).named, kAddress);
      for (const std::uint64_t i : {1, 2}) {
        const ph_mailbox_event event = taken(context, all);
        EXPECT_EQ(event.address, 5u);
        EXPECT_EQ(event.named, 76 + i);
        EXPECT_EQ(event.from, 0u);
        EXPECT_EQ(event.operations, 1u);
        const std::size_t offset = i == 1 ? 100 : 0;
        EXPECT_EQ(first_difference({memory[i].data() + offset, 1500}, 4), 1500u);
      }
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

// Messages of many sizes, divided over buffers of others, which are posted again and again.
TEST_P(MailboxPolicyOver, split_messages_are_one_stream_of_bytes) {
  constexpr std::size_t kMessages = 40;
  const auto size_of = [](std::size_t i) { return 1 + i * i * 37 % 9000; };
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    ph_mailbox box{};
    std::vector<std::vector<std::byte>> memory(3, std::vector<std::byte>(1000));
    if (rank == 1) {
      box = opened(context, {.placing = PH_MAILBOX_MANAGED, .flags = PH_MAILBOX_SPLIT});
      for (auto& one : memory) ASSERT_EQ(post(context, box, one), PH_OK);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 0) {
      for (std::size_t i = 0; i < kMessages; ++i) {
        const auto bytes = filled(size_of(i), i);
        ASSERT_EQ(verdict(context, 1, mail(bytes), true), PH_OK);
      }
    } else {
      std::uint64_t whole = 0;
      for (std::size_t i = 0; i < kMessages; ++i) whole += size_of(i);
      std::vector<std::byte> found;
      while (found.size() + 1000 <= whole) {
        const ph_mailbox_event event = taken(context, box);
        ASSERT_EQ(event.bytes, 1000u);
        auto* const data = static_cast<std::byte*>(event.data);
        found.insert(found.end(), data, data + event.size_bytes);
        ASSERT_EQ(post(context, box, {data, 1000}), PH_OK);
      }
      std::size_t at = 0;
      for (std::size_t i = 0; i < kMessages && at < found.size(); at += size_of(i++)) {
        const std::size_t size = std::min(size_of(i), found.size() - at);
        EXPECT_EQ(first_difference(std::span(found).subspan(at, size), i), size) << i;
      }
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

std::uint64_t counted(ph_context* context, std::string_view name) {
  std::array<ph_counter, 128> all{};
  std::size_t count = 0;
  EXPECT_EQ(ph_counters(context, PH_ANY_RANK, all.data(), all.size(), &count), PH_OK);
  for (std::size_t i = 0; i < std::min(count, all.size()); ++i)
    if (all[i].name == name) return all[i].value;
  ADD_FAILURE() << "no counter " << name;
  return 0;
}

// Of the heap; sanitizers say 0.
std::uint64_t in_use_now() {
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

// Each message left behind would be at least 64 bytes, in one of the two ranks.
TEST_P(MailboxPolicyOver, a_flood_to_nobody_leaves_memory_flat) {
  constexpr std::uint64_t kWarmUp = 4000, kFlood = 40'000, kMost = 1 << 20;
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    if (rank == 1) {
      const ph_mailbox box = opened(context, {.flags = PH_MAILBOX_SILENT_CLOSE});
      ASSERT_EQ(ph_mailbox_close(context, box), PH_OK);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
    std::uint64_t before = 0;
    for (const std::uint64_t messages : {kWarmUp, kFlood}) {
      before = in_use_now();
      if (rank == 0) {
        for (std::uint64_t i = 0; i < messages; ++i)
          ASSERT_EQ(insist(context,
                           [&] {
                             return ph_mailbox_put_u64(context, 1, kAddress, 0, {&i, sizeof i});
                           }),
                    PH_OK);
        const auto bytes = filled(8, 1);
        EXPECT_EQ(verdict(context, 1, mail(bytes)), PH_ERR_NOT_FOUND) << "who asks is told";
        EXPECT_EQ(ph_probe_u64(context, PH_ANY_RANK, PH_LOCAL).kind, 0u) << "and nobody else";
      }
      ASSERT_EQ(ph_barrier(context), PH_OK);
    }
    EXPECT_LT(in_use_now(), before + kMost);
    if (rank == 1) {
      EXPECT_EQ(counted(context, "dropped"), kWarmUp + kFlood);
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, MailboxPolicyOver, testing::ValuesIn(all_settings()),
                         setting_name);

}  // namespace
}  // namespace photon::test
