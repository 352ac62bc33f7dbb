#include "engine/parts/reply_backoff.hpp"

#include <gtest/gtest.h>

namespace photon::engine {
namespace {

// A peer that answers so many cycles after the prober begins to wait; a turn of spinning lasts 40.
class Exchange {
 public:
  // Posts, waits for the answer of so many records, each met in a turn of its own; the pause that
  // was made.
  unsigned ask(unsigned answer_cycles, std::uint64_t lines = 1, unsigned records = 1) {
    const unsigned pause = next_ask(lines);
    if (pause < answer_cycles) turn_ += 1 + (answer_cycles - pause) / 40;
    for (unsigned record = 0; record < records; ++record) {
      if (record != 0) ++turn_;
      backoff_.met(last_hit_, turn_);
      last_hit_ = turn_;
    }
    return pause;
  }
  // The same where the answer is never there after the pause and always in the next turn.
  unsigned ask_other() {
    const unsigned pause = next_ask(1);
    backoff_.met(last_hit_, ++turn_);
    last_hit_ = turn_;
    return pause;
  }
  // Posts; nothing comes.
  unsigned tell() { return next_ask(1); }
  // Nobody asks and nothing comes for so many turns.
  void be_silent(std::uint64_t turns) { turn_ += turns; }
  // The same as tell(), with others to attend to.
  void pass() {
    backoff_.pass(++tail_);
    turn_ += ReplyBackoff::kTurnsOfSilence / 2;
  }

 private:
  unsigned next_ask(std::uint64_t lines) {
    tail_ += lines;
    ++turn_;
    return backoff_.ask(tail_, turn_, last_hit_);
  }

  ReplyBackoff backoff_;
  std::uint64_t tail_ = 0, turn_ = 0, last_hit_ = 0;
};

TEST(ReplyBackoff, settles_just_before_a_steady_answer) {
  Exchange exchange;
  for (int i = 0; i < 1000; ++i) exchange.ask(250);
  unsigned early = 0;
  for (int i = 0; i < 1000; ++i) {
    const unsigned pause = exchange.ask(250);
    EXPECT_GE(pause, 240u);
    EXPECT_LE(pause, 275u);
    early += pause < 250 ? 1 : 0;
  }
  EXPECT_LT(early, 200u);
}

// The time lost by pauses longer than the answers took, per question.
double lateness(unsigned one_cycles, unsigned other_cycles) {
  constexpr int kAsks = 100'000;
  Exchange exchange;
  double late = 0;
  for (int i = 0; i < kAsks; ++i) {
    const unsigned answer = i % 2 == 0 ? one_cycles : other_cycles;
    late += std::max(exchange.ask(answer), answer) - answer;
  }
  return late / kAsks;
}

TEST(ReplyBackoff, waits_little_for_the_slowest_of_answers_that_vary) {
  EXPECT_LT(lateness(100, 130), 32);
  EXPECT_LT(lateness(100, 600), 32);
  EXPECT_LT(lateness(20, 2000), 32);
}

TEST(ReplyBackoff, follows_answers_that_become_faster_and_slower) {
  Exchange exchange;
  const auto reaches = [&exchange](unsigned answer, unsigned low, unsigned high) {
    int good = 0;
    for (int i = 0; i < 5000; ++i) {
      const unsigned pause = exchange.ask(answer);
      good += i >= 4000 && pause >= low && pause <= high ? 1 : 0;
    }
    return good > 950;
  };
  EXPECT_TRUE(reaches(1000, 900, 1030));
  EXPECT_TRUE(reaches(80, 10, 110));
  EXPECT_TRUE(reaches(500, 400, 530));
}

TEST(ReplyBackoff, never_exceeds_its_bound) {
  Exchange exchange;
  for (int i = 0; i < 1000; ++i) EXPECT_LE(exchange.ask(4000), ReplyBackoff::kMaxPause);
}

TEST(ReplyBackoff, makes_no_pause_where_nobody_answers_or_posts_are_a_stream) {
  Exchange exchange;
  for (int i = 0; i < 1000; ++i) exchange.ask(250);
  exchange.tell();
  EXPECT_EQ(exchange.tell(), 0u);
  for (int i = 0; i < 1000; ++i) exchange.ask(250);
  exchange.ask(250, 64);
  EXPECT_EQ(exchange.ask(250, 64), 0u);
}

TEST(ReplyBackoff, takes_the_first_record_for_the_answer) {
  Exchange exchange;
  for (int i = 0; i < 5000; ++i) EXPECT_LE(exchange.ask(250, 1, i % 5 == 0 ? 2 : 1), 280u);
  for (int i = 0; i < 5000; ++i) EXPECT_LE(exchange.ask(250, 1, 2), 280u);
}

TEST(ReplyBackoff, comes_down_after_a_slow_phase_with_answers_that_jitter) {
  Exchange exchange;
  for (int i = 0; i < 5000; ++i) exchange.ask(2300);
  unsigned pause = 0;
  for (int i = 0; i < 20'000; ++i) pause = exchange.ask(i % 14 == 0 ? 2300 : 250);
  EXPECT_LE(pause, 1000u);
}

TEST(ReplyBackoff, gives_up_where_something_else_decides_when_the_answer_is_met) {
  Exchange exchange;
  double pauses = 0;
  for (int i = 0; i < 200'000; ++i) pauses += exchange.ask_other();
  EXPECT_LT(pauses / 200'000, 20);
}

TEST(ReplyBackoff, learns_nothing_from_questions_that_were_passed) {
  Exchange exchange;
  for (int i = 0; i < 1000; ++i) exchange.ask(250);
  exchange.pass();
  EXPECT_GE(exchange.ask(250), 230u);
}

TEST(ReplyBackoff, makes_no_pause_after_a_long_silence_and_learns_nothing_from_it) {
  Exchange exchange;
  for (int i = 0; i < 1000; ++i) exchange.ask(250);
  for (int i = 0; i < 10; ++i) {
    exchange.be_silent(ReplyBackoff::kTurnsOfSilence);
    EXPECT_EQ(exchange.ask(2000), 0u);
    EXPECT_GE(exchange.ask(250), 230u);
  }
  exchange.be_silent(ReplyBackoff::kTurnsOfSilence / 2);
  EXPECT_GE(exchange.ask(250), 230u);
}

TEST(ReplyBackoff, makes_no_pause_for_answers_that_take_long) {
  Exchange exchange;
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(exchange.ask(1'000'000), 0u);
}

}  // namespace
}  // namespace photon::engine
