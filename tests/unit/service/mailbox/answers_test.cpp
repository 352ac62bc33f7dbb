// The owner's side of gets.
#include "service/mailbox/answers.hpp"

#include "mailbox_unit.hpp"

namespace photon::service::mailbox::test {
namespace {

Coming ask(Rank from, std::uint64_t token, const Read& what, std::uint64_t address = kBox) {
  const Encoded encoded = encode(Ask{address, token, what});
  return {
      from, photon::test::bytes_of(std::as_bytes(std::span(encoded.words).first(encoded.count))),
      {},   {},
      0,    0};
}

struct Asked : Mailing {
  explicit Asked(ph_mailbox_args args = box_args()) : box(open(args)) {
    memory = some(3000);
    EXPECT_EQ(post(box, memory), PH_OK);
  }
  // What was said next: its status and bytes.
  std::pair<ph_status, Bytes> next() {
    Said said;
    if (!port.take(said)) return {PH_AGAIN, {}};
    const auto found = decode_answer(said.header, said.payload, said.body.size());
    if (!found) return {PH_ERR_PROTOCOL, {}};
    const Bytes bytes(found->bytes.begin(), found->bytes.end());
    return {found->answer.status, said.body.empty() ? bytes : said.body};
  }
  std::pair<ph_status, Bytes> got(const Read& what, std::uint64_t address = kBox) {
    EXPECT_TRUE(deliver(ask(1, 5, what, address)));
    return next();
  }
  Bytes part(std::size_t offset, std::size_t size) const {
    return {memory.begin() + static_cast<std::ptrdiff_t>(offset),
            memory.begin() + static_cast<std::ptrdiff_t>(offset + size)};
  }

  Bytes memory;
  ph_mailbox box;
};

TEST(MailboxAnswers, bring_the_bytes_by_the_smallest_way_that_holds_them) {
  Asked one;
  for (const std::size_t size : {0, 1, 24, 25, 1024, 1025, 2990})
    EXPECT_EQ(one.got({10, size}), std::pair(PH_OK, one.part(10, size))) << size;
  EXPECT_TRUE(one.take().empty()) << "a get counts only where it is said to";
  EXPECT_EQ(one.service.held(), 0u);
}

TEST(MailboxAnswers, say_why_there_are_no_bytes) {
  Asked one;
  const auto refused = [](ph_status why) { return std::pair(why, Bytes{}); };
  EXPECT_EQ(one.got({0, 8}, 9), refused(PH_ERR_NOT_FOUND));
  EXPECT_EQ(one.got({2993, 8}), refused(PH_ERR_RANGE));
  EXPECT_EQ(one.got({UINT64_MAX, 8}), refused(PH_ERR_RANGE));
  EXPECT_EQ(one.got({0, 8, PH_ANY_EPOCH, 9}), refused(PH_ERR_EPOCH));
  EXPECT_EQ(one.got({0, 8, 1}), refused(PH_ERR_NO_BUFFER));
  EXPECT_EQ(one.got({0, 8, 0}).first, PH_OK);
  ASSERT_EQ(one.receiver().inc_epoch(one.box), PH_OK);
  EXPECT_EQ(one.got({0, 8, 0}), refused(PH_ERR_EPOCH)) << "it is over, and not retained";
  EXPECT_EQ(one.got({0, 8}), refused(PH_ERR_NO_BUFFER));
}

TEST(MailboxAnswers, read_retained_epochs) {
  ph_mailbox_args args = Mailing::box_args();
  args.retained = 1;
  Asked one(args);
  ASSERT_EQ(one.receiver().inc_epoch(one.box), PH_OK);
  EXPECT_EQ(one.got({5, 8, 0}), std::pair(PH_OK, one.part(5, 8)));
  ASSERT_EQ(one.receiver().release(one.box, 0), PH_OK);
  EXPECT_EQ(one.got({5, 8, 0}).first, PH_ERR_EPOCH);
}

// Its owner learns that it was read so often, and what is on its way is a copy.
TEST(MailboxAnswers, count_in_a_mailbox_for_reading) {
  ph_mailbox_args args = Mailing::box_args();
  args.flags = PH_MAILBOX_READ;
  args.unit = PH_MAILBOX_OPERATIONS;
  args.threshold = 2;
  Asked one(args);
  ASSERT_TRUE(one.deliver(ask(1, 1, {0, 2000, PH_ANY_EPOCH, 0, false})));
  ASSERT_TRUE(one.deliver(ask(1, 1, {2000, 100, 0})));
  EXPECT_TRUE(one.take().empty()) << "both are one get";
  ASSERT_TRUE(one.deliver(ask(2, 1, {2000, 1000})));
  const auto events = one.take();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].operations, 2u);
  EXPECT_EQ(events[0].bytes, 3100u);
  EXPECT_EQ(events[0].size_bytes, 3000u);
  const Bytes before = one.part(0, 2000);
  std::fill(one.memory.begin(), one.memory.end(), std::byte{0});
  EXPECT_EQ(one.next(), std::pair(PH_OK, before));
  static_cast<void>(one.said_to(1));
  EXPECT_EQ(one.got({0, 8, 0}).first, PH_ERR_EPOCH);
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(8), kAsks)));
}

TEST(MailboxAnswers, of_a_mailbox_for_reading_nothing_lands_there) {
  ph_mailbox_args args = Mailing::box_args();
  args.flags = PH_MAILBOX_READ;
  Asked one(args);
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(8))));
  EXPECT_EQ(one.said_to(1), Texts{verdict(0, PH_ERR_ACCESS)});
  args.placing = PH_MAILBOX_MANAGED;
  args.address = 8;
  ph_mailbox box{};
  EXPECT_EQ(one.receiver().open(args, box), PH_ERR_ARGUMENT);
}

// Its memory here is bounded.
TEST(MailboxAnswers, end_a_rank_that_asks_for_more_than_it_may) {
  Asked one;
  for (std::uint64_t i = 0; i < kMostAsked; ++i) ASSERT_TRUE(one.deliver(ask(1, i, {0, 2000})));
  EXPECT_EQ(one.service.held(), kMostAsked);
  EXPECT_TRUE(one.deliver(ask(2, 0, {0, 2000})));
  EXPECT_FALSE(one.deliver(ask(1, 99, {0, 2000})));
  EXPECT_TRUE(one.is_cut_off(1));
  one.port.run_turns();
  EXPECT_EQ(one.service.held(), 1u);
}

TEST(MailboxAnswers, wait_for_room_and_go_in_their_order) {
  Asked one;
  one.port.refuse(0, 2);
  ASSERT_TRUE(one.deliver(ask(1, 0, {0, 2000})));
  ASSERT_TRUE(one.deliver(ask(1, 1, {1, 2000})));
  EXPECT_EQ(one.next().first, PH_AGAIN);
  EXPECT_FALSE(one.service.is_idle());
  one.port.give_room(1);
  EXPECT_EQ(one.next(), std::pair(PH_OK, one.part(0, 2000)));
  EXPECT_EQ(one.next(), std::pair(PH_OK, one.part(1, 2000)));
  EXPECT_TRUE(one.service.is_idle());
}

// Small ones, too: a rank may be asked for as many as an honest one asks for.
TEST(MailboxAnswers, that_find_no_line_wait_for_it_and_are_not_more_than_may_be_asked_for) {
  Asked one;
  one.port.refuse(0, FakePort::kNever);
  for (std::uint64_t i = 0; i < kMostAsked; ++i)
    ASSERT_TRUE(one.deliver(ask(1, i, {i, i % 2 == 0 ? 8u : 200u})));
  ASSERT_TRUE(one.deliver(ask(2, 0, {0, 8})));
  EXPECT_EQ(one.service.held(), kMostAsked + 1);
  EXPECT_FALSE(one.service.is_idle());
  one.port.refuse_nothing();
  one.port.give_room(1);
  for (std::uint64_t i = 0; i < kMostAsked; ++i)
    EXPECT_EQ(one.next(), std::pair(PH_OK, one.part(i, i % 2 == 0 ? 8 : 200))) << i;
  EXPECT_EQ(one.next(), std::pair(PH_OK, one.part(0, 8)));
  EXPECT_EQ(one.service.held(), 0u);
  one.port.refuse(0, FakePort::kNever);
  for (std::uint64_t i = 0; i < kMostAsked; ++i) ASSERT_TRUE(one.deliver(ask(1, i, {0, 8})));
  EXPECT_FALSE(one.deliver(ask(1, 99, {0, 8})));
  EXPECT_TRUE(one.is_cut_off(1));
  EXPECT_EQ(one.service.held(), 0u);
}

}  // namespace
}  // namespace photon::service::mailbox::test
