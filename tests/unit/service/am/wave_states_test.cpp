// The machine of a quiesce: each state with each event, and the tree that it goes along.
#include "service/am/wave_states.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace photon::service::am {
namespace {

using State = WaveStates::State;
using Say = WaveStates::Say;

TEST(AmTree, each_rank_is_a_child_of_its_parent_and_of_no_other) {
  for (std::uint32_t ranks = 1; ranks <= 200; ++ranks) {
    std::vector<int> parents(ranks);
    for (Rank me = 0; me < ranks; ++me) {
      const AmTree tree{me, ranks};
      for (std::size_t place = 0; place < tree.children_count(); ++place) {
        const Rank child = tree.at(place);
        ASSERT_LT(child, ranks);
        ++parents[child];
        EXPECT_EQ((AmTree{child, ranks}.at(AmTree::kParent)), me);
        EXPECT_EQ(tree.place_of(child), place);
      }
      EXPECT_FALSE(tree.place_of(me).has_value());
    }
    for (Rank rank = 0; rank < ranks; ++rank) EXPECT_EQ(parents[rank], rank == 0 ? 0 : 1);
  }
}

TEST(AmTree, a_rank_near_the_largest_number_has_no_children_that_wrap_around) {
  const AmTree tree{0xffff'fffe, 0xffff'ffff};
  EXPECT_EQ(tree.children_count(), 0u);
  EXPECT_FALSE(tree.place_of(1).has_value());
}

// ---- the machine: rank 1 of 9, whose parent is 0 and whose children are 5 to 8

constexpr AmTree kMiddle{1, 9};

WaveStates in_state(State state, const AmTree& tree = kMiddle) {
  WaveStates states(tree);
  if (state == State::idle) return states;
  states.begin();
  if (state == State::waits) {
    for (std::size_t place = 0; place < tree.children_count(); ++place)
      states.up(tree.at(place), states.stamp(), {1, 1});
    static_cast<void>(states.gathered({1, 1}));
  }
  if (state == State::broken) states.break_off();
  EXPECT_EQ(states.state(), state);
  return states;
}
constexpr State kStates[] = {State::idle, State::gathers, State::waits, State::broken};

TEST(WaveStates, begins_only_where_it_is_idle) {
  for (const State state : kStates) {
    WaveStates states = in_state(state);
    EXPECT_EQ(states.begin(), state == State::idle);
    EXPECT_EQ(states.state(), state == State::idle ? State::gathers : state);
  }
}

TEST(WaveStates, takes_one_up_of_each_child_and_of_this_wave_alone) {
  for (const State state : kStates) {
    WaveStates states = in_state(state);
    const bool is_due = state != State::waits;  // there all have come
    EXPECT_FALSE(states.up(0, {}, {})) << "the parent";
    EXPECT_FALSE(states.up(1, {}, {})) << "itself";
    EXPECT_FALSE(states.up(2, {}, {})) << "a sibling";
    EXPECT_FALSE(states.up(5, {0, 1}, {})) << "a later wave";
    EXPECT_FALSE(states.up(5, {1, 0}, {})) << "a later quiesce";
    EXPECT_EQ(states.up(5, {}, {}), is_due);
    EXPECT_FALSE(states.up(5, {}, {})) << "a second one";
    EXPECT_EQ(states.state(), state);
  }
}

TEST(WaveStates, is_all_there_when_it_was_begun_and_the_last_child_has_come) {
  for (const State state : kStates) {
    WaveStates states = in_state(state);
    for (Rank child = 5; child < 9; ++child) {
      EXPECT_FALSE(states.is_all_there());
      states.up(child, {}, {});
    }
    EXPECT_EQ(states.is_all_there(), state == State::gathers);
  }
}

TEST(WaveStates, takes_a_down_of_the_parent_once_and_only_where_up_was_said) {
  for (const State state : kStates)
    for (const bool is_over : {false, true}) {
      WaveStates states = in_state(state);
      WaveStates::Next next;
      EXPECT_FALSE(states.down(5, {}, is_over, next)) << "a child";
      EXPECT_FALSE(states.down(0, {0, 1}, is_over, next)) << "a later wave";
      EXPECT_EQ(states.down(0, {}, is_over, next), state == State::waits);
      if (state == State::waits) {
        EXPECT_EQ(next.say, is_over ? Say::over : Say::again);
        EXPECT_EQ(next.stamp, (WaveStamp{0, 0}));
        EXPECT_EQ(states.state(), is_over ? State::idle : State::gathers);
        EXPECT_EQ(states.stamp(), (is_over ? WaveStamp{1, 0} : WaveStamp{0, 1}));
      } else {
        EXPECT_EQ(next.say, Say::nothing);
        EXPECT_EQ(states.state(), state);
      }
      EXPECT_FALSE(states.down(0, {}, is_over, next)) << "a second one";
    }
}

TEST(WaveStates, a_down_that_was_on_its_way_when_it_broke_is_checked_and_changes_nothing) {
  WaveStates states = in_state(State::waits);
  EXPECT_TRUE(states.break_off());
  WaveStates::Next next;
  EXPECT_TRUE(states.down(0, {}, true, next));
  EXPECT_EQ(next.say, Say::nothing);
  EXPECT_EQ(states.state(), State::broken);
  EXPECT_FALSE(states.down(0, {}, true, next));
}

TEST(WaveStates, breaks_from_each_state_once_and_for_good) {
  for (const State state : kStates) {
    WaveStates states = in_state(state);
    EXPECT_EQ(states.break_off(), state != State::broken);
    EXPECT_EQ(states.state(), State::broken);
    EXPECT_FALSE(states.begin());
  }
}

TEST(WaveStates, hears_of_a_break_from_neighbours_that_are_near_in_time) {
  const WaveStates states = in_state(State::gathers);
  for (const Rank rank : {0u, 5u, 8u}) EXPECT_TRUE(states.may_break(rank, 0));
  for (const Rank rank : {1u, 2u}) EXPECT_FALSE(states.may_break(rank, 0));
  EXPECT_TRUE(states.may_break(0, 1));
  EXPECT_FALSE(states.may_break(0, 2));
}

TEST(WaveStates, says_the_sums_of_its_subtree_and_begins_the_next_wave_without_them) {
  WaveStates states(kMiddle);
  states.begin();
  for (int wave = 0; wave < 3; ++wave) {
    for (Rank child = 5; child < 9; ++child)
      ASSERT_TRUE(states.up(child, states.stamp(), {child, 10}));
    const WaveStates::Next next = states.gathered({100, 1});
    EXPECT_EQ(next.say, Say::up);
    EXPECT_EQ(next.sums, (WaveSums{100 + 5 + 6 + 7 + 8, 41}));
    WaveStates::Next down;
    ASSERT_TRUE(states.down(0, next.stamp, false, down));
  }
}

// The root is content with the same sums twice, one behind the other, and sent = handled.
TEST(WaveStates, the_root_decides_by_two_waves_that_follow_each_other) {
  struct Row {
    std::vector<WaveSums> waves;  // but the last one is told `again`
    Say last;
  };
  const Row rows[] = {
      {{{0, 0}}, Say::again},
      {{{0, 0}, {0, 0}}, Say::over},
      {{{5, 4}, {5, 5}}, Say::again},
      {{{5, 4}, {5, 4}, {5, 5}}, Say::again},
      {{{5, 4}, {5, 5}, {5, 5}}, Say::over},
      {{{5, 5}, {6, 6}}, Say::again},
      {{{5, 5}, {6, 6}, {5, 5}}, Say::again},  // no sum falls; such a rank is not believed
      {{{5, 4}, {5, 4}}, Say::again},
  };
  for (const Row& row : rows) {
    WaveStates states(AmTree{0, 1});
    states.begin();
    for (std::size_t i = 0; i < row.waves.size(); ++i) {
      ASSERT_TRUE(states.is_all_there());
      const bool is_last = i + 1 == row.waves.size();
      EXPECT_EQ(states.gathered(row.waves[i]).say, is_last ? row.last : Say::again);
    }
  }
}

TEST(WaveStates, the_waves_of_one_quiesce_do_not_count_for_the_next) {
  WaveStates states(AmTree{0, 1});
  for (int quiesce = 0; quiesce < 2; ++quiesce) {
    ASSERT_TRUE(states.begin());
    EXPECT_EQ(states.gathered({3, 3}).say, Say::again);
    EXPECT_EQ(states.gathered({3, 3}).say, Say::over);
  }
}

}  // namespace
}  // namespace photon::service::am
