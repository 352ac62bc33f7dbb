// The same answers as a look at every range, and how little is touched for them.
#include "engine/parts/range_index.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <random>
#include <string>

#include "rounds.hpp"

namespace photon::engine {
namespace {

using Range = RangeIndex::Range;
constexpr std::uint32_t kNobody = RangeIndex::kNone;

// Ranges by number; what the index should answer.
class Linear {
 public:
  void insert(std::uint32_t number, const Range& range) { ranges_[number] = range; }
  void remove(std::uint32_t number) { ranges_.erase(number); }
  std::uint32_t find_same(const Range& range) const {
    for (const auto& [number, one] : ranges_)
      if (one == range) return number;
    return kNobody;
  }
  std::uint32_t find(std::uint64_t begin, std::uint64_t end) const {
    std::uint32_t best = kNobody;
    for (const auto& [number, one] : ranges_) {
      if (one.begin > begin || one.end < end) continue;
      if (best == kNobody || bytes_of(one) < bytes_of(ranges_.at(best))) best = number;
    }
    return best;
  }
  std::size_t count() const { return ranges_.size(); }

 private:
  static std::uint64_t bytes_of(const Range& range) { return range.end - range.begin; }
  std::map<std::uint32_t, Range> ranges_;
};

// A family of ranges that nest, overlap or repeat, near `base`.
struct Family {
  const char* name;
  std::function<Range(std::mt19937_64&, std::uint32_t number)> make;
};

constexpr std::uint64_t kBase = 0x7f12'3456'7000;

Range at(std::uint64_t offset, std::uint64_t bytes) {
  return {kBase + offset, kBase + offset + bytes, 3};
}

const Family kFamilies[] = {
    {"apart", [](auto&, auto i) { return at(i * 4096ull, 4096); }},
    {"onion", [](auto&, auto i) { return at(i, 4'000'000 - 2ull * i); }},
    {"one_begin", [](auto&, auto i) { return at(0, 1 + 64ull * i); }},
    {"one_end", [](auto&, auto i) { return at(64ull * i, 12'800'000 - 64ull * i); }},
    {"sliding", [](auto&, auto i) { return at(8ull * i, 65536); }},
    {"buddies",
     [](auto&, std::uint32_t i) {
       const auto level = static_cast<unsigned>(std::bit_width(i + 1)) - 1;
       const std::uint64_t bytes = (std::uint64_t{1} << 34) >> level;
       return at((i + 1 - (1u << level)) * bytes, bytes);
     }},
    {"any_size",
     [](auto& random, auto) {
       return at(random() % (1 << 30), 1 + random() % (1ull << (random() % 28)));
     }},
    {"dense", [](auto& random, auto) { return at(random() % (1 << 20), 4096 + random() % 61440); }},
    {"tiny_beside_huge",
     [](auto& random, auto i) {
       return at(64ull * i, i % 2 == 0 ? 8 : (std::uint64_t{1} << 40) + random() % (1 << 20));
     }},
    {"steps_to_a_corner",
     [](auto& random, auto i) {
       const std::uint64_t back = i % 2 == 0 ? random() % (1 << 20) : 0;
       return at((1 << 21) - random() % (1 << 20) - back, (1 << 22) + random() % (1 << 21));
     }},
};

class RangeIndexTest : public testing::TestWithParam<Family> {};

TEST_P(RangeIndexTest, finds_what_a_look_at_every_range_finds_while_they_come_and_go) {
  std::mt19937_64 random(11);
  RangeIndex index;
  Linear linear;
  constexpr std::uint32_t kNumbers = 300;
  std::vector<Range> ranges(kNumbers);
  std::vector<bool> live(kNumbers);
  for (int step = 0; step < static_cast<int>(photon::test::rounds(20'000)); ++step) {
    const auto number = static_cast<std::uint32_t>(random() % kNumbers);
    Range range = GetParam().make(random, static_cast<std::uint32_t>(random() % 400));
    range.kind = static_cast<std::uint32_t>(random() % 2 == 0 ? 3 : 0x80000000u | number);
    ASSERT_EQ(index.find_same(range), linear.find_same(range));
    if (live[number]) {
      index.remove(number);
      linear.remove(number);
      live[number] = false;
    } else if (linear.find_same(range) == kNobody) {
      index.insert(number, range);
      linear.insert(number, range);
      ranges[number] = range;
      live[number] = true;
    }
    // Around a border of a range that is or was there.
    const Range& near = ranges[random() % kNumbers];
    const std::uint64_t begin = near.begin + random() % 3 - 1;
    const std::uint64_t most = std::max<std::uint64_t>(1, near.end - near.begin);
    const std::uint64_t end =
        random() % 2 == 0 ? near.end + random() % 3 - 1 : begin + random() % most;
    if (end < begin || begin > near.end) continue;
    ASSERT_EQ(index.find(begin, end), linear.find(begin, end)) << step;
    ASSERT_EQ(index.count(), linear.count());
  }
}

TEST_P(RangeIndexTest, touches_few_nodes_among_a_hundred_thousand) {
  constexpr std::uint32_t kCount = 100'000;
  constexpr std::uint64_t kMost = 120;  // log2(100,000) is 17
  std::mt19937_64 random(12);
  RangeIndex index;
  std::vector<Range> ranges;
  for (std::uint32_t i = 0; i < kCount; ++i) {
    const Range range = GetParam().make(random, i);
    if (index.find_same(range) != kNobody) continue;
    index.insert(static_cast<std::uint32_t>(ranges.size()), range);
    ranges.push_back(range);
  }
  std::uint64_t most = 0;
  for (int i = 0; i < static_cast<int>(photon::test::rounds(20'000)); ++i) {
    const Range& near = ranges[random() % ranges.size()];
    const std::uint64_t begin = near.begin + random() % (near.end - near.begin);
    const std::uint64_t bytes = i % 2 == 0 ? 1 : random() % (near.end - begin + 1);
    const std::uint64_t before = index.touched();
    index.find(begin, begin + bytes);
    most = std::max(most, index.touched() - before);
  }
  RecordProperty("most_touched", static_cast<int>(most));
  EXPECT_LE(most, kMost);
}

INSTANTIATE_TEST_SUITE_P(families, RangeIndexTest, testing::ValuesIn(kFamilies),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(RangeIndex, is_empty_after_all_came_back_and_can_be_filled_again) {
  RangeIndex index;
  EXPECT_EQ(index.find(1, 2), kNobody);
  for (int round = 0; round < 3; ++round) {
    for (std::uint32_t i = 0; i < 100; ++i) index.insert(i, at(i % 10, 100 + i));
    for (std::uint32_t i = 0; i < 100; ++i) index.remove(round == 1 ? i : 99 - i);
    EXPECT_EQ(index.count(), 0u);
    EXPECT_EQ(index.find(kBase + 9, kBase + 10), kNobody);
    EXPECT_EQ(index.find_same(at(0, 100)), kNobody);
  }
}

TEST(RangeIndex, finds_the_lowest_number_of_several_of_one_size) {
  RangeIndex index;
  index.insert(7, at(0, 100));
  index.insert(3, at(10, 100));
  index.insert(5, at(20, 100));
  EXPECT_EQ(index.find(kBase + 50, kBase + 60), 3u);
  index.remove(3);
  EXPECT_EQ(index.find(kBase + 50, kBase + 60), 5u);
  EXPECT_EQ(index.find(kBase + 5, kBase + 60), 7u);
}

TEST(RangeIndex, ranges_at_both_ends_of_the_address_space_are_apart) {
  RangeIndex index;
  constexpr std::uint64_t kTop = ~std::uint64_t{0};
  index.insert(0, {0, 1, 1});
  index.insert(1, {kTop - 1, kTop, 1});
  index.insert(2, {0, kTop, 1});
  EXPECT_EQ(index.find(0, 1), 0u);
  EXPECT_EQ(index.find(kTop - 1, kTop), 1u);
  EXPECT_EQ(index.find(0, 2), 2u);
  EXPECT_EQ(index.find_same({kTop - 1, kTop, 1}), 1u);
  EXPECT_EQ(index.find_same({kTop - 1, kTop, 2}), kNobody);
}

}  // namespace
}  // namespace photon::engine
