// Buffers that are granted ahead, at their owner.
#include "service/mailbox/grants.hpp"

#include <array>

#include "mailbox_unit.hpp"

namespace photon::service::mailbox::test {
namespace {

constexpr Rank kSource = 1;

// A mailbox of three buffers, granted to rank 1; one message completes a buffer.
struct Granting : Mailing {
  Granting() {
    port.shares_memory = true;
    ph_mailbox_args args = box_args();
    args.source = kSource;
    args.flags = PH_MAILBOX_GRANT_AHEAD;
    args.unit = PH_MAILBOX_OPERATIONS;
    args.threshold = 1;
    box = open(args);
    for (Bytes& one : memory) EXPECT_EQ(post(box, one), PH_OK);
  }
  // What its source would say of a message that it has stored under that grant.
  Coming stored(std::uint64_t grant, const Bytes& bytes) const {
    return {kSource,
            words_of({1 | (kOffers | 32) << 8, kBox, 0, bytes.size(),
                      reinterpret_cast<std::uint64_t>(bytes.data()), 77, grant}),
            {},
            {},
            0,
            0};
  }

  std::array<Bytes, 3> memory{Bytes(100), Bytes(100), Bytes(100)};
  Bytes source = some(100);
  ph_mailbox box{};
};

TEST(Grants, are_told_as_buffers_are_posted_and_what_is_stored_counts_as_it_lies) {
  Granting one;
  EXPECT_EQ(one.said_to(kSource), (Texts{"grant 1", "grant 2", "grant 3"}));
  one.memory[0] = one.source;
  ASSERT_TRUE(one.deliver(one.stored(1, one.source)));
  EXPECT_EQ(one.port.gets(), 0u);
  EXPECT_EQ(one.said_to(kSource), Texts{verdict(0, PH_OK)});
  const auto events = one.take(one.box);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].bytes, 100u);
  EXPECT_EQ(events[0].why, PH_MAILBOX_COMPLETE);
  EXPECT_EQ(one.port.exposures(), 2u) << "the key of what is complete is gone";
}

TEST(Grants, are_given_to_nobody_who_shares_no_memory) {
  Granting one;
  one.port.shares_memory = false;
  static_cast<void>(one.said_to(kSource));
  Bytes more(100);
  ASSERT_EQ(one.post(one.box, more), PH_OK);
  EXPECT_EQ(one.said_to(kSource), Texts{});
}

TEST(Grants, end_before_anything_else_lands_and_what_was_stored_is_read) {
  Granting one;
  static_cast<void>(one.said_to(kSource));
  ASSERT_TRUE(one.deliver(Mailing::mail(kSource, kBox, some(8))));
  EXPECT_TRUE(one.port.is_fenced);
  EXPECT_EQ(one.port.stale.size(), 3u);
  EXPECT_EQ(one.take(one.box).size(), 1u);
  EXPECT_EQ(one.said_to(kSource), Texts{"grant 4"}) << "one, until messages are stored again";
  const Bytes other = some(100, 5);
  ASSERT_TRUE(one.deliver(one.stored(2, other)));
  ASSERT_EQ(one.port.gets(), 1u) << "its grant had ended, so that it is read";
  one.port.end_get();
  ASSERT_EQ(one.take(one.box).size(), 1u);
  EXPECT_EQ(one.memory[1], other);
}

TEST(Grants, of_a_buffer_that_is_taken_back_hold_it_while_its_source_copies) {
  Granting one;
  static_cast<void>(one.said_to(kSource));
  one.port.copies_are_stuck = true;
  ASSERT_EQ(one.receiver().inc_epoch(one.box), PH_OK);
  EXPECT_TRUE(one.take(one.box).empty());
  ASSERT_TRUE(one.deliver(Mailing::mail(kSource, kBox, some(8))));
  EXPECT_EQ(one.said_to(kSource), Texts{kept(0)}) << "it waits: somebody may be writing there";
  ASSERT_NE(one.service.next_turn_ns(), INT64_MAX);
  one.service.turn();
  EXPECT_TRUE(one.take(one.box).empty());
  one.port.copies_are_stuck = false;
  one.service.turn();
  const auto events = one.take(one.box);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].why, PH_MAILBOX_EARLY);
  EXPECT_EQ(events[0].operations, 0u);
  EXPECT_EQ(events[1].operations, 1u);
}

TEST(Grants, close_and_rewind_wait_for_a_copy) {
  Granting one;
  one.port.copies_are_stuck = true;
  ASSERT_EQ(one.receiver().close(one.box), PH_OK);
  EXPECT_TRUE(one.take(one.box).empty());
  one.port.copies_are_stuck = false;
  one.service.turn();
  EXPECT_EQ(one.take(one.box).size(), 3u);
  EXPECT_EQ(one.port.exposures(), 0u);
  EXPECT_EQ(one.service.held(), 0u);
}

// A source that sends in other ways costs one grant a message; each that is stored doubles them.
TEST(Grants, are_few_while_messages_come_another_way_and_more_when_they_are_stored) {
  Granting one;
  std::vector<Bytes> more(20, Bytes(100));
  for (Bytes& bytes : more) ASSERT_EQ(one.post(one.box, bytes), PH_OK);
  EXPECT_EQ(one.said_to(kSource).size(), 23u);
  for (std::uint64_t i = 0; i < 5; ++i) {
    ASSERT_TRUE(one.deliver(Mailing::mail(kSource, kBox, some(8))));
    EXPECT_EQ(one.said_to(kSource), Texts{"grant " + std::to_string(24 + i)});
  }
  ASSERT_TRUE(one.deliver(one.stored(28, one.source)));
  EXPECT_EQ(one.said_to(kSource), (Texts{verdict(5, PH_OK), "grant 29", "grant 30"}));
  ASSERT_TRUE(one.deliver(one.stored(29, one.source)));
  EXPECT_EQ(one.said_to(kSource), (Texts{verdict(6, PH_OK), "grant 31", "grant 32", "grant 33"}));
}

TEST(Grants, wait_for_a_source_that_is_being_met) {
  Granting one;
  static_cast<void>(one.said_to(kSource));
  one.port.is_meeting = true;
  Bytes more(100);
  ASSERT_EQ(one.post(one.box, more), PH_OK);
  EXPECT_NE(one.service.next_turn_ns(), INT64_MAX);
  EXPECT_FALSE(one.service.turn()) << "nobody spins for it";
  EXPECT_EQ(one.said_to(kSource), Texts{});
  one.port.is_meeting = false;
  EXPECT_FALSE(one.service.turn());
  EXPECT_EQ(one.said_to(kSource), Texts{"grant 4"});
  EXPECT_EQ(one.service.next_turn_ns(), INT64_MAX);
}

TEST(Grants, of_a_lost_source_end) {
  Granting one;
  EXPECT_EQ(one.port.exposures(), 3u);
  one.port.lose(kSource);
  EXPECT_EQ(one.port.exposures(), 0u);
}

// What is forged or late counts nowhere wrongly: it is an offer like any other.
TEST(Grants, that_do_not_exist_are_offers) {
  Granting one;
  static_cast<void>(one.said_to(kSource));
  for (const std::uint64_t grant : {std::uint64_t{2}, std::uint64_t{99}, UINT64_MAX}) {
    const std::size_t before = one.port.gets();
    ASSERT_TRUE(one.deliver(one.stored(grant, one.source)));
    EXPECT_EQ(one.port.gets(), before + 1) << grant;
  }
  EXPECT_TRUE(
      one.deliver({2, words_of({1 | (kOffers | 32) << 8, kBox, 0, 8, 8, 77, 1}), {}, {}, 0, 0}));
  EXPECT_EQ(one.said_to(2), Texts{verdict(0, PH_ERR_ACCESS)}) << "another than the source";
}

TEST(Grants, are_for_steered_mailboxes_of_one_source) {
  Mailing one;
  ph_mailbox box{};
  ph_mailbox_args args = Mailing::box_args();
  args.flags = PH_MAILBOX_GRANT_AHEAD;
  EXPECT_EQ(one.receiver().open(args, box), PH_ERR_ARGUMENT) << "any source";
  args.source = kSource;
  args.placing = PH_MAILBOX_MANAGED;
  EXPECT_EQ(one.receiver().open(args, box), PH_ERR_ARGUMENT);
  args.placing = PH_MAILBOX_STEERED;
  args.flags |= PH_MAILBOX_READ;
  EXPECT_EQ(one.receiver().open(args, box), PH_ERR_ARGUMENT);
  args.flags = PH_MAILBOX_GRANT_AHEAD;
  EXPECT_EQ(one.receiver().open(args, box), PH_OK);
}

}  // namespace
}  // namespace photon::service::mailbox::test
