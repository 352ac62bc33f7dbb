// Which failure came first, in whatever order the ends are seen.
#include "history.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace photonrun {
namespace {

using Kind = Exchange::Report::Kind;

constexpr End kWell{};
constexpr End kExit9{.value = 9};
constexpr End kExit42{.value = 42};
constexpr End kKilled{.by_signal = true, .value = 9};

class Ranks {
 public:
  explicit Ranks(unsigned count) : history_(count) {
    for (unsigned rank = 0; rank < count; ++rank) history_.take({Kind::joined, rank, 0});
  }
  Ranks& blames(unsigned rank, unsigned other) {
    history_.take({Kind::blames, rank, other});
    return *this;
  }
  Ranks& leaves(unsigned rank) {
    history_.take({Kind::left, rank, 0});
    return *this;
  }
  Ranks& ends(unsigned rank, const End& end) {
    history_.ended(rank, end, "rank " + std::to_string(rank));
    return *this;
  }
  // The rank that came first; -1: it is not known yet, or there is none.
  int first(bool is_final = false) const {
    const auto found = history_.first(is_final);
    return found ? static_cast<int>(*found->rank) : -1;
  }
  std::string text() const { return history_.first(true)->text; }

 private:
  History history_;
};

TEST(History, a_failure_that_blames_nobody_is_the_first_at_once) {
  EXPECT_EQ(Ranks(3).first(true), -1) << "none has failed";
  EXPECT_EQ(Ranks(3).ends(2, kExit42).first(), 2);
  EXPECT_EQ(Ranks(3).ends(0, kWell).ends(2, kKilled).ends(1, kExit9).first(), 2);
}

TEST(History, a_consequence_is_never_the_first_in_whatever_order_the_ends_are_seen) {
  constexpr unsigned kRanks = 5;
  std::vector<unsigned> order(kRanks);
  std::iota(order.begin(), order.end(), 0U);
  do {
    Ranks ranks(kRanks);
    // 0 fails; 1 and 2 lose it; 3 loses 1; 4 loses 2 and 3.
    ranks.blames(1, 0).blames(2, 0).blames(3, 1).blames(4, 2).blames(4, 3);
    for (const unsigned rank : order) {
      ranks.ends(rank, rank == 0 ? kExit42 : kExit9);
      EXPECT_LE(ranks.first(), 0) << "a consequence, in place of nobody yet";
    }
    EXPECT_EQ(ranks.first(), 0);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(History, a_failure_that_blames_a_running_rank_waits_for_its_end) {
  Ranks ranks(2);
  ranks.blames(0, 1).ends(0, kExit9);
  EXPECT_EQ(ranks.first(), -1);
  EXPECT_EQ(ranks.first(true), 0);
  EXPECT_EQ(ranks.text(), "rank 0; it had lost rank 1, which still runs");
  EXPECT_EQ(ranks.ends(1, kKilled).first(), 1);
}

TEST(History, a_rank_that_ended_well_explains_a_failure_in_words_only) {
  EXPECT_EQ(Ranks(2).blames(0, 1).ends(1, kWell).ends(0, kExit9).text(),
            "rank 0; it had lost rank 1, which exited with status 0 without ph_finalize()");
  EXPECT_EQ(Ranks(2).leaves(1).blames(0, 1).ends(1, kWell).ends(0, kExit9).text(),
            "rank 0; it had lost rank 1, which had left the job, and exited with status 0");
  History history(2);
  history.take({Kind::joined, 0, 0});
  history.take({Kind::blames, 0, 1});
  history.ended(1, kWell, "");
  history.ended(0, kExit9, "rank 0");
  EXPECT_EQ(history.first(false)->text,
            "rank 0; it had lost rank 1, which exited with status 0 without having joined the job");
}

TEST(History, an_early_rank_that_ended_well_hides_no_later_failure) {
  Ranks ranks(4);
  ranks.ends(3, kWell).blames(0, 3).blames(1, 3).blames(2, 3);
  ranks.blames(0, 2).ends(0, kExit9).ends(2, kExit42);
  EXPECT_EQ(ranks.first(), 2);
}

TEST(History, of_ranks_that_all_blame_each_other_the_one_that_blamed_first_counts) {
  Ranks ranks(3);
  ranks.blames(1, 2).blames(2, 0).blames(0, 1);
  ranks.ends(0, kExit9).ends(2, kExit9).ends(1, kExit9);
  EXPECT_EQ(ranks.first(), 1);
  EXPECT_EQ(ranks.text(), "rank 1; it had lost rank 2, which failed as well");
}

TEST(History, a_rank_that_blames_itself_or_another_one_twice_says_nothing_new) {
  EXPECT_EQ(Ranks(2).blames(0, 0).ends(0, kExit42).first(), 0);
  EXPECT_EQ(Ranks(2).blames(0, 1).blames(0, 1).ends(0, kExit9).ends(1, kExit42).first(), 1);
}

TEST(History, what_fails_besides_ranks_counts_where_it_was_seen) {
  History history(2);
  history.failed(125, "ssh");
  history.ended(1, kExit9, "rank 1");
  EXPECT_EQ(history.failures_count(), 2u);
  EXPECT_EQ(history.first(false)->text, "ssh");
  EXPECT_EQ(history.first(false)->status, 125);
}

TEST(History, knows_who_never_joined_and_who_left_last) {
  History history(3);
  history.take({Kind::joined, 1, 0});
  EXPECT_EQ(history.unjoined(), (std::vector<unsigned>{0, 2}));
  history.take({Kind::left, 1, 0});
  EXPECT_TRUE(history.has_left(1));
  history.take({Kind::joined, 1, 0});
  EXPECT_FALSE(history.has_left(1)) << "it is in the next generation";
}

}  // namespace
}  // namespace photonrun
