#include "service/mailbox/sender.hpp"

#include "mailbox_unit.hpp"

namespace photon::test {
namespace {

TEST(MailboxSender, has_so_much_credit_and_it_comes_back) {
  Office office;
  std::uint64_t sent = 0;
  while (office.put(1, 16 << 10) == PH_OK) ++sent;
  EXPECT_EQ(sent, office.port.config().mailbox_early_bytes / ((16 << 10) + 64));
  EXPECT_EQ(office.put(2, 16 << 10), PH_OK) << "each rank has its own";
  office.said();
  EXPECT_TRUE(office.replies(1, kCredit, 1));
  EXPECT_EQ(office.put(1, 16 << 10), PH_OK);
  EXPECT_EQ(office.put(1, 16 << 10), PH_AGAIN);
}

TEST(MailboxSender, ends_whoever_says_what_cannot_be) {
  const struct {
    std::uint64_t op, number;
    std::int64_t status;
  } forged[] = {{kCredit, 0, 0},      {kCredit, 3, 0},      {kKept, 2, 0},
                {kVerdict, 2, PH_OK}, {kVerdict, 0, PH_OK}, {kVerdict, 7, -4}};
  for (const auto& one : forged) {
    Office office;
    ASSERT_EQ(office.put(1, 8), PH_OK);
    ASSERT_EQ(office.put(1, 8), PH_OK);
    EXPECT_FALSE(office.replies(1, one.op, one.number, one.status)) << one.op << " " << one.number;
    EXPECT_EQ(office.port.state(1), PH_ERR_PROTOCOL);
    EXPECT_EQ(office.port.state(2), PH_OK);
  }
}

TEST(MailboxSender, takes_one_verdict_of_a_mail_and_none_before_its_body_has_left) {
  Office office;
  ph_request request = PH_REQUEST_NONE;
  ASSERT_EQ(office.put(1, 8, &request), PH_OK);
  EXPECT_TRUE(office.replies(1, kVerdict, 0));
  EXPECT_EQ(office.port.told(), 1u);
  EXPECT_FALSE(office.replies(1, kVerdict, 0, PH_ERR_RANGE)) << "a second one";
  ASSERT_EQ(office.put(2, 5000, &request), PH_OK);
  EXPECT_FALSE(office.replies(2, kVerdict, 0)) << "its body has not left";
}

// What waits there keeps no promise here; its refusal is told all the same.
TEST(MailboxSender, holds_nothing_for_what_is_kept_and_tells_of_its_refusal) {
  Office office;
  for (int i = 0; i < 10; ++i) ASSERT_EQ(office.put(1, 8), PH_OK);
  EXPECT_EQ(office.port.told(), 10u);
  EXPECT_EQ(office.port.promises(), 0u);
  for (std::uint64_t i = 0; i < 10; ++i) EXPECT_TRUE(office.replies(1, kKept, i));
  EXPECT_TRUE(office.replies(1, kCredit, 10));
  office.port.refuse(0, 1);  // no promise is to be had
  EXPECT_TRUE(office.replies(1, kVerdict, 4, PH_ERR_NOT_FOUND));
  EXPECT_EQ(office.port.told(), 10u);
  EXPECT_FALSE(office.service.is_idle());
  office.port.run_turns();
  EXPECT_EQ(office.port.told(), 11u);
  EXPECT_TRUE(office.service.is_idle());
  EXPECT_TRUE(office.replies(1, kVerdict, 9)) << "that one landed";
  EXPECT_EQ(office.port.told(), 11u);
  EXPECT_FALSE(office.replies(1, kVerdict, 4, PH_ERR_NOT_FOUND)) << "it is over";
}

TEST(MailboxSender, tells_all_that_was_not_confirmed_when_its_receiver_is_lost) {
  Office office;
  ph_request request = PH_REQUEST_NONE;
  ASSERT_EQ(office.put(1, 8), PH_OK);
  ASSERT_EQ(office.put(1, 8), PH_OK);
  ASSERT_EQ(office.put(1, 8, &request), PH_OK);
  ASSERT_EQ(office.sender().put_u64(1, 7, 0, std::span(office.memory).first(8)), PH_OK);
  EXPECT_TRUE(office.replies(1, kCredit, 1));
  EXPECT_EQ(office.port.told(), 2u);
  office.port.lose(1);
  office.port.run_turns();
  EXPECT_EQ(office.port.told(), 4u) << "one that was over, and the one that was waited for";
  EXPECT_EQ(office.port.promises(), 0u);
  EXPECT_EQ(office.service.held(), 0u);
}

}  // namespace
}  // namespace photon::test
