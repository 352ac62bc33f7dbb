// Ranges of bytes against a plain row of them.
#include "service/mailbox/coverage.hpp"

#include <gtest/gtest.h>

#include <array>
#include <new>
#include <random>
#include <utility>
#include <vector>

#include "shortage.hpp"

namespace photon::service::mailbox {
namespace {

using Pairs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

Pairs pairs(const RangeSet::Ranges& ranges) { return {ranges.begin(), ranges.end()}; }

TEST(RangeSet, ranges_that_touch_are_one) {
  RangeSet set;
  set.make_room(4);
  EXPECT_EQ(set.add(10, 20), 10u);
  EXPECT_EQ(set.add(30, 40), 10u);
  EXPECT_EQ(pairs(set.ranges()), (Pairs{{10, 20}, {30, 40}}));
  EXPECT_EQ(set.add(20, 25), 5u);
  EXPECT_EQ(set.add(29, 30), 1u);
  EXPECT_EQ(pairs(set.ranges()), (Pairs{{10, 25}, {29, 40}}));
  set.make_room(1);
  EXPECT_EQ(set.add(12, 35), 4u);
  EXPECT_EQ(pairs(set.ranges()), (Pairs{{10, 40}}));
  set.make_room(1);
  EXPECT_EQ(set.add(15, 16), 0u);
  EXPECT_EQ(set.add(0, UINT64_MAX), UINT64_MAX - 30);
  EXPECT_EQ(pairs(set.ranges()), (Pairs{{0, UINT64_MAX}}));
}

// What a message needs later it has when it is admitted.
TEST(Coverage, needs_memory_only_to_admit) {
  Coverage one;
  one.admit(0, 10);
  one.admit(20, 10);
  for (int allowed = 0; allowed < 3; ++allowed) {
    const photon::test::Shortage shortage(allowed);
    try {
      one.admit(40, 10);
      break;
    } catch (const std::bad_alloc&) {
    }
  }
  const std::uint64_t left = one.uncovered(0, 60);
  const photon::test::Shortage shortage(0);
  EXPECT_EQ(one.landed(20, 10), 10u);
  EXPECT_EQ(one.failed(0, 10), 10u);
  EXPECT_EQ(one.uncovered(0, 60), left + 10);
}

TEST(Coverage, is_that_of_a_row_of_bytes) {
  constexpr std::uint64_t kBytes = 40;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    std::mt19937 random(seed);
    Coverage one;
    std::array<bool, kBytes> landed{};
    Pairs under_way;
    const auto is_covered = [&](std::uint64_t at) {
      bool is = landed[at];
      for (const auto& [begin, end] : under_way) is = is || (begin <= at && at < end);
      return is;
    };
    const auto open = [&](std::uint64_t begin, std::uint64_t end) {
      std::uint64_t count = 0;
      for (std::uint64_t at = begin; at < end; ++at) count += is_covered(at) ? 0 : 1;
      return count;
    };
    for (int step = 0; step < 40; ++step) {
      if (under_way.empty() || random() % 2 == 0) {
        const std::uint64_t begin = random() % kBytes;
        const std::uint64_t end = begin + 1 + random() % (kBytes - begin);
        ASSERT_EQ(one.uncovered(begin, end - begin), open(begin, end));
        ASSERT_EQ(one.admit(begin, end - begin), open(begin, end));
        under_way.emplace_back(begin, end);
      } else {
        const auto which = under_way.begin() + random() % under_way.size();
        const auto [begin, end] = *which;
        under_way.erase(which);
        if (random() % 3 == 0) {
          ASSERT_EQ(one.failed(begin, end - begin), open(begin, end));
        } else {
          std::uint64_t fresh = 0;
          for (std::uint64_t at = begin; at < end; ++at)
            fresh += std::exchange(landed[at], true) ? 0 : 1;
          ASSERT_EQ(one.landed(begin, end - begin), fresh);
        }
      }
      Pairs expected;
      for (std::uint64_t at = 0; at < kBytes; ++at) {
        if (!landed[at]) continue;
        if (!expected.empty() && expected.back().second == at)
          ++expected.back().second;
        else
          expected.emplace_back(at, at + 1);
      }
      ASSERT_EQ(pairs(one.ranges()), expected);
    }
    one.clear();
    EXPECT_EQ(one.uncovered(0, kBytes), kBytes);
  }
}

}  // namespace
}  // namespace photon::service::mailbox
