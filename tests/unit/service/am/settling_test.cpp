#include "service/am/settling.hpp"

#include "am_receiving_unit.hpp"
#include "shortage.hpp"

namespace photon::service::am {
namespace {

using namespace test;
using All = std::vector<std::vector<std::uint64_t>>;

std::uint64_t status_word(ph_status status) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(status));
}

TEST(Settling, says_a_refusal_before_the_credit_that_covers_it) {
  Receiver one(4);
  ASSERT_TRUE(one.come(line(1, 1)));
  ASSERT_TRUE(one.come(line(1, 9)));
  one.turn();
  EXPECT_EQ(one.said(), (All{{word(Op::refused, 0, 9), 1, status_word(PH_ERR_NOT_FOUND), 0},
                             {word(Op::credit), 2}}));
}

TEST(Settling, frees_the_slots_of_what_was_handled) {
  Receiver one(4);
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(one.come(line(1, 1)));
    one.turn();
  }
  EXPECT_EQ(one.handled.size(), 100u);
  EXPECT_EQ(one.said().size(), 100u) << "each is a quarter of the slots";
}

TEST(Settling, counts_a_reply_as_none_only_if_the_handler_sent_none) {
  Receiver one(4);
  one.enroll(2, [&](const ph_am_message& message, ph_am_landing&) {
    ph_am_args args{};
    args.size = sizeof args;
    args.id = 3;
    args.flags = PH_NO_LCE;
    return one.am->reply(&message, args);
  });
  ASSERT_TRUE(one.come(line(1, 2, {}, kWantsReply)));
  one.turn();
  const auto first = one.said();
  ASSERT_FALSE(first.empty());
  EXPECT_EQ(decode(first[0][0])->op, Op::line);
  EXPECT_TRUE(decode(first[0][0])->has(kIsReply));
  for (const auto& words : first) EXPECT_NE(decode(words[0])->op, Op::unreplied);
  ASSERT_TRUE(one.come(line(1, 1, {}, kWantsReply)));
  ASSERT_TRUE(one.come(line(1, 9, {}, kWantsReply)));
  one.turn();
  bool has_said = false;
  for (const auto& words : one.said())
    if (decode(words[0])->op == Op::unreplied) has_said = words[1] == 2;
  EXPECT_TRUE(has_said);
}

TEST(Settling, gives_loans_back_also_of_a_rank_that_is_lost) {
  Receiver one;
  one.port.runs = true;
  ASSERT_TRUE(one.come(part(1, 1, filled(500), 0, 500)));
  one.port.lose(1);
  one.turn();
  EXPECT_EQ(one.handled.size(), 1u) << "what had come is handled";
  EXPECT_EQ(one.port.loans(), 0u);
}

TEST(Settling, gives_a_chunk_back_while_a_handler_behind_it_runs_if_its_sender_says_anything) {
  Receiver one;
  one.port.runs = true;
  std::vector<std::size_t> loans;
  one.enroll(2, [&](const ph_am_message&, ph_am_landing&) {
    loans.push_back(one.port.loans());
    EXPECT_TRUE(one.come(line(1, 1)));
    loans.push_back(one.port.loans());
    return PH_OK;
  });
  ASSERT_TRUE(one.come(part(1, 1, filled(500), 0, 500)));
  ASSERT_TRUE(one.come(part(1, 2, filled(500), 0, 500)));
  one.turn();
  EXPECT_EQ(loans, (std::vector<std::size_t>{2, 1}));
  EXPECT_EQ(one.port.loans(), 0u);
}

TEST(Settling, drops_what_is_due_when_the_lane_closes_and_gives_loans_back) {
  Receiver one;
  one.port.runs = true;
  ASSERT_TRUE(one.come(line(1, 1)));
  ASSERT_TRUE(one.come(line(1, 1, {}, kTellsHandled)));
  ASSERT_TRUE(one.come(part(1, 1, filled(500), 0, 500)));
  one.am->close();
  EXPECT_EQ(one.port.loans(), 0u);
  EXPECT_TRUE(one.am->is_idle());
  EXPECT_EQ(one.am->held(), 0u);
  EXPECT_EQ(one.said(), (All{{word(Op::refused, 0, 1), 1, status_word(PH_ERR_DEPARTED), 0},
                             {word(Op::credit), 3}}));
  one.turn();
  EXPECT_TRUE(one.handled.empty());
}

// Memory may be missing for any of the refusals: the rest is told later, each once and in order.
TEST(Settling, tells_all_though_memory_runs_out_between_two_refusals) {
  for (int allowed = 0; allowed < 40; ++allowed) {
    Receiver one(16);
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(one.come(line(1, 9)));
    {
      const photon::test::Shortage shortage(allowed);
      try {
        one.am->collect();
        one.am->run();
        one.am->ran();
      } catch (const std::bad_alloc&) {
      }
    }
    one.turn();
    one.turn();
    std::uint64_t next = 0;
    for (const auto& words : one.said()) {
      if (decode(words[0])->op != Op::refused) continue;
      ASSERT_EQ(words[1], next++) << allowed;
    }
    EXPECT_EQ(next, 10u) << allowed;
    EXPECT_EQ(one.am->held(), 0u);
  }
}

}  // namespace
}  // namespace photon::service::am
