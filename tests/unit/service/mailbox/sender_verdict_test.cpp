// What receivers say of mails, what of it cannot be, and what the sender's user
// is told.
#include <functional>

#include "mailbox_unit.hpp"
#include "shortage.hpp"

namespace photon::service::mailbox::test {
namespace {

using photon::test::Shortage;

// ---- verdicts

TEST(MailboxSender, a_request_ends_with_its_verdict) {
  for (const bool waits : {false, true})
    for (const ph_status status : {PH_OK, PH_ERR_EPOCH}) {
      Sending one;
      ASSERT_EQ(one.ask(), PH_OK);
      EXPECT_EQ(one.told(), Sending::Statuses{});
      if (waits) {
        ASSERT_TRUE(one.reply(1, Op::kept, 0));
        ASSERT_TRUE(one.reply(1, Op::credit, 1));
      }
      EXPECT_FALSE(one.service.is_idle());
      ASSERT_TRUE(one.reply(1, Op::verdict, 0, status));
      EXPECT_EQ(one.told(), Sending::Statuses{status});
      EXPECT_TRUE(one.service.is_idle());
      EXPECT_EQ(one.port.promises(), 0u);
      if (!waits) {
        EXPECT_TRUE(one.reply(1, Op::credit, 1));
      }
    }
}

TEST(MailboxSender, a_body_is_over_when_it_has_left_or_with_its_verdict) {
  Sending one;
  ASSERT_EQ(one.sender().put(1, one.args(3000, 0), false), PH_OK);
  ASSERT_EQ(one.ask(3000), PH_OK);
  EXPECT_EQ(one.service.held(), 3u);
  EXPECT_EQ(one.told(), Sending::Statuses{});
  EXPECT_EQ(one.said_to(1), (Texts{"mail", "mail"}));
  EXPECT_EQ(one.told(), Sending::Statuses{PH_OK});
  EXPECT_EQ(one.service.held(), 1u);
  ASSERT_TRUE(one.reply(1, Op::verdict, 1, PH_OK));
  EXPECT_EQ(one.told(), Sending::Statuses{PH_OK});
  ASSERT_TRUE(one.reply(1, Op::credit, 2));
  EXPECT_EQ(one.service.held() + one.port.promises(), 0u);
}

// Its receiver counts it, and says no more of it than its credit.
TEST(MailboxSender, a_body_that_could_not_be_read_ends_with_its_error) {
  Sending one;
  ASSERT_EQ(one.ask(3000), PH_OK);
  ASSERT_EQ(one.put(3000), PH_OK);
  for (const std::uint64_t token : {0, 1}) one.service.on_local(1, token, PH_ERR_MEMORY);
  EXPECT_EQ(one.told(), Sending::Statuses(2, PH_ERR_MEMORY));
  EXPECT_TRUE(one.service.is_idle());
  EXPECT_TRUE(one.reply(1, Op::credit, 2));
  EXPECT_EQ(one.port.promises(), 0u);
}

struct Wrong {
  const char* name;
  std::function<bool(Sending&)> say;  // whether the last reply was accepted
};

bool mails(Sending& one) { return one.put(8) == PH_OK && one.ask() == PH_OK; }

const std::vector<Wrong>& wrong_verdicts() {
  static const std::vector<Wrong> all = {
      {"a verdict before anything was sent",
       [](Sending& one) { return one.reply(1, Op::verdict, 0); }},
      {"a verdict of what was not sent",
       [](Sending& one) { return mails(one) && one.reply(1, Op::verdict, 2); }},
      {"a verdict of the largest number",
       [](Sending& one) { return mails(one) && one.reply(1, Op::verdict, ~0ull >> 8); }},
      {"a second verdict",
       [](Sending& one) {
         return mails(one) && one.reply(1, Op::verdict, 1) && one.reply(1, Op::verdict, 1);
       }},
      {"a second verdict that refuses",
       [](Sending& one) {
         return mails(one) && one.reply(1, Op::verdict, 0, PH_ERR_RANGE) &&
                one.reply(1, Op::verdict, 0, PH_ERR_RANGE);
       }},
      {"a good verdict that nobody has asked for",
       [](Sending& one) { return mails(one) && one.reply(1, Op::verdict, 0); }},
      {"a verdict behind its credit",
       [](Sending& one) {
         return mails(one) && one.reply(1, Op::credit, 1) &&
                one.reply(1, Op::verdict, 0, PH_ERR_RANGE);
       }},
      {"a second verdict of what has waited",
       [](Sending& one) {
         return mails(one) && one.reply(1, Op::kept, 1) && one.reply(1, Op::verdict, 1) &&
                one.reply(1, Op::verdict, 1);
       }},
      {"a verdict before its body has left",
       [](Sending& one) { return one.ask(3000) == PH_OK && one.reply(1, Op::verdict, 0); }},
  };
  return all;
}

const std::vector<Wrong>& wrong_numbers() {
  static const std::vector<Wrong> all = {
      {"a body that waits before it has left",
       [](Sending& one) { return one.ask(3000) == PH_OK && one.reply(1, Op::kept, 0); }},
      {"a credit of a body that has not left",
       [](Sending& one) { return one.put(3000) == PH_OK && one.reply(1, Op::credit, 1); }},
      {"what waits twice",
       [](Sending& one) {
         return mails(one) && one.reply(1, Op::kept, 0) && one.reply(1, Op::kept, 0);
       }},
      {"what waits behind its verdict",
       [](Sending& one) {
         return mails(one) && one.reply(1, Op::verdict, 1) && one.reply(1, Op::kept, 1);
       }},
      {"what waits behind its credit",
       [](Sending& one) {
         return mails(one) && one.reply(1, Op::credit, 1) && one.reply(1, Op::kept, 0);
       }},
      {"what waits and was not sent",
       [](Sending& one) { return mails(one) && one.reply(1, Op::kept, 2); }},
      {"a credit of nothing",
       [](Sending& one) { return mails(one) && one.reply(1, Op::credit, 0); }},
      {"a credit that was given",
       [](Sending& one) {
         return mails(one) && one.reply(1, Op::credit, 1) && one.reply(1, Op::credit, 1);
       }},
      {"a credit for what was not sent",
       [](Sending& one) {
         return mails(one) && one.reply(1, Op::verdict, 1) && one.reply(1, Op::credit, 3);
       }},
      {"a credit for what has no verdict",
       [](Sending& one) { return mails(one) && one.reply(1, Op::credit, 2); }},
  };
  return all;
}

void expect_each_ends_its_sender(const std::vector<Wrong>& all) {
  for (const Wrong& wrong : all) {
    SCOPED_TRACE(wrong.name);
    Sending one;
    ASSERT_EQ(one.ask(8, 2), PH_OK);
    EXPECT_FALSE(wrong.say(one));
    EXPECT_TRUE(one.is_cut_off(1));
    EXPECT_FALSE(one.is_cut_off(2));
    EXPECT_EQ(one.service.held(), 1u) << "what was for the other rank";
    EXPECT_EQ(one.port.promises(), 1u);
    EXPECT_TRUE(one.reply(2, Op::verdict, 0));
  }
}

TEST(MailboxSender, a_verdict_that_cannot_be_ends_its_sender) {
  expect_each_ends_its_sender(wrong_verdicts());
}

TEST(MailboxSender, a_number_that_cannot_be_ends_its_sender) {
  expect_each_ends_its_sender(wrong_numbers());
}

TEST(MailboxSender, a_rank_answers_for_its_own_mails_only) {
  Sending one;
  ASSERT_EQ(one.ask(), PH_OK);
  EXPECT_FALSE(one.reply(2, Op::verdict, 0));
  EXPECT_TRUE(one.is_cut_off(2));
  EXPECT_EQ(one.told(), Sending::Statuses{});
  EXPECT_TRUE(one.reply(1, Op::verdict, 0));
}

// ---- refusals of what was over

TEST(MailboxSender, a_refusal_of_what_was_over_comes_with_its_id) {
  Sending one;
  const Bytes id = some(7);
  ASSERT_EQ(one.put_with_id(id), PH_OK);
  ASSERT_EQ(one.put_with_id(id, PH_NO_LCE), PH_OK);
  EXPECT_EQ(one.told(), Sending::Statuses{PH_OK});
  for (const std::uint64_t number : {0, 1}) {
    ASSERT_TRUE(one.reply(1, Op::verdict, number, PH_ERR_NOT_FOUND));
    const auto told = one.port.take_told();
    ASSERT_EQ(told.size(), 1u);
    EXPECT_EQ(told[0].rank, 1u);
    EXPECT_EQ(told[0].id, id);
    EXPECT_EQ(told[0].status, PH_ERR_NOT_FOUND);
  }
  EXPECT_EQ(one.port.promises(), 0u);
}

TEST(MailboxSender, a_refusal_that_finds_no_request_is_told_in_a_later_turn) {
  Sending one;
  for (int i = 0; i < 3; ++i) ASSERT_EQ(one.put_with_id(some(8, i), PH_NO_LCE), PH_OK);
  one.port.requests = 0;
  ASSERT_TRUE(one.reply(1, Op::verdict, 0, PH_ERR_NOT_FOUND));
  ASSERT_TRUE(one.reply(1, Op::verdict, 1, PH_ERR_RANGE));
  EXPECT_FALSE(one.service.turn()) << "no turn brings a request about, so none is wanted at once";
  EXPECT_GT(one.service.next_turn_ns(), one.port.now);
  EXPECT_LE(one.service.next_turn_ns(), one.port.now + 100'000);
  EXPECT_EQ(one.told(), Sending::Statuses{});
  EXPECT_FALSE(one.service.is_idle());
  EXPECT_EQ(one.service.held(), 2u);
  one.port.requests = 1;
  ASSERT_TRUE(one.reply(1, Op::verdict, 2, PH_ERR_EPOCH));
  EXPECT_EQ(one.told(), Sending::Statuses{}) << "it waits behind the others";
  EXPECT_FALSE(one.service.turn());
  const auto told = one.port.take_told();
  ASSERT_EQ(told.size(), 3u);
  EXPECT_EQ(told[0].status, PH_ERR_NOT_FOUND);
  EXPECT_EQ(told[1].status, PH_ERR_RANGE);
  EXPECT_EQ(told[2].status, PH_ERR_EPOCH);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(told[static_cast<std::size_t>(i)].id, some(8, i));
  EXPECT_TRUE(one.service.is_idle());
  EXPECT_EQ(one.service.next_turn_ns(), INT64_MAX);
}

// At its end a lane says one error: the others need not be told, and nothing waits for them.
TEST(MailboxSender, refusals_hold_no_lane_up_that_closes) {
  Sending one;
  for (int i = 0; i < 3; ++i) ASSERT_EQ(one.put_with_id(some(8, i), PH_NO_LCE), PH_OK);
  one.port.requests = 0;
  one.service.close();
  ASSERT_TRUE(one.reply(1, Op::verdict, 0, PH_ERR_NOT_FOUND));
  ASSERT_TRUE(one.reply(1, Op::verdict, 1, PH_ERR_RANGE));
  EXPECT_FALSE(one.service.turn());
  EXPECT_TRUE(one.service.is_idle());
  EXPECT_EQ(one.told(), Sending::Statuses{}) << "there is no completion for them";
  const std::pair<Rank, ph_status> first(1, PH_ERR_NOT_FOUND);
  ASSERT_FALSE(one.port.unheard.empty());
  EXPECT_EQ(one.port.unheard.front(), first);
  one.port.requests = 1;
  ASSERT_TRUE(one.reply(1, Op::verdict, 2, PH_ERR_EPOCH));
  EXPECT_EQ(one.told(), Sending::Statuses{PH_ERR_EPOCH});
  EXPECT_FALSE(one.service.turn());
  EXPECT_TRUE(one.service.is_idle());
  EXPECT_EQ(one.service.next_turn_ns(), INT64_MAX);
}

TEST(MailboxSender, a_long_id_is_kept_until_nothing_more_can_be_told) {
  const Bytes id = some(1024);
  for (const std::uint32_t flags : {0u, std::uint32_t{PH_NO_LCE}})
    for (const bool waits : {false, true})
      for (const ph_status status : {PH_OK, PH_ERR_NOT_FOUND}) {
        Sending one;
        ASSERT_EQ(one.put_with_id(id, flags), PH_OK);
        EXPECT_EQ(one.told().size(), flags == 0 ? 1u : 0u);
        EXPECT_EQ(one.port.promises(), 1u);
        if (waits) {
          ASSERT_TRUE(one.reply(1, Op::kept, 0));
        }
        if (status != PH_OK || waits) {
          ASSERT_TRUE(one.reply(1, Op::verdict, 0, status));
        }
        EXPECT_EQ(one.port.promises(), status == PH_OK && !waits ? 1u : 0u);
        ASSERT_TRUE(one.reply(1, Op::credit, 1));
        EXPECT_EQ(one.port.promises(), 0u);
        const auto told = one.port.take_told();
        ASSERT_EQ(told.size(), status == PH_OK ? 0u : 1u);
        if (status != PH_OK) {
          EXPECT_EQ(told[0].id, id);
        }
      }
}

// ---- losses

// One of each: over, over and waiting there, judged, without a completion, the same and
// waiting; and asked for.
void send_one_of_each(Sending& one) {
  ASSERT_EQ(one.put_with_id(some(1)), PH_OK);
  ASSERT_EQ(one.put_with_id(some(2)), PH_OK);
  ASSERT_EQ(one.put_with_id(some(3)), PH_OK);
  for (int i = 0; i < 2; ++i) ASSERT_EQ(one.sender().put_u64(1, kBox, 0, some(8)), PH_OK);
  ASSERT_EQ(one.ask(), PH_OK);
  ASSERT_EQ(one.ask(), PH_OK);
  ASSERT_EQ(one.ask(3000), PH_OK);
  ASSERT_EQ(one.ask(), PH_OK);
  ASSERT_TRUE(one.reply(1, Op::kept, 1));
  ASSERT_TRUE(one.reply(1, Op::verdict, 2, PH_ERR_RANGE));
  ASSERT_TRUE(one.reply(1, Op::kept, 4));
  ASSERT_TRUE(one.reply(1, Op::kept, 6));
  ASSERT_TRUE(one.reply(1, Op::verdict, 8, PH_OK));
  one.told();
}

TEST(MailboxSender, of_a_lost_rank_what_was_asked_for_ends_and_what_may_be_missed_is_told) {
  for (const bool lives : {false, true})
    for (const ph_status why : {PH_ERR_PEER, PH_ERR_DEPARTED}) {
      Sending one;
      ASSERT_NO_FATAL_FAILURE(send_one_of_each(one));
      one.port.lives = lives;
      one.port.lose(1, why);
      one.port.run_turns();
      const bool is_missed = lives || why == PH_ERR_DEPARTED;
      EXPECT_EQ(one.told(), Sending::Statuses(is_missed ? 7 : 3, why)) << lives << why;
      EXPECT_TRUE(one.service.is_idle());
      EXPECT_EQ(one.service.held() + one.port.promises(), 0u);
      EXPECT_EQ(one.put(8), why);
    }
}

// Its mails end inside the call that reads the verdict, and what is left of
// them is whole.
TEST(MailboxSender, a_refusal_that_finds_no_memory_cuts_its_receiver_off) {
  for (const bool waits : {false, true}) {
    Sending one;
    for (int i = 0; i < 4; ++i) ASSERT_EQ(one.put(8), PH_OK);
    for (std::uint64_t number = 0; waits && number < 3; ++number)
      ASSERT_TRUE(one.reply(1, Op::kept, number));
    const Bytes words = words_of({3 | 1 << 8, static_cast<std::uint64_t>(PH_ERR_RANGE)});
    {
      const Shortage shortage(0);
      static_cast<void>(one.service.on_message({1, words, {}}));
    }
    EXPECT_TRUE(one.is_cut_off(1));
    EXPECT_EQ(one.service.held() + one.port.promises(), 0u);
    EXPECT_EQ(one.put(8, 2), PH_OK);
  }
}

}  // namespace
}  // namespace photon::service::mailbox::test
