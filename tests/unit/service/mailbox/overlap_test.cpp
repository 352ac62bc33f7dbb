// Bytes that land where bytes have landed: counted, counted once, refused.
#include <utility>
#include <vector>

#include "mailbox_unit.hpp"
#include "service/mailbox/box_policy.hpp"
#include "shortage.hpp"

namespace photon::service::mailbox::test {
namespace {

using photon::test::Shortage;

ph_mailbox_args with(std::uint32_t flags, std::uint32_t retained = 0) {
  ph_mailbox_args args = Mailing::box_args();
  args.flags = flags;
  args.retained = retained;
  return args;
}

using Pairs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

struct Overlapping : Mailing {
  explicit Overlapping(const ph_mailbox_args& args) : box(open(args)) {
    EXPECT_EQ(post(box, std::span(memory).first(64)), PH_OK);
  }
  bool put(std::uint64_t offset, std::size_t size) {
    return deliver(mail(1, kBox, some(size), 0, offset));
  }
  // Begin and end of each.
  Pairs ranges(std::uint64_t epoch = 0) {
    std::vector<ph_mailbox_range> all(16);
    std::size_t count = 0;
    EXPECT_EQ(receiver().ranges(box, epoch, all, count), PH_OK);
    Pairs found;
    for (std::size_t i = 0; i < count; ++i)
      found.emplace_back(all[i].offset, all[i].offset + all[i].size_bytes);
    return found;
  }
  Bytes memory = Bytes(192);
  ph_mailbox box;
};

TEST(Overlap, is_one_of_three_policies_of_steered_mailboxes) {
  Policy policy;
  EXPECT_EQ(policy_of(with(0), policy), "");
  EXPECT_EQ(policy.overlap, Overlap::counts);
  for (const std::uint32_t flag : {PH_MAILBOX_COUNT_ONCE, PH_MAILBOX_REFUSE_OVERLAP}) {
    EXPECT_EQ(policy_of(with(flag), policy), "");
    EXPECT_NE(policy.overlap, Overlap::counts);
    EXPECT_NE(policy_of(with(flag | PH_MAILBOX_READ), policy), "");
    EXPECT_NE(policy_of(with(flag | PH_MAILBOX_CATCH_ALL), policy), "");
    ph_mailbox_args managed = with(flag);
    managed.placing = PH_MAILBOX_MANAGED;
    EXPECT_NE(policy_of(managed, policy), "");
  }
  EXPECT_NE(policy_of(with(PH_MAILBOX_COUNT_ONCE | PH_MAILBOX_REFUSE_OVERLAP), policy), "");
}

TEST(Overlap, bytes_that_land_again_do_not_count_once_more) {
  Overlapping one(with(PH_MAILBOX_COUNT_ONCE, 1));
  ASSERT_TRUE(one.put(0, 40));
  ASSERT_TRUE(one.put(10, 40));
  ASSERT_TRUE(one.put(20, 8));
  ASSERT_TRUE(one.put(60, 4));
  EXPECT_TRUE(one.take().empty()) << "92 bytes, but 54 different ones";
  EXPECT_EQ(one.ranges(), (Pairs{{0, 50}, {60, 64}}));
  ASSERT_TRUE(one.put(48, 14));
  const auto events = one.take();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].bytes, 64u);
  EXPECT_EQ(events[0].operations, 5u);
  EXPECT_EQ(one.ranges(), (Pairs{{0, 64}})) << "of a retained epoch";
}

TEST(Overlap, a_message_that_overlaps_is_refused_and_touches_nothing) {
  Overlapping one(with(PH_MAILBOX_REFUSE_OVERLAP));
  ASSERT_TRUE(one.put(8, 8));
  const Bytes before = one.memory;
  ASSERT_TRUE(one.put(15, 8));
  ASSERT_TRUE(one.put(0, 9));
  ASSERT_TRUE(one.put(10, 2));
  ASSERT_TRUE(one.put(10, 0));
  EXPECT_EQ(one.said_to(1),
            (Texts{verdict(1, PH_ERR_RANGE), verdict(2, PH_ERR_RANGE), verdict(3, PH_ERR_RANGE)}));
  EXPECT_EQ(one.memory, before);
  ASSERT_TRUE(one.put(0, 8));
  ASSERT_TRUE(one.put(16, 48));
  const auto events = one.take();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].operations, 4u);
  EXPECT_EQ(events[0].bytes, 64u);
}

// An offer covers its place from its admission on, and no more when it cannot be read.
TEST(Overlap, what_is_under_way_covers_its_place_until_it_has_failed) {
  Overlapping one(with(PH_MAILBOX_REFUSE_OVERLAP));
  const Bytes large = some(40);
  ASSERT_TRUE(one.deliver(Mailing::offer(1, kBox, large, 0, 8)));
  ASSERT_TRUE(one.put(0, 9));
  EXPECT_EQ(one.said_to(1), (Texts{kept(0), verdict(1, PH_ERR_RANGE)}));
  EXPECT_EQ(one.ranges(), Pairs{}) << "nothing has landed";
  one.port.end_get(PH_ERR_KEY);
  ASSERT_TRUE(one.put(0, 9));
  EXPECT_EQ(one.said_to(1), Texts{verdict(0, PH_ERR_KEY)});
  EXPECT_EQ(one.ranges(), (Pairs{{0, 9}}));
}

TEST(Overlap, what_is_taken_back_covers_the_next_buffer) {
  Overlapping one(with(PH_MAILBOX_REFUSE_OVERLAP, 1));
  ASSERT_EQ(one.post(one.box, std::span(one.memory).last(64)), PH_OK);
  ASSERT_TRUE(one.put(0, 4));
  const Bytes large = some(40);
  ASSERT_TRUE(one.deliver(Mailing::offer(1, kBox, large, 0, 8)));
  ASSERT_EQ(one.receiver().inc_epoch(one.box), PH_OK);
  EXPECT_EQ(one.ranges(0), (Pairs{{0, 4}}));
  EXPECT_EQ(one.ranges(1), Pairs{});
  one.port.end_get();
  one.port.end_get();
  EXPECT_EQ(one.ranges(1), (Pairs{{8, 48}}));
}

TEST(Overlap, a_rewind_forgets_what_has_landed) {
  Overlapping one(with(PH_MAILBOX_REFUSE_OVERLAP, 1));
  ASSERT_EQ(one.post(one.box, std::span(one.memory).last(64)), PH_OK);
  ASSERT_TRUE(one.put(0, 32));
  ASSERT_TRUE(one.put(32, 32));
  ASSERT_TRUE(one.put(0, 32));
  ASSERT_EQ(one.receiver().rewind(one.box, 0), PH_OK);
  EXPECT_EQ(one.ranges(1), Pairs{});
  ASSERT_TRUE(one.put(0, 32));
  EXPECT_EQ(one.ranges(1), (Pairs{{0, 32}}));
}

TEST(Overlap, a_threshold_above_the_bytes_of_the_buffer_is_refused) {
  for (const std::uint32_t flag : {PH_MAILBOX_COUNT_ONCE, PH_MAILBOX_REFUSE_OVERLAP}) {
    Overlapping one(with(flag));
    EXPECT_EQ(one.post(one.box, std::span(one.memory).last(64), 65), PH_ERR_ARGUMENT);
    EXPECT_EQ(one.post(one.box, std::span(one.memory).last(64), 64), PH_OK);
  }
}

struct NoOwner : Window::Owner {
  void handed_over(Window&, const HandedOver&) noexcept override {}
};

TEST(Overlap, without_memory_a_message_is_refused_before_it_lands) {
  NoOwner owner;
  Policy policy;
  policy.overlap = Overlap::counts_once;
  Window window(1, policy, {});
  Bytes memory(64);
  ASSERT_EQ(window.post({.data = memory.data(), .size_bytes = 64}), PH_OK);
  const Mail mail{.offset = 4, .size_bytes = 8};
  for (int allowed = 0;; ++allowed) {
    Outcome outcome;
    {
      const Shortage shortage(allowed);
      outcome = window.admit(mail, owner);
      if (outcome.is_admitted()) window.scattered(mail, outcome, owner);
    }
    if (outcome.is_admitted()) break;
    EXPECT_EQ(outcome.status, PH_ERR_MEMORY);
    EXPECT_TRUE(window.coverage(0)->ranges().empty());
    EXPECT_EQ(window.coverage(0)->uncovered(0, 64), 64u);
    ASSERT_LT(allowed, 10);
  }
  EXPECT_EQ(window.coverage(0)->uncovered(0, 64), 56u);
  EXPECT_EQ(window.posted(0).bytes, 8u);
}

TEST(Overlap, ranges_are_those_of_a_mailbox_that_keeps_them) {
  std::size_t count = 0;
  Overlapping plain(with(0));
  EXPECT_EQ(plain.receiver().ranges(plain.box, 0, {}, count), PH_ERR_STATE);
  Overlapping one(with(PH_MAILBOX_COUNT_ONCE));
  EXPECT_EQ(one.receiver().ranges(one.box, 1, {}, count), PH_ERR_STATE) << "not posted";
  EXPECT_EQ(one.receiver().ranges({}, 0, {}, count), PH_ERR_STATE);
  for (const std::uint64_t offset : {30, 10, 50}) ASSERT_TRUE(one.put(offset, 1));
  ph_mailbox_range some_of_them[2] = {};
  EXPECT_EQ(one.receiver().ranges(one.box, 0, some_of_them, count), PH_OK);
  EXPECT_EQ(count, 3u);
  EXPECT_EQ(some_of_them[1].offset, 30u);
  EXPECT_EQ(some_of_them[1].size_bytes, 1u);
}

}  // namespace
}  // namespace photon::service::mailbox::test
