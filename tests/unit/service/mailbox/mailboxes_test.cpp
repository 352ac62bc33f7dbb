// Which half of the service hears of what.
#include "service/mailbox/mailboxes.hpp"

#include "mailbox_unit.hpp"

namespace photon::service::mailbox::test {
namespace {

ph_mailbox_put_args asking(ph_request& request) {
  ph_mailbox_put_args args{};
  args.size = sizeof args;
  args.address = kBox;
  args.epoch = PH_ANY_EPOCH;
  args.request = &request;
  return args;
}

TEST(Mailboxes, a_mail_is_the_receivers_and_a_reply_the_senders) {
  Mailing one;
  Bytes memory(8);
  ASSERT_EQ(one.post(one.open(), memory), PH_OK);
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(8))));
  EXPECT_EQ(memory, some(8));
  ph_request request = PH_REQUEST_NONE;
  ASSERT_EQ(one.sender().put(1, asking(request), false), PH_OK);
  ASSERT_TRUE(one.reply(1, Op::verdict, 0));
  EXPECT_EQ(one.port.take_told().size(), 1u);
}

TEST(Mailboxes, a_malformed_message_ends_its_sender) {
  const std::vector<Coming> all = {
      {1, {}, {}, {}, 0, 0},
      {1, Bytes(7), {}, {}, 0, 0},
      {1, Bytes(12, std::byte{4}), {}, {}, 0, 0},
      {1, words_of({0, 7, 0}), {}, {}, 0, 0},
      {1, words_of({5, 7, 0}), {}, {}, 0, 0},
      {1, words_of({1, 7, 0, 0, 0, 0, 0, 0}), {}, {}, 0, 0},
      {1, words_of({1, 7}), {}, {}, 0, 0},
      {1, words_of({1 | 8 << 8, 7, 0}), {}, {}, 0, 0},
      {1, words_of({1 | 8 << 16, 7, 0, 0}), Bytes(8), {}, 0, 0},
      {1, words_of({2, 0}), {}, {}, 0, 0},
      {1, words_of({3}), {}, {}, 0, 0},
      {1, words_of({4 | 1 << 8}), {}, {}, 0, 0},  // of what was never sent
      {1, words_of({7}), {}, {}, 0, 0},           // the same
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    Mailing one;
    EXPECT_FALSE(one.deliver(all[i])) << i;
    EXPECT_TRUE(one.is_cut_off(1)) << i;
    EXPECT_FALSE(one.is_cut_off(2)) << i;
  }
}

TEST(Mailboxes, a_reply_with_a_payload_is_malformed) {
  for (const bool has_payload : {false, true}) {
    Mailing one;
    ph_request request = PH_REQUEST_NONE;
    ASSERT_EQ(one.sender().put(1, asking(request), false), PH_OK);
    const Bytes payload(has_payload ? 8 : 0);
    EXPECT_EQ(one.deliver({1, words_of({3, PH_OK}), payload, {}, 0, 0}), !has_payload);
    EXPECT_EQ(one.port.take_told()[0].status, has_payload ? PH_ERR_PROTOCOL : PH_OK);
  }
}

TEST(Mailboxes, a_verdict_that_a_user_waits_for_is_work_and_an_early_mail_is_only_held) {
  Mailing one;
  EXPECT_TRUE(one.service.is_idle());
  EXPECT_EQ(one.service.held(), 0u);
  ph_request request = PH_REQUEST_NONE;
  ASSERT_EQ(one.sender().put(1, asking(request), false), PH_OK);
  EXPECT_FALSE(one.service.is_idle());
  EXPECT_EQ(one.service.held(), 1u);
  const ph_mailbox box = one.open();
  ASSERT_TRUE(one.deliver(Mailing::mail(2, kBox, some(8))));
  EXPECT_EQ(one.service.held(), 2u);
  ASSERT_TRUE(one.reply(1, Op::verdict, 0));
  EXPECT_TRUE(one.service.is_idle());
  EXPECT_EQ(one.service.held(), 1u);
  ASSERT_EQ(one.receiver().close(box), PH_OK);
  EXPECT_EQ(one.service.held(), 0u);
}

TEST(Mailboxes, both_halves_hear_of_a_loss) {
  Mailing one;
  ph_request request = PH_REQUEST_NONE;
  ASSERT_EQ(one.sender().put(1, asking(request), false), PH_OK);
  ASSERT_TRUE(one.deliver({1, words_of({1, kBox, 0}), {}, Bytes(100), 0, 200}));
  one.port.lose(1);
  EXPECT_EQ(one.port.loans(), 0u);
  EXPECT_EQ(one.port.take_told().at(0).status, PH_ERR_PEER);
  EXPECT_EQ(one.service.held(), 0u);
}

// Credits wait for company until a turn, a sleep, or the end.
TEST(Mailboxes, a_turn_a_sleep_and_the_end_tell_what_is_owed) {
  for (const int way : {0, 1, 2}) {
    Mailing one;
    ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(8), kAsks)));
    EXPECT_EQ(one.said_to(1), (Texts{verdict(0, PH_ERR_NOT_FOUND)}));
    EXPECT_NE(one.service.next_turn_ns(), INT64_MAX);
    if (way == 0) {
      EXPECT_FALSE(one.service.turn());
    }
    if (way == 1) one.service.before_sleep();
    if (way == 2) one.service.close();
    EXPECT_EQ(one.said_to(1), (Texts{credit(1)})) << way;
    EXPECT_EQ(one.service.next_turn_ns(), INT64_MAX);
  }
}

TEST(Mailboxes, what_waits_for_a_buffer_at_the_end_is_refused) {
  Mailing one;
  const ph_mailbox box = one.open();
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(8))));
  one.service.close();
  EXPECT_EQ(one.said_to(1), (Texts{kept(0), verdict(0, PH_ERR_DEPARTED), credit(1)}));
  Bytes memory(8);
  EXPECT_EQ(one.post(box, memory), PH_ERR_STATE);
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(8))));
  EXPECT_EQ(one.said_to(1), (Texts{verdict(1, PH_ERR_NOT_FOUND)}));
}

}  // namespace
}  // namespace photon::service::mailbox::test
