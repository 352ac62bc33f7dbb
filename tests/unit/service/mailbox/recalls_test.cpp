// Messages that their senders call back: at their receiver, and the sender's part.
#include <algorithm>

#include "mailbox_unit.hpp"

namespace photon::service::mailbox::test {
namespace {

const std::string kBack = verdict(0, PH_ERR_NOT_FOUND);

struct Recalled : Mailing {
  bool recall(std::uint64_t number, Rank from = 1) { return reply(from, Op::recall, number); }
  // As it was before anything came: one mail of that size completes the buffer.
  void expect_whole(ph_mailbox box, Bytes& memory) {
    ASSERT_TRUE(deliver(mail(3, kBox, some(memory.size(), 9))));
    const auto events = take(box);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].why, PH_MAILBOX_COMPLETE);
    EXPECT_EQ(events[0].operations, 1u);
    EXPECT_EQ(memory, some(memory.size(), 9));
    EXPECT_EQ(service.held(), 0u);
  }
};

// ---- the receiver

TEST(MailboxRecalls, what_waits_for_a_buffer_goes_and_leaves_no_trace) {
  const Bytes source = some(64);
  for (const bool is_offer : {false, true}) {
    Recalled one;
    const ph_mailbox box = one.open();
    ASSERT_TRUE(one.deliver(is_offer ? Mailing::offer(1, kBox, source, kAsks)
                                     : Mailing::mail(1, kBox, source, kAsks)));
    EXPECT_EQ(one.said_to(1), Texts{kept(0)});
    EXPECT_EQ(one.service.held(), 1u);
    ASSERT_TRUE(one.recall(0));
    EXPECT_EQ(one.said_to(1), Texts{kBack});
    EXPECT_EQ(one.service.held(), 0u);
    Bytes memory(64);
    ASSERT_EQ(one.post(box, memory), PH_OK);
    EXPECT_EQ(one.port.gets(), 0u);
    one.expect_whole(box, memory);
  }
}

TEST(MailboxRecalls, the_others_that_wait_stay_in_their_order) {
  Recalled one;
  const ph_mailbox box = one.open_managed();
  for (int i = 0; i < 4; ++i)
    ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(8, i), kAsks | kAppends)));
  ASSERT_TRUE(one.recall(2));
  ASSERT_TRUE(one.recall(0));
  one.said_to(1);
  Bytes memory(16);
  ASSERT_EQ(one.post(box, memory), PH_OK);
  EXPECT_EQ(one.said_to(1), (Texts{verdict(1, PH_OK), verdict(3, PH_OK)}));
  Bytes expected = some(8, 1);
  const Bytes last = some(8, 3);
  expected.insert(expected.end(), last.begin(), last.end());
  EXPECT_EQ(memory, expected);
}

TEST(MailboxRecalls, what_is_read_is_given_up_and_does_not_count) {
  Recalled one;
  const Bytes source = some(64);
  Bytes memory(64);
  const ph_mailbox box = one.open();
  ASSERT_EQ(one.post(box, memory), PH_OK);
  ASSERT_TRUE(one.deliver(Mailing::offer(1, kBox, source, kAsks)));
  one.said_to(1);
  ASSERT_TRUE(one.recall(0));
  EXPECT_EQ(one.said_to(1), Texts{kBack}) << "its source is not read any more";
  one.port.end_get();
  EXPECT_EQ(one.said_to(1), Texts{});
  EXPECT_EQ(memory, Bytes(64));
  one.expect_whole(box, memory);
}

TEST(MailboxRecalls, what_waits_for_the_quota_to_be_read_is_over_at_once) {
  Recalled one;
  const Bytes source = some(64);
  Bytes memory(64);
  const ph_mailbox box = one.open();
  ASSERT_EQ(one.post(box, memory), PH_OK);
  one.port.refuse(0);
  ASSERT_TRUE(one.deliver(Mailing::offer(1, kBox, source, kAsks)));
  ASSERT_TRUE(one.recall(0));
  EXPECT_EQ(one.said_to(1).back(), kBack);
  one.receiver().start_pulls();
  one.port.refuse_nothing();
  while (one.port.gets() != 0) one.port.end_get();
  one.expect_whole(box, memory);
}

// A network writes on: the buffer is not handed over before, and the verdict waits for it, too.
TEST(MailboxRecalls, what_cannot_be_given_up_is_over_with_its_read_and_does_not_count) {
  Recalled one;
  one.port.gets_are_stuck = true;
  const Bytes source = some(64);
  Bytes memory(64);
  const ph_mailbox box = one.open();
  ASSERT_EQ(one.post(box, memory), PH_OK);
  ASSERT_TRUE(one.deliver(Mailing::offer(1, kBox, source, kAsks)));
  one.said_to(1);
  ASSERT_TRUE(one.recall(0));
  EXPECT_EQ(one.said_to(1), Texts{});
  one.port.end_get();
  EXPECT_EQ(one.said_to(1), Texts{kBack});
  EXPECT_TRUE(one.take(box).empty());
  one.expect_whole(box, memory);
}

TEST(MailboxRecalls, a_buffer_that_leaves_waits_for_what_was_called_back_and_admits_it_nowhere) {
  for (const bool closes : {false, true}) {
    Recalled one;
    one.port.gets_are_stuck = true;
    const Bytes source = some(64);
    Bytes memory(64), next(64);
    const ph_mailbox box = one.open();
    ASSERT_EQ(one.post(box, memory), PH_OK);
    ASSERT_EQ(one.post(box, next), PH_OK);
    ASSERT_TRUE(one.deliver(Mailing::offer(1, kBox, source, kAsks)));
    ASSERT_TRUE(one.recall(0));
    ASSERT_EQ(closes ? one.receiver().close(box) : one.receiver().inc_epoch(box), PH_OK);
    EXPECT_TRUE(one.take(box).empty()) << "it is written to";
    one.said_to(1);
    one.port.end_get();
    EXPECT_EQ(one.said_to(1), Texts{kBack});
    const auto events = one.take(box);
    ASSERT_EQ(events.size(), closes ? 2u : 1u);
    EXPECT_EQ(events[0].operations, 0u);
    if (!closes) one.expect_whole(box, next);
    EXPECT_EQ(one.service.held(), 0u);
  }
}

// A stray of the message still reads the source: the verdict waits for that.
TEST(MailboxRecalls, a_source_that_a_stray_still_reads_is_not_free) {
  Recalled one;
  one.port.gets_are_stuck = true;
  const Bytes source = some(64);
  Bytes memory(64);
  const ph_mailbox box = one.open();
  ASSERT_EQ(one.post(box, memory), PH_OK);
  ASSERT_TRUE(one.deliver(Mailing::offer(1, kBox, source, kAsks)));
  ASSERT_EQ(one.receiver().inc_epoch(box), PH_OK);  // it waits for the next buffer
  one.said_to(1);
  ASSERT_TRUE(one.recall(0));
  EXPECT_EQ(one.said_to(1), Texts{});
  one.port.end_get();
  EXPECT_EQ(one.said_to(1), Texts{kBack});
  EXPECT_EQ(one.take(box).size(), 1u);
  Bytes next(64);
  ASSERT_EQ(one.post(box, next), PH_OK);
  one.expect_whole(box, next);
}

TEST(MailboxRecalls, what_has_landed_stays_and_its_verdict_has_gone) {
  Recalled one;
  Bytes memory(16);
  const ph_mailbox box = one.open();
  ASSERT_EQ(one.post(box, memory), PH_OK);
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(8), kAsks)));
  EXPECT_EQ(one.said_to(1), Texts{verdict(0, PH_OK)});
  ASSERT_TRUE(one.recall(0));
  EXPECT_EQ(one.said_to(1), Texts{});
  ASSERT_EQ(one.receiver().inc_epoch(box), PH_OK);
  EXPECT_EQ(one.take(box).at(0).operations, 1u);
}

TEST(MailboxRecalls, what_has_begun_to_land_lands) {
  Recalled one;
  ph_mailbox_args args = Mailing::box_args();
  args.placing = PH_MAILBOX_MANAGED;
  args.flags = PH_MAILBOX_SPLIT;
  const ph_mailbox box = one.open(args);
  Bytes memory(8), next(8);
  ASSERT_EQ(one.post(box, memory), PH_OK);
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(16), kAsks | kAppends)));
  ASSERT_TRUE(one.recall(0));
  EXPECT_EQ(one.said_to(1), Texts{kept(0)});
  ASSERT_EQ(one.post(box, next), PH_OK);
  EXPECT_EQ(one.said_to(1), Texts{verdict(0, PH_OK)});
  EXPECT_EQ(one.take(box).size(), 2u);
}

TEST(MailboxRecalls, that_no_honest_sender_says_end_it) {
  const Bytes source = some(64);
  struct Forged {
    const char* name;
    bool (*say)(Recalled&, const Bytes&);
  };
  const Forged all[] = {
      {"of nothing", [](Recalled& one, const Bytes&) { return one.recall(0); }},
      {"of what was not sent",
       [](Recalled& one, const Bytes& source) {
         return one.deliver(Mailing::mail(1, kBox, source, kAsks)) && one.recall(1);
       }},
      {"of the largest number",
       [](Recalled& one, const Bytes& source) {
         return one.deliver(Mailing::mail(1, kBox, source, kAsks)) && one.recall(~0ull >> 8);
       }},
      {"of a mail that waits and did not ask",
       [](Recalled& one, const Bytes& source) {
         return one.deliver(Mailing::mail(1, kBox, source)) && one.recall(0);
       }},
      {"of an offer that waits and did not ask",
       [](Recalled& one, const Bytes& source) {
         return one.deliver(Mailing::offer(1, kBox, source)) && one.recall(0);
       }},
      {"more often than there were mails",
       [](Recalled& one, const Bytes& source) {
         return one.deliver(Mailing::mail(1, kBox, source, kAsks)) && one.recall(0) &&
                one.recall(0);
       }},
      {"of another rank's", [](Recalled& one, const Bytes& source) {
         return !one.deliver(Mailing::mail(2, kBox, source, kAsks)) || one.recall(0);
       }}};
  for (const Forged& forged : all) {
    SCOPED_TRACE(forged.name);
    Recalled one;
    one.open();
    EXPECT_FALSE(forged.say(one, source));
    EXPECT_TRUE(one.is_cut_off(1));
    EXPECT_FALSE(one.is_cut_off(2));
  }
}

TEST(MailboxRecalls, of_what_is_read_and_did_not_ask_end_their_sender) {
  Recalled one;
  const Bytes source = some(64);
  Bytes memory(64);
  const ph_mailbox box = one.open();
  ASSERT_EQ(one.post(box, memory), PH_OK);
  ASSERT_TRUE(one.deliver(Mailing::offer(1, kBox, source)));
  EXPECT_FALSE(one.recall(0));
  EXPECT_TRUE(one.is_cut_off(1));
  one.port.run_turns();
  one.expect_whole(box, memory);
}

TEST(MailboxRecalls, verdicts_say_in_which_epoch_a_message_has_landed) {
  Mailing one;
  const Bytes source = some(64);
  Bytes memory(64), next(64), third(64);
  const ph_mailbox box = one.open();
  for (Bytes* bytes : {&memory, &next}) ASSERT_EQ(one.post(box, *bytes), PH_OK);
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, source, kAsks)));
  ASSERT_TRUE(one.deliver(Mailing::offer(1, kBox, source, kAsks)));
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, source, kAsks)));
  one.port.end_get();
  ASSERT_EQ(one.post(box, third), PH_OK);
  std::vector<std::vector<std::uint64_t>> verdicts;
  for (Said said; one.port.take(said);)
    if (words_in(said.header).size() == 3) verdicts.push_back(words_in(said.header));
  EXPECT_EQ(verdicts, (std::vector<std::vector<std::uint64_t>>{
                          {3, PH_OK, 0}, {3 | 1 << 8, PH_OK, 1}, {3 | 2 << 8, PH_OK, 2}}));
}

// ---- the sender

TEST(MailboxRecalls, are_said_once_of_what_has_no_verdict) {
  Sending one;
  ASSERT_EQ(one.put(8), PH_OK);
  ASSERT_EQ(one.ask(), PH_OK);
  ASSERT_EQ(one.ask(), PH_OK);
  ASSERT_TRUE(one.reply(1, Op::kept, 2));
  one.said_to(1);
  EXPECT_EQ(one.service.on_cancel(1, 1), PH_TOO_LATE);
  EXPECT_EQ(one.service.on_cancel(1, 2), PH_TOO_LATE);
  EXPECT_EQ(one.said_to(1), (Texts{"recall 1", "recall 2"}));
  for (const std::uint64_t number : {0ull, 1ull, 2ull, 3ull, ~0ull})
    EXPECT_EQ(one.service.on_cancel(1, number), PH_TOO_LATE) << number;
  EXPECT_EQ(one.service.on_cancel(2, 0), PH_TOO_LATE);
  EXPECT_EQ(one.said_to(1), Texts{}) << "twice, not asked for, and never sent";
  EXPECT_FALSE(one.service.is_idle());
  ASSERT_TRUE(one.reply(1, Op::verdict, 1, PH_OK));
  ASSERT_TRUE(one.reply(1, Op::verdict, 2, PH_ERR_NOT_FOUND));
  EXPECT_EQ(one.told(), (Sending::Statuses{PH_OK, PH_ERR_NOT_FOUND}));
  EXPECT_TRUE(one.service.is_idle());
  EXPECT_EQ(one.service.on_cancel(1, 1), PH_TOO_LATE);
  EXPECT_EQ(one.said_to(1), Texts{});
}

TEST(MailboxRecalls, of_a_lost_receiver_are_said_to_nobody) {
  Sending one;
  ASSERT_EQ(one.ask(), PH_OK);
  EXPECT_EQ(one.service.on_cancel(1, 0), PH_TOO_LATE);
  one.port.lose(1);
  EXPECT_EQ(one.told(), Sending::Statuses{PH_ERR_PEER});
  EXPECT_EQ(one.service.on_cancel(1, 0), PH_TOO_LATE);
  EXPECT_EQ(one.said_to(1), Texts{});
  EXPECT_EQ(one.service.held() + one.port.promises(), 0u);
}

TEST(MailboxRecalls, a_sender_reads_in_which_epoch_its_message_has_landed) {
  constexpr std::uint64_t kUnsaid = 77;
  Sending one;
  std::vector<std::uint64_t> epochs(5, kUnsaid);
  for (std::uint64_t& epoch : epochs) {
    ph_mailbox_put_args args = one.args(8, 0);
    args.request = &one.request;
    args.landed_in = &epoch;
    ASSERT_EQ(one.sender().put(1, args, false), PH_OK);
  }
  const auto land = [&](std::uint64_t number, std::uint64_t epoch) {
    return one.deliver({1, words_of({3 | number << 8, PH_OK, epoch}), {}, {}, 0, 0});
  };
  ASSERT_TRUE(one.reply(1, Op::kept, 2));
  ASSERT_TRUE(land(1, 12));
  ASSERT_TRUE(one.reply(1, Op::verdict, 0, PH_ERR_EPOCH));
  EXPECT_EQ(epochs, (std::vector<std::uint64_t>{PH_ANY_EPOCH, 12, kUnsaid, kUnsaid, kUnsaid}));
  ASSERT_TRUE(land(2, 13));
  ASSERT_TRUE(land(3, 14));
  one.port.lose(1);
  EXPECT_EQ(epochs, (std::vector<std::uint64_t>{PH_ANY_EPOCH, 12, 13, 14, PH_ANY_EPOCH}));
}

TEST(MailboxRecalls, nobody_says_in_which_epoch_a_message_without_a_request_lands) {
  Sending one;
  std::uint64_t epoch = 0;
  ph_mailbox_put_args args = one.args(8, 0);
  args.landed_in = &epoch;
  EXPECT_EQ(one.sender().put(1, args, false), PH_ERR_ARGUMENT);
  EXPECT_EQ(one.service.held(), 0u);
}

}  // namespace
}  // namespace photon::service::mailbox::test
