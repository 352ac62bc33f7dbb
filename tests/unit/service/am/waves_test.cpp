// One rank of a quiesce: what it says and keeps, what it believes, and who is told of the end.
#include "service/am/waves.hpp"

#include <gtest/gtest.h>

#include "service/fake_port.hpp"

namespace photon::service::am {
namespace {

// Rank 0 of `kSize` ranks: its children are 1 to 3.

class WavesAtRoot : public testing::Test, protected Service {
 protected:
  WavesAtRoot() { port_.serve(*this); }
  bool on_message(const Message& message) override {
    const auto word = decode(word_at(message.header, 0));
    return word && waves_.on_message(message.from, word->op, message.header.subspan(8));
  }
  void on_lost(Rank rank, ph_status why) noexcept override { waves_.on_lost(rank, why); }
  void on_room(Rank rank) override { waves_.on_room(rank); }
  bool turn() override {
    waves_.turn();
    return false;
  }

  bool hear(Rank from, Op op, std::vector<std::uint64_t> rest) {
    Word word;
    word.op = op;
    rest.insert(rest.begin(), encode(word));
    return port_.deliver({from, test::words_of(rest), {}, {}});
  }
  void hear_ups(std::uint64_t stamp) {
    for (Rank child = 1; child < 4; ++child) ASSERT_TRUE(hear(child, Op::up, {stamp, 2, 2}));
  }
  // What was said, as (rank, op, words behind word 0).
  using Said = std::tuple<Rank, Op, std::vector<std::uint64_t>>;
  std::vector<Said> said() {
    std::vector<Said> all;
    for (test::Said one; port_.take(one);) {
      auto words = test::words_in(one.header);
      const Op op = decode(words[0])->op;
      words.erase(words.begin());
      all.emplace_back(one.to, op, words);
    }
    return all;
  }
  std::vector<Said> downs(std::uint64_t stamp, std::uint64_t value) {
    std::vector<Said> all;
    for (Rank child = 1; child < 4; ++child)
      all.emplace_back(child, Op::down, std::vector<std::uint64_t>{stamp, value});
    return all;
  }

  test::FakePort port_{wire::Owner::am};
  Gates gates_{test::FakePort::kSize, 8};
  bool is_settled_ = true;
  Waves waves_{port_, gates_, [this] { return is_settled_; }};
};

std::uint64_t word_of_status(ph_status status) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(status));
}

constexpr std::uint64_t kWave1 = std::uint64_t{1} << 32;

TEST_F(WavesAtRoot, ends_with_the_second_wave_and_the_next_one_has_the_next_number) {
  for (std::uint64_t quiesce = 0; quiesce < 2; ++quiesce) {
    ASSERT_EQ(waves_.enter(), PH_OK);
    hear_ups(quiesce);
    EXPECT_EQ(said(), downs(quiesce, 0));
    EXPECT_FALSE(waves_.has_end());
    hear_ups(quiesce | kWave1);
    EXPECT_EQ(said(), downs(quiesce | kWave1, 1));
    ASSERT_TRUE(waves_.has_end());
    EXPECT_EQ(waves_.take(), PH_OK);
    EXPECT_EQ(waves_.held(), 0u);
  }
  EXPECT_EQ(waves_.waves(), 4u);
}

TEST_F(WavesAtRoot, an_up_that_comes_before_its_own_call_is_kept) {
  hear_ups(0);
  EXPECT_EQ(port_.waiting(), 0u);
  ASSERT_EQ(waves_.enter(), PH_OK);
  EXPECT_EQ(said(), downs(0, 0));
}

TEST_F(WavesAtRoot, its_answer_waits_until_nothing_of_its_own_is_under_way) {
  ASSERT_EQ(waves_.enter(), PH_OK);
  is_settled_ = false;
  hear_ups(0);
  waves_.look();
  EXPECT_EQ(port_.waiting(), 0u);
  is_settled_ = true;
  waves_.look();
  EXPECT_EQ(said(), downs(0, 0));
}

TEST_F(WavesAtRoot, who_goes_on_with_one_or_wants_a_look_later_answers_what_is_done_by_then) {
  is_settled_ = false;
  ASSERT_EQ(waves_.enter(), PH_OK);
  waves_.leave();
  hear_ups(0);
  ASSERT_TRUE(said().empty());
  is_settled_ = true;
  ASSERT_EQ(waves_.enter(), PH_OK);
  EXPECT_EQ(said(), downs(0, 0)) << "it went on";
  is_settled_ = false;
  hear_ups(kWave1);
  is_settled_ = true;
  waves_.look_later();
  EXPECT_TRUE(said().empty()) << "not at once";
  port_.run_turns();
  EXPECT_EQ(said(), downs(kWave1, 1));
}

TEST_F(WavesAtRoot, counts_what_its_gates_and_what_is_beside_them_say) {
  gates_.of(2).sent = 3;
  gates_.beside_sent = 1;  // 4 of ours, and the children 6
  gates_.of(1).handled = 2;
  ASSERT_EQ(waves_.enter(), PH_OK);
  for (std::uint64_t wave = 0; wave < 3; ++wave) {
    hear_ups(wave << 32);
    EXPECT_EQ(said(), downs(wave << 32, 0)) << "not all was handled";
  }
  gates_.beside_handled = 2;
  hear_ups(std::uint64_t{3} << 32);
  EXPECT_EQ(said(), downs(std::uint64_t{3} << 32, 0)) << "this wave is the first of its kind";
  hear_ups(std::uint64_t{4} << 32);
  EXPECT_EQ(said(), downs(std::uint64_t{4} << 32, 1));
}

TEST_F(WavesAtRoot, what_finds_no_line_goes_when_there_is_room_and_in_order) {
  ASSERT_EQ(waves_.enter(), PH_OK);
  port_.refuse(0, test::FakePort::kNever);
  hear_ups(0);
  EXPECT_EQ(port_.waiting(), 0u);
  EXPECT_FALSE(waves_.is_idle());
  EXPECT_NE(waves_.held(), 0u);
  port_.lose(3);
  port_.run_turns();
  EXPECT_EQ(port_.waiting(), 0u);
  port_.refuse_nothing();
  port_.give_room(1);
  EXPECT_EQ(said(),
            (std::vector<Said>{{1, Op::down, {0, 0}},
                               {1, Op::broken, {0, static_cast<std::uint64_t>(PH_ERR_PEER), 3}}}));
  port_.give_room(2);
  EXPECT_EQ(port_.waiting(), 2u);
  EXPECT_TRUE(waves_.is_idle());
}

TEST_F(WavesAtRoot, a_child_that_is_lost_ends_it_for_good_and_the_others_are_told) {
  ASSERT_EQ(waves_.enter(), PH_OK);
  port_.lose(2);
  port_.run_turns();
  EXPECT_EQ(said(),
            (std::vector<Said>{{1, Op::broken, {0, static_cast<std::uint64_t>(PH_ERR_PEER), 2}},
                               {3, Op::broken, {0, static_cast<std::uint64_t>(PH_ERR_PEER), 2}}}));
  ASSERT_TRUE(waves_.has_end());
  for (int call = 0; call < 3; ++call) {
    EXPECT_EQ(call == 0 ? waves_.take() : waves_.enter(), PH_ERR_PEER);
    EXPECT_EQ(port_.last_error().rank, 2u);
    EXPECT_NE(port_.last_error().what.find("rank 2"), std::string::npos);
  }
  ph_request request{};
  EXPECT_EQ(waves_.begin(&request), PH_ERR_PEER);
  EXPECT_EQ(port_.waiting(), 0u) << "each is told once";
}

TEST_F(WavesAtRoot, a_rank_that_was_lost_before_the_call_breaks_it_then) {
  port_.lose(2);
  port_.run_turns();
  EXPECT_EQ(port_.waiting(), 0u) << "nobody has asked";
  EXPECT_EQ(waves_.enter(), PH_ERR_PEER);
  EXPECT_EQ(port_.last_error().rank, 2u);
  port_.run_turns();
  EXPECT_EQ(said().size(), 2u);
}

TEST_F(WavesAtRoot, a_child_that_has_left_ends_it_too_but_its_leaving_alone_says_nothing) {
  hear(1, Op::up, {0, 2, 2});
  port_.lose(1, PH_ERR_DEPARTED);
  port_.run_turns();
  EXPECT_EQ(port_.waiting(), 0u);
  EXPECT_EQ(waves_.enter(), PH_ERR_DEPARTED);
}

TEST_F(WavesAtRoot, what_a_neighbour_says_is_broken_is_believed_and_said_to_the_others) {
  ASSERT_EQ(waves_.enter(), PH_OK);
  ASSERT_TRUE(hear(1, Op::broken, {0, static_cast<std::uint64_t>(PH_ERR_PEER), 3}));
  port_.run_turns();
  EXPECT_EQ(said(),
            (std::vector<Said>{{2, Op::broken, {0, static_cast<std::uint64_t>(PH_ERR_PEER), 3}},
                               {3, Op::broken, {0, static_cast<std::uint64_t>(PH_ERR_PEER), 3}}}));
  EXPECT_EQ(waves_.take(), PH_ERR_PEER);
  EXPECT_TRUE(hear(2, Op::broken, {0, static_cast<std::uint64_t>(PH_ERR_PEER), 1}));
  EXPECT_EQ(waves_.enter(), PH_ERR_PEER);
  EXPECT_EQ(port_.last_error().rank, 3u) << "the first one";
}

TEST_F(WavesAtRoot, a_neighbour_who_could_not_be_met_when_it_broke_is_told_when_it_asks) {
  port_.out_of_reach = 3;
  ASSERT_EQ(waves_.enter(), PH_ERR_NOT_FOUND);
  ASSERT_TRUE(hear(1, Op::broken, {0, word_of_status(PH_ERR_PEER), 2}));
  port_.run_turns();
  EXPECT_EQ(said().size(), 1u) << "child 2 alone";
  EXPECT_FALSE(waves_.is_idle());
  ASSERT_TRUE(hear(3, Op::up, {0, 2, 2}));
  const auto told = said();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(std::get<0>(told[0]), 3u);
  EXPECT_EQ(std::get<1>(told[0]), Op::broken);
  EXPECT_EQ(waves_.held(), 0u);
}

TEST_F(WavesAtRoot, a_neighbour_who_could_not_be_met_when_it_broke_is_told_when_it_is_met) {
  port_.out_of_reach = 3;
  ASSERT_TRUE(hear(1, Op::broken, {0, word_of_status(PH_ERR_PEER), 2}));
  port_.run_turns();
  EXPECT_EQ(said().size(), 1u) << "child 2 alone";
  port_.run_turns();
  EXPECT_FALSE(waves_.is_idle());
  port_.out_of_reach = test::FakePort::kNobody;
  port_.run_turns();
  EXPECT_FALSE(waves_.is_idle()) << "nothing has asked for a turn";
  waves_.on_met(2);
  port_.run_turns();
  EXPECT_FALSE(waves_.is_idle()) << "that was another one";
  waves_.on_met(3);
  port_.run_turns();
  const auto told = said();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(std::get<0>(told[0]), 3u);
  EXPECT_EQ(std::get<1>(told[0]), Op::broken);
  EXPECT_TRUE(waves_.is_idle());
}

TEST_F(WavesAtRoot, a_neighbour_who_was_gone_before_it_was_met_breaks_it_and_the_others_are_told) {
  for (const ph_status why : {PH_ERR_DEPARTED, PH_ERR_PEER}) {
    Waves waves(port_, gates_, [] { return true; });
    port_.out_of_reach = 1;
    port_.why_out_of_reach = why;
    ASSERT_EQ(port_.state(1), PH_OK) << "nothing is known of who was never met";
    EXPECT_EQ(waves.enter(), why);
    EXPECT_EQ(port_.last_error().rank, 1u);
    waves.turn();
    const auto told = said();
    ASSERT_EQ(told.size(), 2u);
    EXPECT_EQ(std::get<0>(told[0]), 2u);
    EXPECT_EQ(std::get<0>(told[1]), 3u);
    EXPECT_EQ(std::get<1>(told[0]), Op::broken);
    EXPECT_EQ(std::get<1>(told[1]), Op::broken);
    EXPECT_TRUE(waves.is_idle()) << "nothing is kept for who will never come";
  }
}

TEST_F(WavesAtRoot, nobody_waits_at_the_end_for_a_neighbour_who_was_never_met) {
  port_.out_of_reach = 3;
  ASSERT_TRUE(hear(1, Op::broken, {0, word_of_status(PH_ERR_PEER), 2}));
  port_.run_turns();
  EXPECT_FALSE(waves_.is_idle());
  EXPECT_EQ(waves_.held(), 0u) << "of a rank at rest, which has nothing to do about it";
  waves_.close();
  EXPECT_TRUE(waves_.is_idle());
}

TEST_F(WavesAtRoot, who_says_what_cannot_be_is_cut_off) {
  struct Row {
    const char* what;
    Rank from;
    Op op;
    std::vector<std::uint64_t> rest;
  };
  const auto peer = static_cast<std::uint64_t>(PH_ERR_PEER);
  const Row rows[] = {
      {"too few words", 1, Op::up, {0, 1}},
      {"too many words", 1, Op::down, {0, 1, 2}},
      {"a wave that is not the next one", 1, Op::up, {kWave1, 1, 1}},
      {"a down for the root", 1, Op::down, {0, 1}},
      {"no error", 1, Op::broken, {0, PH_OK, 1}},
      {"no status", 1, Op::broken, {0, 17, 1}},
      {"no rank", 1, Op::broken, {0, peer, 4}},
      {"another time", 1, Op::broken, {7, peer, 2}},
      {"no number", 1, Op::broken, {kWave1, peer, 2}},
      {"an op of others", 1, Op::credit, {0, 0, 0}},
  };
  for (const Row& row : rows) {
    test::FakePort port(wire::Owner::am);
    Waves waves(port, gates_, [] { return true; });
    ASSERT_EQ(waves.enter(), PH_OK);
    const auto bytes = test::words_of(row.rest);
    EXPECT_FALSE(waves.on_message(row.from, row.op, bytes)) << row.what;
  }
}

TEST_F(WavesAtRoot, one_that_was_left_goes_on_and_the_next_call_has_its_end) {
  ASSERT_EQ(waves_.enter(), PH_OK);
  EXPECT_EQ(waves_.enter(), PH_ERR_STATE) << "another thread";
  waves_.leave();
  hear_ups(0);
  hear_ups(kWave1);
  ph_request request{};
  EXPECT_EQ(waves_.begin(&request), PH_ERR_STATE);
  ASSERT_EQ(waves_.enter(), PH_OK);
  ASSERT_TRUE(waves_.has_end());
  EXPECT_EQ(waves_.take(), PH_OK);
}

TEST_F(WavesAtRoot, a_request_is_completed_once_and_holds_off_others_until_then) {
  ph_request request{};
  ASSERT_EQ(waves_.begin(&request), PH_OK);
  EXPECT_EQ(port_.promises(), 1u);
  EXPECT_EQ(waves_.begin(&request), PH_ERR_STATE);
  EXPECT_EQ(waves_.enter(), PH_ERR_STATE);
  hear_ups(0);
  hear_ups(kWave1);
  EXPECT_EQ(port_.told(), 1u);
  EXPECT_EQ(port_.promises(), 0u);
  EXPECT_FALSE(waves_.has_end());
  EXPECT_EQ(waves_.enter(), PH_OK);
}

TEST_F(WavesAtRoot, begins_nothing_where_no_request_is_free) {
  port_.refuse(0);
  ph_request request{};
  EXPECT_EQ(waves_.begin(&request), PH_AGAIN);
  hear_ups(0);
  EXPECT_EQ(port_.waiting(), 0u);
  EXPECT_EQ(waves_.begin(&request), PH_OK);
}

TEST_F(WavesAtRoot, a_lane_that_closes_ends_the_request_and_answers_no_more) {
  ph_request request{};
  ASSERT_EQ(waves_.begin(&request), PH_OK);
  waves_.close();
  EXPECT_EQ(port_.told(), 1u);
  EXPECT_TRUE(port_.holds_nothing());
  hear_ups(0);
  port_.lose(1);
  port_.run_turns();
  EXPECT_EQ(port_.waiting(), 0u);
  EXPECT_EQ(waves_.held(), 0u);
}

// A link may be lost between two ranks that are no neighbours in the tree, and both may live: then
// what it lost will never be handled, and nobody else knows.
TEST(WavesOfMany, a_lost_rank_that_is_no_neighbour_breaks_it_but_not_one_that_has_left) {
  struct Heard final : Service {
    explicit Heard(Waves& waves) : waves_(waves) {}
    bool on_message(const Message&) override { return false; }
    void on_lost(Rank rank, ph_status why) noexcept override { waves_.on_lost(rank, why); }
    Waves& waves_;
  };
  for (const bool is_begun : {false, true}) {
    test::FakePort port(wire::Owner::am, 9);
    Gates gates(9, 8);
    Waves waves(port, gates, [] { return true; });
    Heard heard(waves);
    port.serve(heard);
    if (is_begun) {
      ASSERT_EQ(waves.enter(), PH_OK);
    }
    port.lose(7, PH_ERR_DEPARTED);
    EXPECT_FALSE(waves.has_end()) << "its parent was told that all is over";
    port.lose(8, PH_ERR_PROTOCOL);
    EXPECT_EQ(waves.has_end(), is_begun);
    EXPECT_EQ(is_begun ? waves.take() : waves.enter(), PH_ERR_PROTOCOL);
    EXPECT_EQ(port.last_error().rank, 8u);
  }
}

TEST(WavesAlone, one_rank_ends_by_its_own_turns) {
  struct Alone final : Service {
    explicit Alone(Waves& waves) : waves_(waves) {}
    bool on_message(const Message&) override { return false; }
    bool turn() override {
      waves_.turn();
      return false;
    }
    Waves& waves_;
  };
  test::FakePort port(wire::Owner::am, 1);
  Gates gates(1, 8);
  gates.of(0).sent = 1;
  Waves waves(port, gates, [] { return true; });
  Alone alone(waves);
  port.serve(alone);
  ASSERT_EQ(waves.enter(), PH_OK);
  EXPECT_THROW(port.run_turns(), std::runtime_error) << "its own message is on its way";
  EXPECT_FALSE(waves.has_end());
  gates.of(0).handled = 1;
  port.run_turns();
  ASSERT_TRUE(waves.has_end());
  EXPECT_EQ(waves.take(), PH_OK);
}

}  // namespace
}  // namespace photon::service::am
