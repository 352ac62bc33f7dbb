// The sending half: its credit, and what a mail looks like (sender_verdict_test.cpp has the rest).
#include "service/mailbox/sender.hpp"

#include "mailbox_unit.hpp"

namespace photon::service::mailbox::test {
namespace {

// ---- credit

TEST(MailboxSender, its_credit_is_used_up_and_comes_back) {
  Sending one(8 * (64 + kMailCost));
  EXPECT_EQ(one.put_all(64), 8);
  EXPECT_EQ(one.port.waiting(), 8u) << "what is refused is not said";
  EXPECT_EQ(one.put(64, 2), PH_OK) << "each rank has its own";
  ASSERT_TRUE(one.reply(1, Op::credit, 3));
  EXPECT_EQ(one.put_all(64), 3);
  ASSERT_TRUE(one.reply(1, Op::credit, 11));
  EXPECT_EQ(one.put_all(0), 16) << "an empty one costs 64";
}

TEST(MailboxSender, one_mail_is_always_let_go) {
  Sending one(1024);
  for (std::uint64_t i = 1; i <= 3; ++i) {
    ASSERT_EQ(one.put(4000), PH_OK);
    EXPECT_EQ(one.put(0), PH_AGAIN);
    static_cast<void>(one.said_to(1));  // the body has left
    ASSERT_TRUE(one.reply(1, Op::credit, i));
  }
}

// Else a mailbox without a buffer would delay the mails to another one.
TEST(MailboxSender, what_waits_there_uses_up_no_credit) {
  Sending one(8 * (64 + kMailCost));
  for (std::uint64_t sent = 0; sent < 64; sent += 8) {
    ASSERT_EQ(one.put_all(64), 8);
    for (std::uint64_t i = 0; i < 8; ++i) ASSERT_TRUE(one.reply(1, Op::kept, sent + i));
    ASSERT_TRUE(one.reply(1, Op::credit, sent + 8));
  }
  ASSERT_TRUE(one.reply(1, Op::verdict, 2, PH_OK));
  EXPECT_EQ(one.put_all(64), 8);
  EXPECT_EQ(one.told(), Sending::Statuses{}) << "it has landed";
}

TEST(MailboxSender, mails_that_are_kept_are_named_in_their_order) {
  for (const std::uint64_t second : {0, 1, 2}) {
    Sending one;
    for (int i = 0; i < 4; ++i) ASSERT_EQ(one.put(8), PH_OK);
    ASSERT_TRUE(one.reply(1, Op::kept, 1));
    EXPECT_EQ(one.reply(1, Op::kept, second), second == 2);
  }
}

TEST(MailboxSender, what_waits_there_uses_up_no_requests) {
  Sending one;
  one.port.requests = 1;
  for (std::uint64_t i = 0; i < 5; ++i) {
    ASSERT_EQ(one.put_with_id(some(8)), PH_OK);
    ASSERT_TRUE(one.reply(1, Op::kept, i));
  }
  EXPECT_EQ(one.told(), Sending::Statuses(5, PH_OK));
  EXPECT_EQ(one.port.promises(), 0u);
  EXPECT_TRUE(one.service.is_idle());
  ASSERT_EQ(one.ask(), PH_OK);
  EXPECT_EQ(one.ask(), PH_AGAIN) << "but one that is asked for does";
  EXPECT_EQ(one.put_with_id(some(8)), PH_AGAIN);
}

// ---- what a message looks like

TEST(MailboxSender, a_mail_goes_the_smallest_way_that_holds_it) {
  Sending one;
  for (const bool names_epoch : {false, true})
    for (const std::size_t size : {0, 1, 8, 24, 25, 32, 33, 1024, 1025, 4000}) {
      ph_mailbox_put_args args = one.args(size);
      args.offset = 5;
      args.incarnation = 9;
      if (names_epoch) args.epoch = 3;
      ASSERT_EQ(one.sender().put(1, args, size == 8), PH_OK) << size;
      Said said;
      ASSERT_TRUE(one.port.take(said));
      const std::size_t most = names_epoch ? 24 : 32;
      EXPECT_EQ(said.is_body, size > 1024);
      EXPECT_EQ(said.payload.size(), size > most && size <= 1024 ? size : 0u) << size;
      const auto found = decode_mail(said.header, said.payload, said.body.size());
      ASSERT_TRUE(found) << size;
      const Mail& mail = found->letter.mail;
      EXPECT_EQ(found->letter.address, kBox);
      EXPECT_EQ(mail.offset, 5u);
      EXPECT_EQ(mail.size_bytes, size);
      EXPECT_EQ(mail.epoch, names_epoch ? 3 : PH_ANY_EPOCH);
      EXPECT_EQ(mail.incarnation, 9u);
      EXPECT_EQ(mail.appends, size == 8);
      EXPECT_FALSE(found->letter.asks);
      const Bytes bytes = said.is_body ? said.body : bytes_of(found->bytes);
      EXPECT_EQ(bytes, Bytes(one.source.begin(), one.source.begin() + static_cast<long>(size)));
    }
}

TEST(MailboxSender, words_in_registers_are_a_mail_of_any_epoch) {
  Sending one;
  for (const std::size_t size : {0, 8, 32, 33, 1024, 1025}) {
    const auto bytes = std::span<const std::byte>(one.source).first(size);
    ASSERT_EQ(one.sender().put_u64(1, kBox, 24, bytes), PH_OK);
    Said said;
    ASSERT_TRUE(one.port.take(said));
    const auto found = decode_mail(said.header, said.payload, said.body.size());
    ASSERT_TRUE(found);
    EXPECT_EQ(found->letter.address, kBox);
    EXPECT_EQ(found->letter.mail.offset, 24u);
    EXPECT_EQ(found->letter.mail.size_bytes, size);
    EXPECT_EQ(found->letter.mail.epoch, PH_ANY_EPOCH);
    EXPECT_FALSE(found->letter.asks);
  }
  EXPECT_EQ(one.port.promises(), 0u);
  ASSERT_TRUE(one.reply(1, Op::verdict, 1, PH_ERR_RANGE));
  const auto told = one.port.take_told();
  ASSERT_EQ(told.size(), 1u) << "only a refusal is told";
  EXPECT_EQ(told[0].status, PH_ERR_RANGE);
  EXPECT_TRUE(told[0].id.empty());
  EXPECT_EQ(one.sender().put_u64(1, kBox, 0, {static_cast<std::byte*>(nullptr), 8}),
            PH_ERR_ARGUMENT);
  EXPECT_EQ(one.sender().put_u64(1, kBox, UINT64_MAX, some(1)), PH_ERR_ARGUMENT);
  EXPECT_EQ(one.sender().put_u64(FakePort::kSize, kBox, 0, some(1)), PH_ERR_RANK);
}

TEST(MailboxSender, registers_have_the_same_credit) {
  Sending one(1024);
  int count = 0;
  while (one.sender().put_u64(1, kBox, 0, some(64)) == PH_OK) ++count;
  EXPECT_EQ(count, 8);
  ASSERT_TRUE(one.reply(1, Op::credit, 2));
  EXPECT_EQ(one.put_all(64), 2);
}

TEST(MailboxSender, what_is_wrong_is_not_sent) {
  Sending one;
  const auto put = [&](auto change) {
    ph_mailbox_put_args args = one.args(8);
    change(args);
    return one.sender().put(1, args, false);
  };
  const Bytes long_id(1025);
  EXPECT_EQ(put([](auto& args) { args.flags = PH_NO_LCE | 1u << 31; }), PH_ERR_ARGUMENT);
  EXPECT_EQ(put([](auto& args) { args.source = nullptr; }), PH_ERR_ARGUMENT);
  EXPECT_EQ(put([](auto& args) { args.size_bytes = UINT64_MAX - 7; }), PH_ERR_ARGUMENT);
  EXPECT_EQ(put([](auto& args) { args.offset = UINT64_MAX - 7; }), PH_ERR_ARGUMENT);
  EXPECT_EQ(put([&](auto& args) { args.request = &one.request; }), PH_ERR_ARGUMENT);
  EXPECT_EQ(put([](auto& args) { args.local = {nullptr, 8}; }), PH_ERR_ARGUMENT);
  EXPECT_EQ(put([&](auto& args) { args.local = {long_id.data(), 1025}; }), PH_ERR_ID_SIZE);
  EXPECT_EQ(one.sender().put(FakePort::kSize, one.args(8), false), PH_ERR_RANK);
  EXPECT_EQ(one.port.waiting() + one.port.promises(), 0u);
  EXPECT_EQ(put([](auto& args) { args.offset = UINT64_MAX - 8; }), PH_OK);
}

TEST(MailboxSender, what_finds_no_room_leaves_its_request_as_it_was) {
  for (const std::size_t size : {8, 200, 3000})
    for (const std::uint64_t call : {0, 1}) {  // the promise, the message
      Sending one;
      one.request = 55;
      one.port.refuse(call);
      EXPECT_EQ(one.ask(size), PH_AGAIN);
      EXPECT_EQ(one.request, 55u);
      EXPECT_EQ(one.port.promises() + one.port.waiting() + one.service.held(), 0u);
      EXPECT_EQ(one.ask(size), PH_OK);
      EXPECT_EQ(one.service.held(), size == 3000 ? 2u : 1u);
    }
}

}  // namespace
}  // namespace photon::service::mailbox::test
