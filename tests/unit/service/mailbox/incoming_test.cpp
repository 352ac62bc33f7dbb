// What comes for mailboxes: mails that wait, bodies, and what senders are told.
#include <array>

#include "mailbox_unit.hpp"
#include "shortage.hpp"

namespace photon::service::mailbox::test {
namespace {

using photon::test::Shortage;

constexpr std::uint64_t kOpen = 8, kClosed = 9;  // kBox has a buffer, kOpen none

// Credits are told when the test wants it: the settings let nothing be told for its bytes.
struct Incoming : Mailing {
  Incoming() {
    port.settings.mailbox_early_bytes = 1 << 20;
    box = open();
    open(box_args(kOpen));
    EXPECT_EQ(post(box, memory, UINT64_MAX), PH_OK);
  }
  // All chunks of that body but the last `missing` ones. False: one was refused.
  bool body(Rank from, const Bytes& bytes, std::size_t chunk_bytes, std::size_t missing = 0) {
    bool is_fine = true;
    for (std::size_t at = 0; at < bytes.size() && is_fine; at += chunk_bytes) {
      if (at / chunk_bytes + missing >= (bytes.size() + chunk_bytes - 1) / chunk_bytes) break;
      const auto end = std::min(bytes.size(), at + chunk_bytes);
      const Bytes part(bytes.begin() + static_cast<long>(at),
                       bytes.begin() + static_cast<long>(end));
      const Bytes header = at == 0 ? words_of({1 | kAsks << 8, kBox, 16}) : Bytes{};
      is_fine = deliver({from, header, {}, part, at, bytes.size()});
    }
    return is_fine;
  }
  bool rest_does_not_come(Rank from, std::uint64_t offset, std::uint64_t size) {
    return deliver({from, {}, {}, {}, offset, size});
  }
  Bytes landed(std::size_t size, std::size_t offset = 16) const {
    return {memory.begin() + static_cast<long>(offset),
            memory.begin() + static_cast<long>(offset + size)};
  }

  ph_mailbox box{};
  Bytes memory = Bytes(16 << 10);
};

TEST(MailboxIncoming, a_mail_has_its_number_in_each_reply) {
  Incoming one;
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(8))));
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kClosed, some(8))));
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kOpen, some(8))));
  ASSERT_TRUE(one.deliver(Mailing::mail(2, kOpen, some(8), kAsks)));
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(100), kAsks)));
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(8), kAppends)));
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(8), 0, one.memory.size() - 7)));
  EXPECT_EQ(one.said_to(1), (Texts{verdict(1, PH_ERR_NOT_FOUND), kept(2), verdict(3, PH_OK),
                                   verdict(4, PH_ERR_ARGUMENT), verdict(5, PH_ERR_RANGE)}));
  one.receiver().tell_all();
  EXPECT_EQ(one.said_to(1), (Texts{credit(6)}));
}

TEST(MailboxIncoming, a_mailbox_that_refuses_what_is_early_keeps_none) {
  Mailing one;
  ph_mailbox_args args = Mailing::box_args();
  args.flags = PH_MAILBOX_REFUSE_EARLY;
  one.open(args);
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(8))));
  EXPECT_EQ(one.said_to(1), (Texts{verdict(0, PH_ERR_NO_BUFFER)}));
  EXPECT_EQ(one.service.held(), 0u);
}

TEST(MailboxIncoming, of_one_peer_so_many_bytes_wait_and_of_all_together) {
  constexpr std::uint64_t kEach = 64 + kMailCost;
  Mailing one;
  one.port.settings.mailbox_early_bytes = 8 * kEach;
  one.port.settings.mailbox_early_total_bytes = 9 * kEach;
  const ph_mailbox box = one.open();
  const auto is_kept = [&](Rank from, std::size_t size = 64) {
    const std::uint64_t before = one.service.held();
    EXPECT_TRUE(one.deliver(Mailing::mail(from, kBox, some(size))));
    return one.service.held() == before + 1;
  };
  for (int i = 0; i < 7; ++i) ASSERT_TRUE(is_kept(1));
  EXPECT_FALSE(is_kept(1, 65));
  EXPECT_TRUE(is_kept(1));
  EXPECT_FALSE(is_kept(1, 0)) << "not one more of that peer";
  EXPECT_TRUE(is_kept(2));
  EXPECT_FALSE(is_kept(3, 0)) << "not one more of anybody";
  const Texts said = one.said_to(1);
  EXPECT_EQ(said.at(7), verdict(7, PH_ERR_NO_BUFFER));
  EXPECT_EQ(said.back(), verdict(9, PH_ERR_NO_BUFFER));
  Bytes memory(64);
  ASSERT_EQ(one.post(box, memory), PH_OK);  // the first one lands
  EXPECT_EQ(one.service.held(), 8u);
  EXPECT_TRUE(is_kept(1));
  EXPECT_FALSE(is_kept(1, 0));
}

TEST(MailboxIncoming, what_waited_lands_in_the_order_in_which_it_came) {
  Mailing one;
  const ph_mailbox box = one.open_managed();
  Bytes all;
  for (int i = 0; i < 9; ++i) {
    const Bytes bytes = some(static_cast<std::size_t>(3 + i), i);
    ASSERT_TRUE(one.deliver(Mailing::mail(i % 2 == 0 ? 1 : 2, kBox, bytes, kAppends)));
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  static_cast<void>(one.said_to(1));
  Bytes first(3 + 4), second(all.size());
  ASSERT_EQ(one.post(box, first), PH_OK);
  EXPECT_EQ(one.said_to(1), (Texts{verdict(0, PH_OK)}));
  EXPECT_EQ(one.service.held(), 7u);
  ASSERT_EQ(one.post(box, second, all.size() - first.size()), PH_OK);
  EXPECT_EQ(one.service.held(), 0u);
  first.insert(first.end(), second.begin(), second.end());
  first.resize(all.size());
  EXPECT_EQ(first, all);
  EXPECT_EQ(one.take(box).size(), 2u);
}

// One that names a later epoch goes on waiting, and holds up none behind it.
TEST(MailboxIncoming, a_mail_that_waits_on_holds_up_no_other) {
  Mailing one;
  const ph_mailbox box = one.open();
  ASSERT_TRUE(
      one.deliver({1, words_of({1 | kNamesEpoch << 8 | 8 << 16, kBox, 0, 1, 99}), {}, {}, 0, 0}));
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(8))));
  static_cast<void>(one.said_to(1));
  std::array<Bytes, 2> memory = {Bytes(8), Bytes(8)};
  ASSERT_EQ(one.post(box, memory[0]), PH_OK);
  EXPECT_EQ(one.said_to(1), (Texts{verdict(1, PH_OK)}));
  EXPECT_EQ(memory[0], some(8));
  ASSERT_EQ(one.post(box, memory[1]), PH_OK);
  EXPECT_EQ(one.said_to(1), (Texts{verdict(0, PH_OK)}));
  EXPECT_EQ(words_in(memory[1])[0], 99u);
}

TEST(MailboxIncoming, a_close_refuses_what_waits) {
  Mailing one;
  const ph_mailbox box = one.open();
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(40))));
  ASSERT_EQ(one.receiver().close(box), PH_OK);
  EXPECT_EQ(one.said_to(1),
            (Texts{kept(0), kept(1), verdict(0, PH_ERR_NOT_FOUND), verdict(1, PH_ERR_NOT_FOUND)}));
  EXPECT_EQ(one.service.held(), 0u);
}

// Its sender was told that it is over: it lands though that rank is lost.
TEST(MailboxIncoming, what_waits_lands_after_its_sender_was_lost) {
  Mailing one;
  const ph_mailbox box = one.open();
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(8))));
  one.port.lose(1);
  EXPECT_EQ(one.service.held(), 1u);
  Bytes memory(8);
  ASSERT_EQ(one.post(box, memory), PH_OK);
  EXPECT_EQ(memory, some(8));
  EXPECT_EQ(one.service.held(), 0u);
  EXPECT_EQ(one.said_to(1), Texts{});
}

TEST(MailboxIncoming, credits_come_for_every_64_mails) {
  Incoming one;
  for (std::uint64_t i = 1; i <= 200; ++i) {
    ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, {})));
    EXPECT_EQ(one.said_to(1), i % 64 == 0 ? Texts{credit(i)} : Texts{}) << i;
  }
  EXPECT_EQ(one.said_to(2), Texts{});
}

TEST(MailboxIncoming, credits_come_for_every_quarter_of_the_credit) {
  Incoming one;
  one.port.settings.mailbox_early_bytes = 4000;
  for (std::uint64_t i = 1; i <= 30; ++i) {
    ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(36))));  // 100 of it each
    EXPECT_EQ(one.said_to(1), i % 10 == 0 ? Texts{credit(i)} : Texts{}) << i;
  }
}

TEST(MailboxIncoming, a_credit_comes_100_us_after_it_was_owed_at_the_latest) {
  Incoming one;
  EXPECT_EQ(one.service.next_turn_ns(), INT64_MAX);
  one.port.now = 5000;
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(8))));
  EXPECT_EQ(one.service.next_turn_ns(), 105'000);
  one.port.now = 60'000;
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(one.deliver(Mailing::mail(2, kBox, some(8))));
  EXPECT_EQ(one.service.next_turn_ns(), 105'000) << "the oldest one counts";
  EXPECT_FALSE(one.service.turn());
  Texts all;
  for (Said said; one.port.take(said);)
    all.push_back(std::to_string(said.to) + ": " + Mailing::text_of(said));
  EXPECT_EQ(all, (Texts{"1: " + credit(1), "2: " + credit(2)}));
  EXPECT_EQ(one.service.next_turn_ns(), INT64_MAX);
  EXPECT_FALSE(one.service.turn());
  EXPECT_EQ(one.port.waiting(), 0u) << "told once";
}

// Its bytes are the sender's again when the verdict comes, and its number with the next credit.
TEST(MailboxIncoming, a_mail_that_waits_holds_up_no_credit) {
  Incoming one;
  for (int i = 0; i < 63; ++i) ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, {})));
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kOpen, some(8))));
  EXPECT_EQ(one.said_to(1), (Texts{kept(63), credit(64)}));
}

TEST(MailboxIncoming, what_a_sender_has_to_be_told_waits_for_a_line) {
  Incoming one;
  one.port.refuse(0, FakePort::kNever);
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kClosed, some(8))));
  ASSERT_TRUE(one.deliver(Mailing::mail(1, kOpen, some(8))));
  one.receiver().tell_all();
  EXPECT_EQ(one.said_to(1), Texts{});
  EXPECT_FALSE(one.service.is_idle());
  one.port.refuse_nothing();
  one.port.give_room(1);
  EXPECT_EQ(one.said_to(1), (Texts{verdict(0, PH_ERR_NOT_FOUND), kept(1), credit(2)}));
  EXPECT_TRUE(one.service.is_idle());
}

// A sender that waits for a verdict that found no memory would wait for ever.
TEST(MailboxIncoming, a_sender_that_cannot_be_told_for_lack_of_memory_is_cut_off) {
  for (const bool is_full : {false, true}) {
    Incoming one;
    const Coming mail = Mailing::mail(1, kClosed, some(8));
    ASSERT_TRUE(one.deliver(Mailing::mail(1, kBox, some(8))));  // what a first one needs is there
    if (is_full) one.port.refuse(0, FakePort::kNever);
    {
      const Shortage shortage(0);
      one.service.on_message({1, mail.header, {}});
    }
    EXPECT_EQ(one.said_to(1), Texts{});
    EXPECT_TRUE(one.is_cut_off(1)) << is_full;
    EXPECT_FALSE(one.is_cut_off(2));
  }
}

// It waits and its sender is told so, or its sender hears of the end: nothing is lost without a
// word.
TEST(MailboxIncoming, a_mail_that_finds_no_memory_to_wait_in_is_not_lost_without_a_word) {
  bool is_kept = false;
  for (int allowed = 0; !is_kept; ++allowed) {
    ASSERT_LT(allowed, 20);
    Incoming one;
    const Coming mail = Mailing::mail(1, kOpen, some(100));
    ASSERT_TRUE(one.deliver(mail));
    EXPECT_EQ(one.said_to(1), (Texts{kept(0)}));
    {
      const Shortage shortage(allowed);
      EXPECT_TRUE(one.service.on_message({1, mail.header, mail.payload}));
    }
    is_kept = one.said_to(1) == Texts{kept(1)};
    EXPECT_NE(is_kept, one.is_cut_off(1)) << allowed;
    EXPECT_GE(one.service.held(), is_kept ? 2u : 1u);
  }
}

// ---- bodies

// What stays in the ring holds up all that is behind it, and with that the body's own rest.
TEST(MailboxIncoming, no_chunk_of_a_body_stays_in_the_ring) {
  for (const std::uint64_t bulk_bytes : {1ul << 20, 4096ul}) {
    Incoming one;
    one.port.settings.bulk_bytes = bulk_bytes;
    const Bytes bytes = some(1000);
    ASSERT_TRUE(one.body(1, bytes, 300, 1));
    EXPECT_EQ(one.port.loans(), 0u);
    EXPECT_EQ(one.landed(1000), Bytes(1000)) << "nothing of it is seen";
    EXPECT_EQ(one.said_to(1), Texts{});
    ASSERT_TRUE(one.deliver({1, {}, {}, Bytes(bytes.begin() + 900, bytes.end()), 900, 1000}));
    EXPECT_EQ(one.port.loans(), 0u);
    EXPECT_EQ(one.landed(1000), bytes);
    EXPECT_EQ(one.said_to(1), (Texts{verdict(0, PH_OK)}));
  }
}

TEST(MailboxIncoming, a_body_of_one_chunk_lands_from_its_place) {
  Incoming one;
  const Bytes bytes = some(700);
  ASSERT_TRUE(one.body(1, bytes, 700));
  EXPECT_EQ(one.port.loans(), 0u);
  EXPECT_EQ(one.landed(700), bytes);
  EXPECT_EQ(one.said_to(1), (Texts{verdict(0, PH_OK)}));
}

TEST(MailboxIncoming, bodies_of_two_senders_come_at_the_same_time_and_mails_between) {
  for (const std::uint64_t bulk_bytes : {1ul << 20, 64ul}) {
    Incoming one;
    one.port.settings.bulk_bytes = bulk_bytes;
    const Bytes bytes = some(500), others = some(500, 77);
    ASSERT_TRUE(one.body(1, bytes, 250, 1));
    ASSERT_TRUE(one.body(2, others, 250, 1));
    ASSERT_TRUE(one.deliver(Mailing::mail(3, kBox, some(8))));
    ASSERT_TRUE(one.deliver({1, {}, {}, Bytes(bytes.begin() + 250, bytes.end()), 250, 500}));
    EXPECT_EQ(one.landed(500), bytes);
    EXPECT_EQ(one.landed(8, 0), some(8));
    ASSERT_TRUE(one.deliver({2, {}, {}, Bytes(others.begin() + 250, others.end()), 250, 500}));
    EXPECT_EQ(one.landed(500), others);
    EXPECT_EQ(one.port.loans(), 0u);
  }
}

TEST(MailboxIncoming, a_body_whose_rest_does_not_come_is_not_seen_and_counts) {
  for (const std::uint64_t bulk_bytes : {1ul << 20, 64ul}) {
    Incoming one;
    one.port.settings.bulk_bytes = bulk_bytes;
    ASSERT_TRUE(one.body(1, some(1000), 300, 2));
    ASSERT_TRUE(one.rest_does_not_come(1, 600, 1000));
    EXPECT_EQ(one.port.loans(), 0u);
    EXPECT_EQ(one.landed(1000), Bytes(1000));
    ASSERT_TRUE(one.body(1, some(400), 300));
    EXPECT_EQ(one.landed(400), some(400));
    EXPECT_EQ(one.said_to(1), (Texts{verdict(1, PH_OK)}));
    one.receiver().tell_all();
    EXPECT_EQ(one.said_to(1), (Texts{credit(2)}));
  }
}

TEST(MailboxIncoming, of_a_peer_that_is_lost_in_a_body_nothing_is_seen) {
  for (const std::uint64_t bulk_bytes : {1ul << 20, 64ul}) {
    Incoming one;
    one.port.settings.bulk_bytes = bulk_bytes;
    const Bytes bytes = some(1000);
    ASSERT_TRUE(one.body(1, bytes, 300, 1));
    ASSERT_TRUE(one.body(2, bytes, 300, 1));
    one.port.lose(1);
    EXPECT_EQ(one.port.loans(), 0u);
    EXPECT_EQ(one.landed(1000), Bytes(1000));
    ASSERT_TRUE(one.deliver({2, {}, {}, Bytes(bytes.begin() + 900, bytes.end()), 900, 1000}));
    EXPECT_EQ(one.landed(1000), bytes);
    EXPECT_EQ(one.port.loans(), 0u);
  }
}

TEST(MailboxIncoming, a_body_waits_for_a_buffer_as_any_mail_does) {
  Incoming one;
  const Bytes bytes = some(700);
  const Bytes header = words_of({1, kOpen, 0});
  ASSERT_TRUE(one.deliver({1, header, {}, Bytes(bytes.begin(), bytes.begin() + 400), 0, 700}));
  ASSERT_TRUE(one.deliver({1, {}, {}, Bytes(bytes.begin() + 400, bytes.end()), 400, 700}));
  EXPECT_EQ(one.port.loans(), 0u) << "its bytes are copied";
  EXPECT_EQ(one.said_to(1), (Texts{kept(0)}));
  EXPECT_EQ(one.service.held(), 1u);
}

TEST(MailboxIncoming, a_body_that_may_not_be_ends_its_sender) {
  const Bytes mail = words_of({1, kBox, 0});
  const std::vector<Coming> all = {
      {1, {}, {}, Bytes(8), 0, 100},
      {1, words_of({2}), {}, Bytes(8), 0, 100},
      {1, words_of({3, 0}), {}, Bytes(8), 0, 100},
      {1, words_of({1, kBox}), {}, Bytes(8), 0, 100},
      {1, words_of({1 | 8 << 16, kBox, 0, 5}), {}, Bytes(8), 0, 100},
      {1, mail, Bytes(8), Bytes(8), 0, 100},
      {1, mail, {}, Bytes(8), 0, (1 << 20) + 1},
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    Incoming one;
    EXPECT_FALSE(one.deliver(all[i])) << i;
    EXPECT_TRUE(one.is_cut_off(1));
    EXPECT_EQ(one.port.loans(), 0u);
  }
  Incoming one;
  EXPECT_TRUE(one.deliver({1, mail, {}, Bytes(8), 0, 1 << 20})) << "the largest there may be";
}

}  // namespace
}  // namespace photon::service::mailbox::test
