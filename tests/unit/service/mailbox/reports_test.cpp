// What waits for a sender that does not read: merged, in its order, and within a bound.
#include "service/mailbox/reports.hpp"

#include "mailbox_unit.hpp"
#include "shortage.hpp"

namespace photon::service::mailbox::test {
namespace {

using photon::test::Shortage;

struct Reporting : Mailing {
  void fill_ring() { port.refuse(0, FakePort::kNever); }
  void give_room(Rank to = 1) {
    port.refuse_nothing();
    port.give_room(to);
  }
  // Refused, for its mailbox is not open.
  bool mails(std::uint64_t count, Rank from = 1, std::uint64_t flags = 0) {
    for (std::uint64_t i = 0; i < count; ++i)
      if (!deliver(mail(from, kBox, some(8), flags))) return false;
    return true;
  }
};

TEST(MailboxReports, that_wait_go_in_their_order_and_their_credit_last) {
  Reporting one;
  one.fill_ring();
  ASSERT_TRUE(one.mails(3));
  const ph_mailbox box = one.open();
  ASSERT_TRUE(one.mails(1, 1, kAsks));  // kept
  Bytes memory(8);
  ASSERT_EQ(one.post(box, memory), PH_OK);
  ASSERT_EQ(one.receiver().close(box), PH_OK);
  ASSERT_TRUE(one.mails(2));
  one.receiver().tell_all();
  EXPECT_EQ(one.said_to(1), Texts{});
  EXPECT_FALSE(one.service.is_idle());
  one.give_room();
  EXPECT_EQ(one.said_to(1),
            (Texts{verdict(0, PH_ERR_NOT_FOUND), verdict(1, PH_ERR_NOT_FOUND),
                   verdict(2, PH_ERR_NOT_FOUND), kept(3), verdict(3, PH_OK),
                   verdict(4, PH_ERR_NOT_FOUND), verdict(5, PH_ERR_NOT_FOUND), credit(6)}));
  EXPECT_TRUE(one.service.is_idle());
}

TEST(MailboxReports, are_not_merged_where_they_say_another_thing) {
  Reporting one;
  const ph_mailbox box = one.open();
  Bytes memory(8), next(8);
  ASSERT_EQ(one.post(box, memory), PH_OK);
  ASSERT_EQ(one.post(box, next), PH_OK);
  one.fill_ring();
  ASSERT_TRUE(one.mails(2, 1, kAsks));  // in two epochs
  ASSERT_TRUE(one.mails(2));            // kept
  ASSERT_EQ(one.receiver().close(box), PH_OK);
  one.give_room();
  std::vector<std::vector<std::uint64_t>> all;
  for (Said said; one.port.take(said);) all.push_back(words_in(said.header));
  const auto not_found = static_cast<std::uint64_t>(std::int64_t{PH_ERR_NOT_FOUND});
  EXPECT_EQ(all, (std::vector<std::vector<std::uint64_t>>{{3, PH_OK, 0},
                                                          {3 | 1 << 8, PH_OK, 1},
                                                          {2 | 2 << 8},
                                                          {2 | 3 << 8},
                                                          {3 | 2 << 8, not_found},
                                                          {3 | 3 << 8, not_found},
                                                          {4 | 4 << 8}}));
}

TEST(MailboxReports, go_as_far_as_there_is_room) {
  Reporting one;
  one.fill_ring();
  ASSERT_TRUE(one.mails(5));
  for (std::uint64_t i = 0; i < 5; ++i) {
    one.port.refuse(1, 1);
    one.port.give_room(1);
    EXPECT_EQ(one.said_to(1), Texts{verdict(i, PH_ERR_NOT_FOUND)}) << i;
    EXPECT_FALSE(one.service.is_idle() && i < 4);
  }
  one.receiver().tell_all();
  one.give_room();
  EXPECT_EQ(one.said_to(1), Texts{credit(5)});
}

TEST(MailboxReports, of_one_that_does_not_read_hold_no_other_up) {
  Reporting one;
  one.fill_ring();
  ASSERT_TRUE(one.mails(3, 1));
  one.port.refuse_nothing();
  ASSERT_TRUE(one.mails(1, 2));
  EXPECT_EQ(one.said_to(2), Texts{verdict(0, PH_ERR_NOT_FOUND)});
  one.receiver().tell_all();
  EXPECT_EQ(one.said_to(2), Texts{credit(1)});
}

TEST(MailboxReports, of_one_that_is_lost_are_forgotten) {
  Reporting one;
  one.fill_ring();
  ASSERT_TRUE(one.mails(3));
  one.port.lose(1);
  EXPECT_TRUE(one.service.is_idle());
  one.port.refuse_nothing();
  one.service.on_room(1);
  EXPECT_EQ(one.port.waiting(), 0u);
}

TEST(MailboxReports, that_merge_need_no_memory) {
  Reporting one;
  one.fill_ring();
  ASSERT_TRUE(one.mails(200));
  const Coming next = Mailing::mail(1, kBox, some(8));
  const Shortage shortage(0);
  for (int i = 0; i < 1000; ++i)
    ASSERT_TRUE(one.service.on_message({1, next.header, next.payload}));
  EXPECT_FALSE(one.is_cut_off(1));
}

// No sender goes so far without a credit.
TEST(MailboxReports, end_a_sender_that_sends_on_without_reading) {
  Reporting one;
  one.fill_ring();
  ASSERT_TRUE(one.mails(kMostMails));
  EXPECT_FALSE(one.is_cut_off(1));
  static_cast<void>(one.mails(1));
  EXPECT_TRUE(one.is_cut_off(1));
  EXPECT_NE(one.port.cut_off_why.find("credits"), std::string::npos);
  EXPECT_TRUE(one.service.is_idle());
  one.port.refuse_nothing();
  EXPECT_TRUE(one.mails(1, 2));
}

}  // namespace
}  // namespace photon::service::mailbox::test
