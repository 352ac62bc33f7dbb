// What senders say will not come: at its receiver, and how it is said (the table of docs/mailbox.md
// has the states of a window).
#include <utility>

#include "mailbox_unit.hpp"

namespace photon::service::mailbox::test {
namespace {

constexpr std::uint64_t kWithdraws = 16;

struct Withdrawing : Mailing {
  static Coming withdrawal(std::uint64_t bytes, std::uint64_t operations, std::uint64_t flags = 0,
                           std::uint64_t address = kBox) {
    return {1, words_of({1 | (flags | kWithdraws) << 8, address, operations, bytes}), {}, {}, 0, 0};
  }
  // The verdict of one that asks.
  std::string judged(std::uint64_t bytes, std::uint64_t operations, std::uint64_t address = kBox) {
    EXPECT_TRUE(deliver(withdrawal(bytes, operations, kAsks, address)));
    const Texts all = said_to(1);
    return all.empty() ? "" : all.back();
  }
  static ph_mailbox_args in_operations() {
    ph_mailbox_args args = box_args();
    args.unit = PH_MAILBOX_OPERATIONS;
    return args;
  }
};

TEST(MailboxWithdraw, the_unit_decides_what_counts_and_the_other_is_added_up) {
  for (const ph_mailbox_unit unit : {PH_MAILBOX_BYTES, PH_MAILBOX_OPERATIONS}) {
    Withdrawing one;
    ph_mailbox_args args = Mailing::box_args();
    args.unit = unit;
    const ph_mailbox box = one.open(args);
    Bytes memory(64);
    ASSERT_EQ(one.post(box, memory, 8), PH_OK);
    const bool counts_bytes = unit == PH_MAILBOX_BYTES;
    ASSERT_TRUE(one.deliver(counts_bytes ? Withdrawing::withdrawal(3, 1000)
                                         : Withdrawing::withdrawal(1000, 3)));
    EXPECT_TRUE(one.take(box).empty());
    ASSERT_TRUE(
        one.deliver(counts_bytes ? Withdrawing::withdrawal(5, 0) : Withdrawing::withdrawal(0, 5)));
    const auto events = one.take(box);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].why, PH_MAILBOX_INCOMPLETE);
    EXPECT_EQ(events[0].bytes + events[0].operations + events[0].size_bytes, 0u);
    EXPECT_EQ(events[0].withdrawn_bytes, counts_bytes ? 8u : 1000u);
    EXPECT_EQ(events[0].withdrawn_operations, counts_bytes ? 1000u : 8u);
    EXPECT_EQ(events[0].from, PH_ANY_RANK);
    EXPECT_EQ(events[0].data, memory.data());
  }
}

TEST(MailboxWithdraw, an_incomplete_epoch_says_what_has_landed) {
  Withdrawing one;
  const ph_mailbox box = one.open(Withdrawing::in_operations());
  Bytes memory(64), next(64);
  ASSERT_EQ(one.post(box, memory, 3), PH_OK);
  ASSERT_EQ(one.post(box, next, 1), PH_OK);
  ASSERT_TRUE(one.deliver(Mailing::mail(2, kBox, some(10), 0, 5)));
  ASSERT_TRUE(one.deliver(Withdrawing::withdrawal(20, 2)));
  ASSERT_TRUE(one.deliver(Mailing::mail(2, kBox, some(64))));
  const auto events = one.take(box);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].why, PH_MAILBOX_INCOMPLETE);
  EXPECT_EQ(events[0].bytes, 10u);
  EXPECT_EQ(events[0].operations, 1u);
  EXPECT_EQ(events[0].size_bytes, 15u);
  EXPECT_EQ(events[0].from, 2u);
  EXPECT_EQ(events[0].withdrawn_bytes, 20u);
  EXPECT_EQ(events[0].withdrawn_operations, 2u);
  EXPECT_EQ(events[1].why, PH_MAILBOX_COMPLETE);
  EXPECT_EQ(events[1].withdrawn_bytes + events[1].withdrawn_operations, 0u);
}

// Nothing is dropped of what is landing, and a buffer that misses what could not be read goes on.
TEST(MailboxWithdraw, an_epoch_waits_for_what_is_landing) {
  for (const ph_status status : {PH_OK, PH_ERR_KEY}) {
    Withdrawing one;
    const Bytes source = some(32);
    Bytes memory(64);
    const ph_mailbox box = one.open();
    ASSERT_EQ(one.post(box, memory), PH_OK);
    ASSERT_TRUE(one.deliver(Mailing::offer(1, kBox, source)));
    ASSERT_TRUE(one.deliver(Withdrawing::withdrawal(32, 1)));
    EXPECT_TRUE(one.take(box).empty());
    one.port.end_get(status);
    if (status != PH_OK) {
      EXPECT_TRUE(one.take(box).empty());
      ASSERT_TRUE(one.deliver(Mailing::mail(2, kBox, source)));
    }
    const auto events = one.take(box);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].why, PH_MAILBOX_INCOMPLETE);
    EXPECT_EQ(events[0].bytes, 32u);
    EXPECT_EQ(events[0].withdrawn_bytes, 32u);
  }
}

TEST(MailboxWithdraw, keeps_its_place_among_the_messages_of_its_lane) {
  Withdrawing one;
  const Bytes source = some(100);
  Bytes memory(200), next(200);
  const ph_mailbox box = one.open_managed();
  ASSERT_EQ(one.post(box, memory, 120), PH_OK);
  ASSERT_EQ(one.post(box, next, 30), PH_OK);
  ASSERT_TRUE(one.deliver(Mailing::offer(1, kBox, source, kAppends)));
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(20), kAppends)));
  ASSERT_TRUE(one.deliver(Withdrawing::withdrawal(30, 0, kAsks)));
  EXPECT_EQ(one.said_to(1), (Texts{kept(0), kept(1), kept(2)}));
  one.port.end_get();
  const auto events = one.take(box);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].why, PH_MAILBOX_COMPLETE);
  EXPECT_EQ(events[0].bytes, 120u);
  EXPECT_EQ(events[1].why, PH_MAILBOX_INCOMPLETE);
  EXPECT_EQ(one.said_to(1), (Texts{verdict(0, PH_OK), verdict(1, PH_OK), verdict(2, PH_OK)}));
}

TEST(MailboxWithdraw, waits_for_a_buffer_and_can_be_called_back) {
  for (const bool is_recalled : {false, true}) {
    Withdrawing one;
    const ph_mailbox box = one.open();
    EXPECT_EQ(one.judged(1000, 0), kept(0));
    EXPECT_EQ(one.service.held(), 1u);
    if (is_recalled) {
      ASSERT_TRUE(one.reply(1, Op::recall, 0));
      EXPECT_EQ(one.said_to(1), Texts{verdict(0, PH_ERR_NOT_FOUND)});
    }
    Bytes memory(1000);
    ASSERT_EQ(one.post(box, memory), PH_OK);
    EXPECT_EQ(one.take(box).size(), is_recalled ? 0u : 1u);
    EXPECT_EQ(one.said_to(1), is_recalled ? Texts{} : Texts{verdict(0, PH_OK)});
    EXPECT_EQ(one.service.held(), 0u);
  }
}

TEST(MailboxWithdraw, of_a_split_mailbox_counts_and_divides_nothing) {
  Withdrawing one;
  ph_mailbox_args args = Mailing::box_args();
  args.placing = PH_MAILBOX_MANAGED;
  args.flags = PH_MAILBOX_SPLIT;
  const ph_mailbox box = one.open(args);
  EXPECT_EQ(one.judged(60, 0), kept(0));
  Bytes memory(64), next(64);
  ASSERT_EQ(one.post(box, memory), PH_OK);
  ASSERT_EQ(one.post(box, next), PH_OK);
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(32), kAppends)));
  const auto events = one.take(box);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].why, PH_MAILBOX_INCOMPLETE);
  EXPECT_EQ(events[0].bytes, 32u);
}

TEST(MailboxWithdraw, that_cannot_be_is_refused_and_counts_nothing) {
  constexpr std::uint64_t kAll = ~std::uint64_t{0};
  Withdrawing one;
  const ph_mailbox box = one.open(Withdrawing::in_operations());
  ph_mailbox_args reading = Mailing::box_args(11);
  reading.flags = PH_MAILBOX_READ;
  one.open(reading);
  ph_mailbox_args all = Mailing::box_args(12);
  all.flags = PH_MAILBOX_CATCH_ALL;
  one.open(all);
  ph_mailbox_args others = Mailing::box_args(13);
  others.source = 2;
  one.open(others);
  Bytes memory(64);
  ASSERT_EQ(one.post(box, memory, 3), PH_OK);
  EXPECT_EQ(one.judged(0, 4), verdict(0, PH_ERR_RANGE)) << "more than the threshold";
  EXPECT_EQ(one.judged(0, kAll), verdict(1, PH_ERR_RANGE));
  EXPECT_EQ(one.judged(kAll, 1), verdict(2, PH_OK)) << "bytes do not count here";
  EXPECT_EQ(one.judged(1, 0), verdict(3, PH_ERR_RANGE)) << "the sum wraps";
  EXPECT_EQ(one.judged(0, 1, 10), verdict(4, PH_ERR_NOT_FOUND)) << "not the catch-all's";
  EXPECT_EQ(one.judged(0, 1, 11), verdict(5, PH_ERR_ACCESS)) << "for reading";
  EXPECT_EQ(one.judged(0, 1, 12), verdict(6, PH_ERR_ARGUMENT)) << "the catch-all";
  EXPECT_EQ(one.judged(0, 1, 13), verdict(7, PH_ERR_ACCESS)) << "for another source";
  EXPECT_EQ(one.judged(0, 3), verdict(8, PH_OK)) << "it passes the threshold";
  EXPECT_EQ(one.take(box).at(0).withdrawn_operations, 4u);
}

TEST(MailboxWithdraw, finds_no_buffer_where_early_messages_are_refused) {
  Withdrawing one;
  ph_mailbox_args args = Mailing::box_args();
  args.flags = PH_MAILBOX_REFUSE_EARLY;
  one.open(args);
  EXPECT_EQ(one.judged(1, 0), verdict(0, PH_ERR_NO_BUFFER));
}

TEST(MailboxWithdraw, is_dropped_where_its_mailbox_is_silent) {
  Withdrawing one;
  one.port.settings.mailbox_refusals = base::Switch::off;
  ASSERT_TRUE(one.deliver(Withdrawing::withdrawal(8, 1)));
  EXPECT_EQ(one.said_to(1), Texts{});
  EXPECT_EQ(one.port.dropped, 1u);
  EXPECT_EQ(one.judged(8, 1), verdict(1, PH_ERR_NOT_FOUND));
}

TEST(MailboxWithdraw, starts_anew_with_a_rewind) {
  Withdrawing one;
  ph_mailbox_args args = Mailing::box_args();
  args.retained = 2;
  const ph_mailbox box = one.open(args);
  Bytes memory(64), next(64);
  ASSERT_EQ(one.post(box, memory), PH_OK);
  ASSERT_EQ(one.post(box, next), PH_OK);
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(64))));
  ASSERT_TRUE(one.deliver(Withdrawing::withdrawal(40, 1)));
  ASSERT_EQ(one.receiver().rewind(box, 0), PH_OK);
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(64))));
  const auto events = one.take(box);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[1].why, PH_MAILBOX_COMPLETE);
  EXPECT_EQ(events[1].withdrawn_bytes + events[1].withdrawn_operations, 0u);
}

// ---- the sender

TEST(MailboxWithdraw, is_said_as_a_message_without_bytes) {
  Sending one;
  ph_mailbox_withdraw_args args{};
  args.size = sizeof args;
  args.address = kBox;
  args.bytes = 100;
  args.operations = 3;
  args.epoch = 5;
  args.incarnation = 6;
  args.request = &one.request;
  ASSERT_EQ(one.sender().withdraw(1, args), PH_OK);
  args.epoch = PH_ANY_EPOCH;
  args.incarnation = 0;
  args.request = nullptr;
  ASSERT_EQ(one.sender().withdraw(1, args), PH_OK);
  EXPECT_EQ(one.told(), Sending::Statuses{PH_OK}) << "the one without a request";
  Said said;
  ASSERT_TRUE(one.port.take(said));
  EXPECT_EQ(
      words_in(said.header),
      (std::vector<std::uint64_t>{
          1 | (kWithdraws | kAsks | kNamesEpoch) << 8 | std::uint64_t{6} << 32, kBox, 3, 5, 100}));
  ASSERT_TRUE(one.port.take(said));
  EXPECT_EQ(words_in(said.header), (std::vector<std::uint64_t>{1 | kWithdraws << 8, kBox, 3, 100}));
  ASSERT_TRUE(one.reply(1, Op::verdict, 0, PH_ERR_EPOCH));
  ASSERT_TRUE(one.reply(1, Op::verdict, 1, PH_ERR_RANGE));
  EXPECT_EQ(one.told(), (Sending::Statuses{PH_ERR_EPOCH, PH_ERR_RANGE}));
  ASSERT_TRUE(one.reply(1, Op::credit, 2));
  EXPECT_EQ(one.service.held() + one.port.promises(), 0u);
}

}  // namespace
}  // namespace photon::service::mailbox::test
