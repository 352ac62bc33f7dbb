// When mailboxes that linger are due, and what they do then.
#include "service/mailbox/lingers.hpp"

#include "mailbox_unit.hpp"
#include "service/mailbox/box_policy.hpp"

namespace photon::service::mailbox::test {
namespace {

TEST(Lingers, those_whose_time_has_come_are_due_in_their_order) {
  Lingers all;
  EXPECT_EQ(all.next_ns(), INT64_MAX);
  for (std::uint32_t box = 0; box < 3; ++box) all.add(box, 10 * (3 - box));
  EXPECT_EQ(all.next_ns(), INT64_MAX) << "nothing has landed";
  all.began(0, 5, 1000);
  all.began(2, 7, 2000);
  EXPECT_EQ(all.next_ns(), 12'000);
  EXPECT_TRUE(all.lingers(0, 5));
  EXPECT_FALSE(all.lingers(0, 6));
  EXPECT_FALSE(all.lingers(1, 0));
  EXPECT_EQ(all.next_due(11'999), std::nullopt);
  EXPECT_EQ(all.next_due(31'000), 2u);
  EXPECT_EQ(all.next_due(31'000), 0u);
  EXPECT_EQ(all.next_due(INT64_MAX), std::nullopt);
  all.began(1, 1, 0);
  all.began(2, 8, 0);
  all.stop(2);
  all.remove(1);
  all.remove(1);
  EXPECT_EQ(all.next_ns(), INT64_MAX);
}

TEST(Lingers, a_time_that_never_comes_is_not_due) {
  Lingers all;
  all.add(0, UINT64_MAX);
  all.began(0, 0, 1'000'000);
  EXPECT_TRUE(all.lingers(0, 0));
  EXPECT_EQ(all.next_due(INT64_MAX - 2), std::nullopt);
}

ph_mailbox_args lingering(std::uint32_t flags = 0) {
  ph_mailbox_args args = Mailing::box_args();
  args.placing = PH_MAILBOX_MANAGED;
  args.linger_us = 5;
  args.flags = flags;
  return args;
}

struct Lingering : Mailing {
  explicit Lingering(std::uint32_t flags = 0) : box(open(lingering(flags))) {
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(post(box, buffer(i)), PH_OK);
  }
  std::span<std::byte> buffer(std::size_t i) { return std::span(memory).subspan(64 * i, 64); }
  bool append(const Bytes& bytes) { return deliver(mail(1, kBox, bytes, kAppends)); }
  std::vector<ph_mailbox_event> after(std::int64_t ns) {
    port.now += ns;
    service.turn();
    return take();
  }
  Bytes memory = Bytes(256);
  ph_mailbox box;
};

TEST(Lingers, only_managed_mailboxes_do) {
  Policy policy;
  ph_mailbox_args args = lingering();
  EXPECT_EQ(policy_of(args, policy), "");
  args.placing = PH_MAILBOX_STEERED;
  EXPECT_EQ(policy_of(args, policy), "only a managed mailbox lingers");
}

TEST(Lingers, a_buffer_is_handed_over_so_long_after_its_first_byte) {
  for (const std::uint32_t flags : {std::uint32_t{0}, std::uint32_t{PH_MAILBOX_SPLIT}}) {
    Lingering one(flags);
    EXPECT_TRUE(one.after(1'000'000).empty()) << "it is empty";
    ASSERT_TRUE(one.append(some(8)));
    EXPECT_LE(one.service.next_turn_ns(), one.port.now + 5000) << "a sleeping waiter wakes";
    EXPECT_TRUE(one.after(4000).empty());
    ASSERT_TRUE(one.append(some(8)));
    EXPECT_TRUE(one.after(999).empty());
    const auto events = one.after(1);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].why, PH_MAILBOX_LINGER);
    EXPECT_EQ(events[0].bytes, 16u);
    EXPECT_EQ(events[0].operations, 2u);
    EXPECT_EQ(one.service.next_turn_ns(), INT64_MAX);
    EXPECT_TRUE(one.after(1'000'000).empty());
    ASSERT_TRUE(one.append(some(8)));
    EXPECT_EQ(one.after(5000).size(), 1u) << "and the next one";
  }
}

// Of each buffer anew.
TEST(Lingers, the_time_of_a_buffer_that_is_full_or_taken_back_is_over) {
  Lingering one;
  ASSERT_TRUE(one.append(some(64)));
  EXPECT_EQ(one.after(0).size(), 1u);
  EXPECT_TRUE(one.after(10'000).empty());
  ASSERT_TRUE(one.append(some(8)));
  one.port.now += 4000;
  ASSERT_TRUE(one.append(some(60)));  // the next buffer
  auto events = one.after(4999);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].why, PH_MAILBOX_FULL);
  ASSERT_EQ(one.receiver().inc_epoch(one.box), PH_OK);
  events = one.after(1);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].why, PH_MAILBOX_EARLY);
  EXPECT_EQ(one.service.next_turn_ns(), INT64_MAX);
  ASSERT_TRUE(one.append(some(8)));
  ASSERT_EQ(one.receiver().close(one.box), PH_OK);
  static_cast<void>(one.take());
  one.service.turn();
  EXPECT_EQ(one.service.next_turn_ns(), INT64_MAX);
}

// What is being read lands in the next buffer, as where the owner takes one back.
TEST(Lingers, a_message_under_way_lands_in_the_next_buffer) {
  Lingering one;
  const Bytes large = some(40);
  ASSERT_TRUE(one.append(some(8)));
  ASSERT_TRUE(one.deliver(Mailing::offer(1, kBox, large, kAppends)));
  const auto events = one.after(5000);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].why, PH_MAILBOX_LINGER);
  EXPECT_EQ(events[0].bytes, 8u);
  one.port.end_get();
  EXPECT_EQ(Bytes(one.buffer(0).begin() + 8, one.buffer(0).end()), Bytes(56));
  one.port.end_get();
  EXPECT_EQ(Bytes(one.buffer(1).begin(), one.buffer(1).begin() + 40), large);
  const auto next = one.after(5000);
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(next[0].bytes, 40u);
}

}  // namespace
}  // namespace photon::service::mailbox::test
