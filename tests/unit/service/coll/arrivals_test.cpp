// Every event in every state of an entry.
#include "engine/parts/arrivals.hpp"

#include <gtest/gtest.h>

#include <string>

namespace photon::engine {
namespace {

using Verdict = Arrivals::Verdict;

constexpr std::uint64_t kRingLines = 64;
constexpr std::uint64_t kLine = 7;
constexpr std::uint64_t kSameEntry = kLine + kRingLines;
constexpr std::uint64_t kQueueAt = 1000;

enum class State { unknown, counted, coming };

std::string state_name(const testing::TestParamInfo<State>& one) {
  constexpr const char* kNames[] = {"unknown", "counted", "coming"};
  return kNames[static_cast<std::size_t>(one.param)];
}

class ArrivalsIn : public testing::TestWithParam<State> {
 protected:
  // counted: one fragment has come; coming: one of two has.
  ArrivalsIn() {
    arrivals_.open(kRingLines);
    if (GetParam() == State::counted) {
      EXPECT_EQ(fragment(kLine), Verdict::coming);
    }
    if (GetParam() == State::coming) {
      EXPECT_EQ(arrivals_.record(kLine, 2, kQueueAt), Verdict::coming);
      EXPECT_EQ(fragment(kLine), Verdict::coming);
    }
  }
  Verdict fragment(std::uint64_t line, bool is_possible = true) {
    return arrivals_.fragment(line, is_possible, at_);
  }
  Verdict wanted(Verdict unknown, Verdict counted, Verdict coming) const {
    constexpr std::size_t kStates = 3;
    const Verdict all[kStates] = {unknown, counted, coming};
    return all[static_cast<std::size_t>(GetParam())];
  }

  Arrivals arrivals_;
  std::uint64_t at_ = 0;
};

INSTANTIATE_TEST_SUITE_P(States, ArrivalsIn,
                         testing::Values(State::unknown, State::counted, State::coming),
                         state_name);

TEST_P(ArrivalsIn, a_fragment_is_counted_and_the_last_one_says_where_its_id_waits) {
  const Verdict verdict = fragment(kLine);
  EXPECT_EQ(verdict, wanted(Verdict::coming, Verdict::coming, Verdict::ready));
  EXPECT_EQ(at_, verdict == Verdict::ready ? kQueueAt : 0);
}

TEST_P(ArrivalsIn, a_fragment_whose_record_cannot_come_is_wrong_unless_it_is_there) {
  EXPECT_EQ(fragment(kLine, false), wanted(Verdict::wrong, Verdict::wrong, Verdict::ready));
}

TEST_P(ArrivalsIn, a_fragment_of_another_record_for_a_used_entry_is_wrong) {
  EXPECT_EQ(fragment(kSameEntry), wanted(Verdict::coming, Verdict::wrong, Verdict::wrong));
}

TEST_P(ArrivalsIn, a_fragment_of_another_entry_changes_nothing_here) {
  EXPECT_EQ(fragment(kLine + 1), Verdict::coming);
  EXPECT_EQ(fragment(kLine), wanted(Verdict::coming, Verdict::coming, Verdict::ready));
}

TEST_P(ArrivalsIn, a_record_waits_for_what_is_missing_and_a_second_one_is_wrong) {
  EXPECT_EQ(arrivals_.record(kLine, 3, kQueueAt),
            wanted(Verdict::coming, Verdict::coming, Verdict::wrong));
}

TEST_P(ArrivalsIn, a_record_whose_fragments_are_all_here_is_ready_at_once) {
  EXPECT_EQ(arrivals_.record(kLine, 1, kQueueAt),
            wanted(Verdict::coming, Verdict::ready, Verdict::wrong));
}

TEST_P(ArrivalsIn, a_record_of_another_line_for_a_used_entry_is_wrong) {
  EXPECT_EQ(arrivals_.record(kSameEntry, 1, kQueueAt),
            wanted(Verdict::coming, Verdict::wrong, Verdict::wrong));
}

TEST_P(ArrivalsIn, a_record_of_no_or_of_too_many_fragments_is_wrong) {
  EXPECT_EQ(arrivals_.record(kLine, 0, kQueueAt), Verdict::wrong);
  EXPECT_EQ(arrivals_.record(kLine, std::uint64_t{1} << 32, kQueueAt), Verdict::wrong);
  EXPECT_EQ(arrivals_.record(kLine, ~std::uint64_t{0}, kQueueAt), Verdict::wrong);
}

TEST_P(ArrivalsIn, only_an_id_that_waits_can_be_withdrawn_and_only_once) {
  EXPECT_FALSE(arrivals_.withdraw(kSameEntry));
  const auto at = arrivals_.withdraw(kLine);
  EXPECT_EQ(at.has_value(), GetParam() == State::coming);
  EXPECT_EQ(at.value_or(kQueueAt), kQueueAt);
  EXPECT_FALSE(arrivals_.withdraw(kLine));
}

class ArrivalsTest : public testing::Test {
 protected:
  ArrivalsTest() { arrivals_.open(kRingLines); }
  Arrivals arrivals_;
  std::uint64_t at_ = 0;
};

TEST_F(ArrivalsTest, it_is_open_once_it_has_its_entries) {
  EXPECT_TRUE(arrivals_.is_open());
  EXPECT_FALSE(Arrivals().is_open());
}

TEST_F(ArrivalsTest, fewer_fragments_than_have_come_are_wrong) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(arrivals_.fragment(kLine, true, at_), Verdict::coming);
  EXPECT_EQ(arrivals_.record(kLine, 2, kQueueAt), Verdict::wrong);
}

TEST_F(ArrivalsTest, an_entry_serves_one_lap_after_the_other_however_each_ends) {
  for (std::uint64_t lap = 0; lap < 30; ++lap) {
    const std::uint64_t line = kLine + lap * kRingLines;
    switch (lap % 3) {
      case 0:  // the record first
        EXPECT_EQ(arrivals_.record(line, 2, lap), Verdict::coming);
        EXPECT_EQ(arrivals_.fragment(line, false, at_), Verdict::coming);
        EXPECT_EQ(arrivals_.fragment(line, false, at_), Verdict::ready);
        EXPECT_EQ(at_, lap);
        break;
      case 1:  // all fragments first
        EXPECT_EQ(arrivals_.fragment(line, true, at_), Verdict::coming);
        EXPECT_EQ(arrivals_.fragment(line, true, at_), Verdict::coming);
        EXPECT_EQ(arrivals_.record(line, 2, lap), Verdict::ready);
        break;
      default:  // one fragment is refused
        EXPECT_EQ(arrivals_.fragment(line, true, at_), Verdict::coming);
        EXPECT_EQ(arrivals_.record(line, 2, lap), Verdict::coming);
        EXPECT_EQ(arrivals_.withdraw(line), lap);
    }
  }
}

TEST_F(ArrivalsTest, all_lines_of_a_ring_count_apart) {
  for (std::uint64_t line = 0; line < kRingLines; ++line)
    EXPECT_EQ(arrivals_.record(line, line + 1, 100 + line), Verdict::coming);
  for (std::uint64_t line = 0; line < kRingLines; ++line) {
    for (std::uint64_t i = 0; i < line; ++i)
      EXPECT_EQ(arrivals_.fragment(line, false, at_), Verdict::coming);
    EXPECT_EQ(arrivals_.fragment(line, false, at_), Verdict::ready);
    EXPECT_EQ(at_, 100 + line);
  }
}

}  // namespace
}  // namespace photon::engine
