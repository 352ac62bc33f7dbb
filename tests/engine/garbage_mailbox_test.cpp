// A peer that sends to mailboxes, or says of the victim's mails, what it should not
// (garbage_test.cpp has the malformed records).
#include "attack.hpp"
#include "service/mailbox/mailboxes.hpp"

namespace photon::test {
namespace {

using service::mailbox::Mailboxes;

constexpr std::uint64_t kMail = 1, kKept = 2, kVerdict = 3, kCredit = 4;
constexpr std::uint64_t kAll = ~std::uint64_t{0};
constexpr std::uint64_t kMailbox = 7, kClosedMailbox = 9;

// The victim has sent six mails that nobody answers, and has a mailbox with a buffer.
class MailboxAttack : public Attack {
 public:
  static constexpr std::uint64_t kSent = 6, kAsked = 3;  // mail 3 with a request

  explicit MailboxAttack(Ground ground) : Attack(ground) {
    ph_mailbox_args args{};
    args.size = sizeof args;
    args.address = kMailbox;
    args.unit = PH_MAILBOX_OPERATIONS;
    args.source = PH_ANY_RANK;
    EXPECT_EQ(mailboxes().receiver().open(args, box_), PH_OK);
    EXPECT_EQ(mailboxes().receiver().post(box_, {sizeof(ph_mailbox_buffer), buffer_.bytes().data(),
                                                 buffer_.bytes().size(), 2, nullptr, 0}),
              PH_OK);
    for (std::uint64_t i = 0; i < kSent; ++i) EXPECT_EQ(send(i == kAsked), PH_OK);
  }

  Mailboxes& mailboxes() {
    return *static_cast<Mailboxes*>(ranks()[kVictim].service(wire::Owner::mailbox));
  }
  void say(const std::vector<std::uint64_t>& words, std::uint32_t payload_bytes = 0) {
    const auto bytes = static_cast<std::uint32_t>(words.size() * sizeof(std::uint64_t));
    post(wire::encode(Kind::message, bytes, payload_bytes, wire::Owner::mailbox),
         wire::lines_for(Kind::message, bytes, payload_bytes), words);
  }
  // Of one mail: what, its number, and a status.
  void reply(std::uint64_t op, std::uint64_t number) { say({op | number << 8}); }
  void judge(std::uint64_t number, std::int64_t status) {
    say({kVerdict | number << 8, static_cast<std::uint64_t>(status)});
  }
  void say_body(const std::vector<std::uint64_t>& words, std::uint64_t size_bytes,
                std::uint64_t part_bytes) {
    const auto bytes = static_cast<std::uint32_t>(words.size() * sizeof(std::uint64_t));
    const std::uint64_t last = part_bytes == size_bytes ? wire::kBulkLast : 0;
    std::vector<std::uint64_t> all = {size_bytes, 0, part_bytes | wire::kBulkFirst | last};
    all.insert(all.end(), words.begin(), words.end());
    post(wire::encode(Kind::body, bytes, 0, wire::Owner::mailbox),
         wire::lines_for(Kind::body, bytes, 0), all);
  }
  // The mailbox is as it was: both of its messages are still to come, and both come.
  void expect_mailbox_whole() {
    EXPECT_TRUE(buffer_.untouched());
    ph_mailbox_event event{};
    EXPECT_EQ(mailboxes().receiver().take(box_, event), PH_AGAIN);
    const std::uint64_t word = 77;
    for (std::uint64_t i = 0; i < 2; ++i)
      EXPECT_EQ(friends().put_u64(kVictim, kMailbox, 8 * i, std::as_bytes(std::span(&word, 1))),
                PH_OK);
    serve_victim();
    EXPECT_EQ(mailboxes().receiver().take(box_, event), PH_OK);
    EXPECT_EQ(event.bytes, 16u);
  }
  bool is_over() {
    ph_result result{};
    result_ = ranks()[kVictim].test(request_, result);
    return result_ != PH_AGAIN;
  }
  ph_status result() const { return result_; }

 private:
  service::mailbox::Sender& friends() {
    auto* const service = ranks()[kFriend].service(wire::Owner::mailbox);
    return static_cast<Mailboxes*>(service)->sender();
  }
  ph_status send(bool asks) {
    const std::uint64_t word = 5;
    ph_mailbox_put_args args{};
    args.size = sizeof args;
    args.address = kMailbox;
    args.source = &word;
    args.size_bytes = sizeof word;
    args.epoch = PH_ANY_EPOCH;
    args.flags = asks ? 0 : PH_NO_LCE;
    args.request = asks ? &request_ : nullptr;
    return mailboxes().sender().put(kAttacker, args, false);
  }

  Guarded buffer_{64};
  ph_mailbox box_{};
  ph_request request_ = PH_REQUEST_NONE;
  ph_status result_ = PH_AGAIN;
};

struct Forged {
  const char* name;
  std::function<void(MailboxAttack&)> write;
};

class GarbageMailbox : public testing::TestWithParam<Ground> {
 protected:
  void expect_each_ends_its_sender(const std::vector<Forged>& all) {
    for (const Forged& bad : all) {
      SCOPED_TRACE(bad.name);
      MailboxAttack attack(GetParam());
      bad.write(attack);
      attack.serve_victim();
      EXPECT_EQ(attack.status_of_attacker(), PH_ERR_PROTOCOL);
      EXPECT_TRUE(attack.is_over());
      EXPECT_EQ(attack.result(), PH_ERR_PROTOCOL) << "what was asked for ends";
      EXPECT_TRUE(attack.mailboxes().is_idle());
      attack.expect_mailbox_whole();
      attack.expect_nothing_else_harmed();
      EXPECT_TRUE(attack.memory().untouched());
    }
  }
};

TEST_P(GarbageMailbox, a_forged_mail_ends_its_sender_and_nothing_else) {
  const auto mail = [](std::vector<std::uint64_t> words, std::uint32_t payload_bytes = 0) {
    return [=](MailboxAttack& a) { a.say(words, payload_bytes); };
  };
  expect_each_ends_its_sender({
      {"a message of no kind", mail({0, kMailbox, 0})},
      {"a message of a kind that there is not", mail({8, kMailbox, 0})},
      {"a mail without an address", mail({kMail})},
      {"a mail without an offset", mail({kMail, kMailbox})},
      {"a mail that is too long", mail({kMail, kMailbox, 0, 0})},
      {"an unknown flag", mail({kMail | 128 << 8, kMailbox, 0})},
      {"an offer without a source", mail({kMail | 8 << 8, kMailbox, 0})},
      {"an offer without a key", mail({kMail | 8 << 8, kMailbox, 0, 64, 4096})},
      {"an offer of no bytes", mail({kMail | 8 << 8, kMailbox, 0, 0, 4096, 1})},
      {"an offer that wraps around", mail({kMail | 8 << 8, kMailbox, 0, 64, kAll - 8, 1})},
      {"an offer with bytes in the line",
       mail({kMail | 8 << 8 | 8 << 16, kMailbox, 0, 8, 8, 1, 0})},
      {"an offer with a payload", mail({kMail | 8 << 8, kMailbox, 0, 8, 4096, 1}, 8)},
      {"an offer with a body",
       [](MailboxAttack& a) {
         a.say_body({kMail | 8 << 8, kMailbox, 0, 64, 4096, 1}, 64, 64);
       }},
      {"all flags", mail({kMail | 0xff << 8, kMailbox, 0, 0})},
      {"an epoch that is not there", mail({kMail | 1 << 8, kMailbox, 0})},
      {"any epoch by its name", mail({kMail | 1 << 8, kMailbox, 0, PH_ANY_EPOCH})},
      {"more bytes than the line has", mail({kMail | 33 << 16, kMailbox, 0, 1, 2, 3, 4})},
      {"as many bytes as can be said", mail({kMail | 0xffff << 16, kMailbox, 0, 1, 2, 3, 4})},
      {"fewer bytes than the line has", mail({kMail | 8 << 16, kMailbox, 0, 1, 2})},
      {"bytes in the line and in the payload", mail({kMail | 8 << 16, kMailbox, 0, 1, 2}, 8)},
      {"half a word",
       [](MailboxAttack& a) {
         a.post(wire::encode(Kind::message, 28, 0, wire::Owner::mailbox), 1, {kMail, kMailbox, 0});
       }},
      {"nothing",
       [](MailboxAttack& a) {
         a.post(wire::encode(Kind::message, 0, 0, wire::Owner::mailbox), 1, {});
       }},
      {"a body of a reply", [](MailboxAttack& a) { a.say_body({kCredit | 1 << 8}, 64, 64); }},
      {"a body with bytes in the line",
       [](MailboxAttack& a) {
         a.say_body({kMail | 8 << 16, kMailbox, 0, 1}, 64, 64);
       }},
      {"a body without an offset",
       [](MailboxAttack& a) {
         a.say_body({kMail, kMailbox}, 64, 64);
       }},
      {"a body that is too large",
       [](MailboxAttack& a) {
         a.say_body({kMail, kMailbox, 0}, (1 << 20) + 1, 64);
       }},
      {"a body of nearly all there is",
       [](MailboxAttack& a) {
         a.say_body({kMail, kMailbox, 0}, ~std::uint64_t{0} - 7, 64);
       }},
  });
}

TEST_P(GarbageMailbox, a_forged_withdrawal_or_recall_ends_its_sender_and_nothing_else) {
  const auto mail = [](std::vector<std::uint64_t> words, std::uint32_t payload_bytes = 0) {
    return [=](MailboxAttack& a) { a.say(words, payload_bytes); };
  };
  expect_each_ends_its_sender({
      {"a withdrawal of nothing", mail({kMail | 16 << 8, kMailbox, 0, 0})},
      {"a withdrawal without its bytes", mail({kMail | 16 << 8, kMailbox, 1})},
      {"a withdrawal and more", mail({kMail | 16 << 8, kMailbox, 1, 1, 1})},
      {"a withdrawal with a payload", mail({kMail | 16 << 8, kMailbox, 1, 1}, 8)},
      {"a withdrawal that appends", mail({kMail | 18 << 8, kMailbox, 1, 1})},
      {"a withdrawal that offers", mail({kMail | 24 << 8, kMailbox, 1, 1, 4096, 1})},
      {"a withdrawal with a body",
       [](MailboxAttack& a) {
         a.say_body({kMail | 16 << 8, kMailbox, 1, 1}, 64, 64);
       }},
      {"a recall of what was not sent", mail({7})},
      {"a recall of the largest number", mail({kAll - 0xf8})},
      {"a recall and more", mail({7, 0})},
      {"a recall with a payload", mail({7}, 8)},
  });
}

TEST_P(GarbageMailbox, a_forged_get_ends_its_sender_and_nothing_else) {
  const auto mail = [](std::vector<std::uint64_t> words, std::uint32_t payload_bytes = 0) {
    return [=](MailboxAttack& a) { a.say(words, payload_bytes); };
  };
  expect_each_ends_its_sender({
      {"a question without a token", mail({5, kMailbox, 0, 8})},
      {"a question for more than may be asked", mail({5, kMailbox, 0, (1 << 20) + 1, 1})},
      {"a question with a payload", mail({5, kMailbox, 0, 8, 1}, 8)},
      {"an answer that nobody waits for", mail({6, 0, 0, 0})},
      {"a body of a question",
       [](MailboxAttack& a) {
         a.say_body({5, kMailbox, 0, 8, 1}, 64, 64);
       }},
      {"a body of an answer that nobody waits for",
       [](MailboxAttack& a) {
         a.say_body({6, 0, 0, 0}, 64, 64);
       }},
  });
}

TEST_P(GarbageMailbox, a_forged_reply_ends_its_sender_and_nothing_else) {
  constexpr std::uint64_t kMost = ~std::uint64_t{0} >> 8;
  const auto judged = [](std::uint64_t number, std::int64_t status) {
    return [=](MailboxAttack& a) { a.judge(number, status); };
  };
  const auto said = [](std::uint64_t op, std::uint64_t number) {
    return [=](MailboxAttack& a) { a.reply(op, number); };
  };
  const auto words = [](std::vector<std::uint64_t> all, std::uint32_t payload_bytes = 0) {
    return [=](MailboxAttack& a) { a.say(all, payload_bytes); };
  };
  const auto twice = [](const std::function<void(MailboxAttack&)>& once) {
    return [=](MailboxAttack& a) {
      once(a);
      once(a);
    };
  };
  expect_each_ends_its_sender({
      {"what waits and was not sent", said(kKept, MailboxAttack::kSent)},
      {"what waits under the largest number", said(kKept, kMost)},
      {"what waits twice", twice(said(kKept, 1))},
      {"what waits and more", words({kKept, 0})},
      {"what waits, with a payload", words({kKept}, 8)},
      {"a verdict of what was not sent", judged(MailboxAttack::kSent, PH_ERR_RANGE)},
      {"a verdict of the largest number", judged(kMost, PH_ERR_RANGE)},
      {"a good verdict that nobody asked for", judged(0, PH_OK)},
      {"two verdicts", twice(judged(0, PH_ERR_RANGE))},
      {"a verdict without a status", words({kVerdict})},
      {"a verdict and more", words({kVerdict, PH_OK, 0})},
      {"a verdict with a payload", words({kVerdict, PH_OK}, 8)},
      {"a verdict that says to try again", judged(MailboxAttack::kAsked, PH_AGAIN)},
      {"a verdict of no status", judged(MailboxAttack::kAsked, -5000)},
      {"a verdict of half a status", judged(MailboxAttack::kAsked, 0xffff'ffff)},
      {"a credit of nothing", said(kCredit, 0)},
      {"a credit given twice", twice(said(kCredit, 2))},
      {"a credit for what was not sent", said(kCredit, MailboxAttack::kSent + 1)},
      {"a credit of the largest number", said(kCredit, kMost)},
      {"a credit for what has no verdict", said(kCredit, MailboxAttack::kAsked + 1)},
      {"a credit and more", words({kCredit | 1 << 8, 0})},
      {"a credit with a payload", words({kCredit | 1 << 8}, 8)},
  });
}

// What can be, but leads nowhere: it is refused, and its sender goes on.
TEST_P(GarbageMailbox, a_mail_that_leads_nowhere_is_refused_and_touches_nothing) {
  const std::vector<std::vector<std::uint64_t>> all = {
      {kMail | 8 << 16, kClosedMailbox, 0, 1},
      {kMail | 8 << 16, ~std::uint64_t{0}, 0, 1},
      {kMail | 8 << 16, kMailbox, 57, 1},
      {kMail | 8 << 16, kMailbox, ~std::uint64_t{0} - 6, 1},
      {kMail | 8 << 16, kMailbox, ~std::uint64_t{0}, 1},
      {kMail | 8 << 16 | std::uint64_t{77} << 32, kMailbox, 0, 1},
      {kMail | 2 << 8 | 8 << 16, kMailbox, 0, 1},
      {kMail | 6 << 8, kMailbox, 0},
      {kMail | 8 << 8, kClosedMailbox, 0, 64, 4096, 1},
      {kMail | 16 << 8, kClosedMailbox, 1, 64},
      {kMail | 16 << 8, kMailbox, 3, 0},
      {kMail | 16 << 8, kMailbox, kAll, kAll},
      {kMail | 8 << 8, kMailbox, 1, 64, 4096, 1},
      {kMail | 8 << 8, kMailbox, 0, kAll - 4096, 4096, 1},
  };
  MailboxAttack attack(GetParam());
  for (const auto& words : all) attack.say(words);
  attack.serve_victim();
  EXPECT_EQ(attack.mailboxes().receiver().held(), 0u);
  EXPECT_EQ(attack.status_of_attacker(), PH_OK);
  attack.expect_mailbox_whole();
  attack.expect_nothing_else_harmed();
}

// Offers of memory that is not there, by keys that name nothing: they are refused, or end with
// their sender.
TEST_P(GarbageMailbox, an_offer_that_cannot_be_read_counts_nothing) {
  for (const std::uint64_t key : {std::uint64_t{1}, kAll}) {
    MailboxAttack attack(GetParam());
    attack.say({kMail | 8 << 8, kMailbox, 0, 64, 4096, key});
    attack.serve_victim();
    attack.say({kMail | 128 << 8, kMailbox, 0});
    attack.serve_victim();
    EXPECT_EQ(attack.status_of_attacker(), PH_ERR_PROTOCOL);
    EXPECT_EQ(attack.mailboxes().receiver().held(), 0u);
    attack.expect_mailbox_whole();
    attack.expect_nothing_else_harmed();
  }
}

// More than it may have under way: what waits here has its limit, whoever sends.
TEST_P(GarbageMailbox, a_peer_without_regard_to_its_credit_fills_no_memory) {
  MailboxAttack attack(GetParam());
  ph_mailbox_args args{};
  args.size = sizeof args;
  args.address = kClosedMailbox;
  args.source = PH_ANY_RANK;
  ph_mailbox box{};
  ASSERT_EQ(attack.mailboxes().receiver().open(args, box), PH_OK);
  const std::uint64_t most = attack.ranks()[kVictim].config().mailbox_early_bytes / (64 + 8);
  for (std::uint64_t i = 0; i < most + 100; ++i) {
    attack.say({kMail | 8 << 16, kClosedMailbox, 0, i});
    attack.serve_victim(1);
  }
  EXPECT_EQ(attack.mailboxes().receiver().held(), most);
  attack.expect_mailbox_whole();
}

INSTANTIATE_TEST_SUITE_P(Grounds, GarbageMailbox,
                         testing::Values(Ground::fake, Ground::shm, Ground::shm_two, Ground::sim),
                         ground_name);

}  // namespace
}  // namespace photon::test
