// Offers at their receiver, and their sender's part in them.
#include <array>

#include "mailbox_unit.hpp"

namespace photon::service::mailbox::test {
namespace {

constexpr std::size_t kCarried = 64 << 10;  // mailbox_carried_max

TEST(MailboxOffers, land_when_they_have_been_read_and_not_before) {
  Mailing one;
  const Bytes source = some(100);
  Bytes memory(100);
  const ph_mailbox box = one.open();
  ASSERT_EQ(one.post(box, memory), PH_OK);
  ASSERT_TRUE(one.deliver(Mailing::offer(1, kBox, source)));
  EXPECT_EQ(one.said_to(1), Texts{kept(0)});
  EXPECT_TRUE(one.take(box).empty());
  one.port.end_get();
  EXPECT_EQ(one.said_to(1), Texts{verdict(0, PH_OK)});
  const auto events = one.take(box);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].bytes, 100u);
  EXPECT_EQ(memory, source);
  EXPECT_EQ(one.service.held(), 0u);
}

TEST(MailboxOffers, wait_for_a_buffer_and_cost_no_room) {
  Mailing one;
  one.port.settings.mailbox_early_bytes = 64;
  const Bytes source = some(1000);
  Bytes memory(2000);
  const ph_mailbox box = one.open();
  ASSERT_TRUE(one.deliver(Mailing::offer(1, kBox, source)));
  ASSERT_TRUE(one.deliver(Mailing::offer(1, kBox, source, 0, 1000)));
  EXPECT_EQ(one.said_to(1), (Texts{kept(0), kept(1)}));
  EXPECT_EQ(one.port.gets(), 0u);
  ASSERT_EQ(one.post(box, memory), PH_OK);
  ASSERT_EQ(one.port.gets(), 2u);
  one.port.end_get();
  one.port.end_get();
  EXPECT_EQ(one.said_to(1), (Texts{verdict(0, PH_OK), verdict(1, PH_OK)}));
  EXPECT_EQ(one.take(box).size(), 1u);
}

// It counts as if it had not come: another message completes the buffer.
TEST(MailboxOffers, that_cannot_be_read_are_refused_and_do_not_count) {
  Mailing one;
  const Bytes source = some(64);
  Bytes memory(64);
  const ph_mailbox box = one.open();
  ASSERT_EQ(one.post(box, memory), PH_OK);
  ASSERT_TRUE(one.deliver(Mailing::offer(1, kBox, source)));
  EXPECT_EQ(one.said_to(1), Texts{kept(0)});
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(64, 9))));
  EXPECT_EQ(one.said_to(1), Texts{kept(1)}) << "the buffer is full as it stands";
  one.port.end_get(PH_ERR_KEY);
  EXPECT_EQ(one.said_to(1), (Texts{verdict(0, PH_ERR_KEY), verdict(1, PH_OK)}));
  EXPECT_EQ(one.take(box).size(), 1u);
  EXPECT_EQ(memory, some(64, 9));
}

TEST(MailboxOffers, of_a_lost_sender_leave_no_trace) {
  Mailing one;
  const Bytes source = some(64);
  Bytes memory(64);
  const ph_mailbox box = one.open();
  ASSERT_TRUE(one.deliver(Mailing::offer(1, kBox, source)));
  one.port.lose(1);
  EXPECT_EQ(one.service.held(), 0u);
  ASSERT_EQ(one.post(box, memory), PH_OK);
  EXPECT_EQ(one.port.gets(), 0u);
  ASSERT_TRUE(one.deliver(Mailing::offer(2, kBox, source)));
  one.port.lose(2);
  one.port.run_turns();
  EXPECT_TRUE(one.take(box).empty());
  EXPECT_EQ(one.service.held(), 0u);
  ASSERT_TRUE(one.deliver(Mailing::mail(3, kBox, some(64, 9))));
  EXPECT_EQ(one.take(box).size(), 1u);
}

// The next buffer is current at once; what was landing is the first in it.
TEST(MailboxOffers, of_a_buffer_that_is_taken_back_land_in_the_next_one) {
  for (const bool is_stuck : {false, true}) {
    Mailing one;
    one.port.gets_are_stuck = is_stuck;
    const Bytes source = some(64);
    Bytes memory(64), next(128);
    const ph_mailbox box = one.open();
    ASSERT_EQ(one.post(box, memory), PH_OK);
    ASSERT_EQ(one.post(box, next), PH_OK);
    ASSERT_TRUE(one.deliver(Mailing::offer(1, kBox, source)));
    ASSERT_EQ(one.receiver().inc_epoch(box), PH_OK);
    EXPECT_EQ(one.take(box).size(), is_stuck ? 0u : 1u) << "it is written to";
    ASSERT_TRUE(one.deliver(Mailing::mail(2, kBox, some(64, 9), 0, 64)));
    EXPECT_EQ(one.said_to(1), Texts{kept(0)});
    one.port.end_get();
    EXPECT_EQ(memory, is_stuck ? source : Bytes(64));
    EXPECT_EQ(one.take(box).size(), is_stuck ? 1u : 0u) << "nothing writes to it any more";
    EXPECT_EQ(one.said_to(1), Texts{});
    one.port.end_get();
    EXPECT_EQ(one.said_to(1), Texts{verdict(0, PH_OK)});
    const auto events = one.take(box);
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].epoch, 1u);
    EXPECT_EQ(events[0].operations, 2u);
    EXPECT_EQ(one.service.held(), 0u);
  }
}

TEST(MailboxOffers, that_are_recalled_wait_in_front_of_all_others) {
  Mailing one;
  const Bytes first = some(64), second = some(64, 5);
  Bytes memory(64), next(64), last(64);
  const ph_mailbox box = one.open();
  ASSERT_EQ(one.post(box, memory), PH_OK);
  ASSERT_TRUE(one.deliver(Mailing::offer(1, kBox, first)));
  ASSERT_TRUE(one.deliver(Mailing::offer(2, kBox, second)));
  ASSERT_EQ(one.receiver().inc_epoch(box), PH_OK);
  EXPECT_EQ(one.receiver().inc_epoch(box), PH_AGAIN);
  one.port.end_get();
  ASSERT_EQ(one.post(box, next), PH_OK);
  one.port.end_get();
  EXPECT_EQ(next, first);
  ASSERT_EQ(one.post(box, last), PH_OK);
  one.port.end_get();
  EXPECT_EQ(last, second);
  EXPECT_EQ(one.take(box).size(), 3u);
}

// The handle lives until its last buffer has come back.
TEST(MailboxOffers, of_a_mailbox_that_is_closed_are_refused) {
  for (const bool is_stuck : {false, true}) {
    Mailing one;
    one.port.gets_are_stuck = is_stuck;
    const Bytes source = some(64);
    Bytes memory(64), next(64);
    const ph_mailbox box = one.open();
    ASSERT_EQ(one.post(box, memory), PH_OK);
    ASSERT_EQ(one.post(box, next), PH_OK);
    ASSERT_TRUE(one.deliver(Mailing::offer(1, kBox, source)));
    ASSERT_EQ(one.receiver().close(box), PH_OK);
    const Texts refused = {verdict(0, PH_ERR_NOT_FOUND)};
    EXPECT_EQ(one.said_to(1), is_stuck ? Texts{kept(0)} : (Texts{kept(0), refused[0]}));
    ph_mailbox_event event{};
    if (is_stuck) {
      EXPECT_EQ(one.receiver().take(box, event), PH_AGAIN);
    }
    one.port.end_get();
    EXPECT_EQ(one.said_to(1), is_stuck ? refused : Texts{}) << "its source was still read";
    const auto events = one.take(box);
    ASSERT_EQ(events.size(), 2u);
    for (const auto& over : events) EXPECT_EQ(over.why, PH_MAILBOX_CLOSED);
    EXPECT_EQ(one.receiver().take(box, event), PH_ERR_STATE);
    EXPECT_EQ(one.service.held(), 0u);
  }
}

TEST(MailboxOffers, of_a_lane_that_closes_are_refused) {
  Mailing one;
  const Bytes source = some(64);
  Bytes memory(64);
  ASSERT_EQ(one.post(one.open(), memory), PH_OK);
  one.open(Mailing::box_args(8));
  ASSERT_TRUE(one.deliver(Mailing::offer(1, kBox, source)));
  ASSERT_TRUE(one.deliver(Mailing::offer(1, 8, source)));
  static_cast<void>(one.said_to(1));
  one.service.close();
  EXPECT_EQ(one.said_to(1),
            (Texts{verdict(1, PH_ERR_DEPARTED), verdict(0, PH_ERR_DEPARTED), credit(2)}));
  EXPECT_EQ(one.service.held(), 0u);
}

TEST(MailboxOffers, beyond_what_any_sender_may_make_end_it) {
  Mailing one;
  const Bytes source = some(8);
  one.open();
  for (std::size_t i = 0; i < kMostOffers; ++i)
    ASSERT_TRUE(one.deliver(Mailing::offer(1, kBox, source)));
  EXPECT_FALSE(one.deliver(Mailing::offer(1, kBox, source)));
  EXPECT_TRUE(one.is_cut_off(1));
  EXPECT_EQ(one.service.held(), 0u);
}

TEST(MailboxOffers, that_say_what_cannot_be_end_their_sender) {
  for (const auto& [size, address] : {std::pair{std::uint64_t{0}, std::uint64_t{64}},
                                      std::pair{UINT64_MAX - 63, std::uint64_t{64}}}) {
    Mailing one;
    EXPECT_FALSE(
        one.deliver({1, words_of({1 | kOffers << 8, kBox, 0, size, address, 1}), {}, {}, 0, 0}));
  }
  Mailing one;
  EXPECT_FALSE(
      one.deliver({1, words_of({1 | kOffers << 8, kBox, 0, 8, 64, 1}), some(8), {}, 0, 0}));
}

// ---- their sender

struct Offering : Sending {
  Offering() { source = some(kCarried + 1); }
  ph_status offer() { return sender().put(1, args(source.size(), 0), false); }
};

TEST(MailboxOffers, need_a_completion) {
  Offering one;
  EXPECT_EQ(one.put(kCarried + 1), PH_ERR_ARGUMENT);
  EXPECT_EQ(one.sender().put_u64(1, kBox, 0, one.source), PH_ERR_ARGUMENT);
  EXPECT_EQ(one.put(kCarried), PH_OK);
  EXPECT_TRUE(one.port.holds_nothing());
}

TEST(MailboxOffers, keep_their_source_exposed_until_the_verdict) {
  for (const ph_status end : {PH_OK, PH_ERR_RANGE})
    for (const bool waits : {false, true}) {
      if (!waits && end == PH_OK) continue;  // its receiver says that it waits first
      Offering one;
      ASSERT_EQ(one.offer(), PH_OK);
      EXPECT_EQ(one.port.exposures(), 1u);
      EXPECT_FALSE(one.service.is_idle());
      ASSERT_TRUE(!waits || one.reply(1, Op::kept, 0));
      EXPECT_EQ(one.port.exposures(), 1u);
      EXPECT_EQ(one.told(), Sending::Statuses{});
      ASSERT_TRUE(one.reply(1, Op::verdict, 0, end));
      EXPECT_EQ(one.told(), Sending::Statuses{end});
      ASSERT_TRUE(one.reply(1, Op::credit, 1));
      EXPECT_TRUE(one.service.is_idle());
      EXPECT_TRUE(one.port.holds_nothing());
    }
}

TEST(MailboxOffers, have_a_bound_and_their_rank_may_be_lost) {
  Offering one;
  one.port.requests = 5000;
  for (std::size_t i = 0; i < kMostOffers; ++i) ASSERT_EQ(one.offer(), PH_OK);
  EXPECT_EQ(one.offer(), PH_AGAIN);
  one.port.lose(1);
  EXPECT_EQ(one.told().size(), kMostOffers);
  EXPECT_TRUE(one.service.is_idle());
  EXPECT_TRUE(one.port.holds_nothing());
}

TEST(MailboxOffers, that_were_not_sent_expose_nothing) {
  Offering one;
  one.port.requests = 0;
  EXPECT_EQ(one.offer(), PH_AGAIN);
  EXPECT_TRUE(one.port.holds_nothing());
  one.port.requests = 1;
  one.port.refuse(0, 2);
  EXPECT_EQ(one.offer(), PH_AGAIN);
  EXPECT_TRUE(one.port.holds_nothing());
}

}  // namespace
}  // namespace photon::service::mailbox::test
