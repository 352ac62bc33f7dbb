#include "service/am/am_answers.hpp"

#include "am_receiving_unit.hpp"
#include "shortage.hpp"

namespace photon::service::am {
namespace {

using namespace test;

constexpr std::uint64_t kRefusedStatus = static_cast<std::uint64_t>(std::int64_t{PH_ERR_RANGE});

class AmAnswers : public testing::Test {
 protected:
  std::vector<std::vector<std::uint64_t>> said() {
    std::vector<std::vector<std::uint64_t>> all;
    for (Said one; port_.take(one);) all.push_back(words_in(one.header));
    return all;
  }
  using All = std::vector<std::vector<std::uint64_t>>;
  struct Quiet final : Service {
    bool on_message(const Message&) override { return true; }
  };

  AmPort port_;
  Quiet nobody_;
  Gates gates_{FakePort::kSize, 8};
  Answers answers_{port_, gates_};

  void SetUp() override { port_.serve(nobody_); }
};

TEST_F(AmAnswers, says_credit_when_a_quarter_of_the_slots_is_owed) {
  answers_.note_handled(1, false);
  answers_.end_batch();
  EXPECT_TRUE(said().empty());
  answers_.note_handled(1, false);
  answers_.end_batch();
  EXPECT_EQ(said(), (All{{word(Op::credit), 2}}));
  EXPECT_EQ(gates_.of(1).told, 2u);
}

TEST_F(AmAnswers, says_credit_at_once_to_who_waits_for_it) {
  answers_.note_handled(2, true);
  answers_.end_batch();
  EXPECT_EQ(said(), (All{{word(Op::credit), 1}}));
  EXPECT_TRUE(answers_.is_idle());
}

TEST_F(AmAnswers, says_no_credit_that_a_message_has_carried) {
  answers_.note_handled(2, true);
  static_cast<void>(gates_.of(2).tell());
  answers_.end_batch();
  EXPECT_TRUE(said().empty());
}

TEST_F(AmAnswers, keeps_credit_without_a_line_and_says_all_of_it_when_there_is_one) {
  port_.refuse(0, FakePort::kNever);
  for (int i = 0; i < 6; ++i) {
    answers_.note_handled(1, false);
    answers_.end_batch();
  }
  EXPECT_FALSE(answers_.is_idle());
  EXPECT_TRUE(said().empty());
  port_.refuse_nothing();
  answers_.on_room(1);
  EXPECT_EQ(said(), (All{{word(Op::credit), 6}}));
  EXPECT_TRUE(answers_.is_idle());
}

// What else waits for that room must hear of it, too.
TEST_F(AmAnswers, says_kept_credit_in_a_turn_if_there_was_no_memory_when_a_line_came) {
  port_.refuse(0, FakePort::kNever);
  answers_.note_handled(1, true);
  answers_.end_batch();
  port_.refuse_nothing();
  {
    const photon::test::Shortage shortage(0);
    EXPECT_NO_THROW(answers_.on_room(1));
  }
  EXPECT_TRUE(said().empty());
  EXPECT_FALSE(answers_.is_idle());
  answers_.end_batch();
  EXPECT_EQ(said(), (All{{word(Op::credit), 1}}));
  EXPECT_TRUE(answers_.is_idle());
}

TEST_F(AmAnswers, says_a_refusal_though_there_is_no_line) {
  port_.refuse(0, FakePort::kNever);
  answers_.say_refused(1, 9, 4, PH_ERR_RANGE);
  EXPECT_EQ(said(), (All{{word(Op::refused, 0, 9), 4, kRefusedStatus, 0}}));
}

TEST_F(AmAnswers, adds_up_the_replies_that_will_not_come) {
  gates_.of(1).owed = 3;
  answers_.note_reply_over(1, false);
  answers_.note_reply_over(1, true);
  answers_.note_reply_over(1, false);
  answers_.end_batch();
  EXPECT_EQ(said(), (All{{word(Op::unreplied), 2}}));
  EXPECT_EQ(gates_.of(1).owed, 0u);
}

TEST_F(AmAnswers, owes_a_lost_rank_nothing) {
  port_.refuse(0, FakePort::kNever);
  answers_.note_handled(1, true);
  answers_.end_batch();
  answers_.note_handled(1, true);
  gates_.of(1).owed = 1;
  answers_.note_reply_over(1, false);
  port_.lose(1);
  answers_.on_lost(1);
  answers_.say_refused(1, 9, 4, PH_ERR_RANGE);
  answers_.end_batch();
  port_.refuse_nothing();
  answers_.on_room(1);
  EXPECT_TRUE(said().empty());
  EXPECT_TRUE(answers_.is_idle());
}

TEST_F(AmAnswers, says_what_becomes_of_a_pull) {
  answers_.say_read(1, 77);
  answers_.say_done(1, 77, PH_OK);
  EXPECT_EQ(said(), (All{{word(Op::read), 77}, {word(Op::done), 77, 0}}));
}

}  // namespace
}  // namespace photon::service::am
