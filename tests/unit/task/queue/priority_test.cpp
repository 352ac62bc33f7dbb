// All priorities are one order.
#include "task/queue/priority.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace photon::task {
namespace {

Priority number(std::int32_t value) { return *priority_of(PriorityKind::number, 32, &value); }
Priority long_number(std::int64_t value) {
  return *priority_of(PriorityKind::long_number, 64, &value);
}
Priority bits(std::uint32_t count, const std::vector<std::uint32_t>& words) {
  return *priority_of(PriorityKind::bit_vector, count, words.data());
}
bool is_equal(const Priority& one, const Priority& other) {
  return !(one < other) && !(other < one);
}

TEST(TaskQueue, IntAndBitVectorAreOneOrder) {
  const std::vector<std::uint32_t> minus_one{0x7fffffffU};
  EXPECT_TRUE(is_equal(number(-1), bits(32, minus_one)));
  const std::vector<std::uint32_t> seven{0x80000007U, 0xffffffffU};
  EXPECT_TRUE(is_equal(number(7), bits(32, seven)));
  EXPECT_LT(number(7), bits(33, seven)) << "the beginning of a vector comes before it";
  EXPECT_LT(bits(64, seven), number(8));
  const std::vector<std::uint32_t> long_seven{0x80000000U, 7};
  EXPECT_TRUE(is_equal(long_number(7), bits(64, long_seven)));
  EXPECT_LT(number(std::numeric_limits<std::int32_t>::min()), number(-1));
  EXPECT_LT(number(-1), number(0));
  EXPECT_LT(number(0), number(std::numeric_limits<std::int32_t>::max()));
  EXPECT_LT(long_number(std::numeric_limits<std::int64_t>::min()), long_number(-1));
  EXPECT_LT(long_number(-1), long_number(0));
  EXPECT_LT(long_number(0), long_number(1));
  EXPECT_LT(long_number(1), number(1)) << "2^-63 of the range, and 2^-31";
}

TEST(TaskQueue, without_a_priority_is_between_negative_and_positive) {
  const Priority none = *priority_of(PriorityKind::none, 0, nullptr);
  EXPECT_TRUE(is_equal(none, number(0)));
  EXPECT_LT(number(-1), none);
  EXPECT_LT(none, number(1));
  EXPECT_LT(long_number(-1), none);
  EXPECT_LT(none, long_number(1));
}

TEST(TaskQueue, bits_that_fit_no_priority_are_refused) {
  const std::int64_t value = 0;
  EXPECT_FALSE(priority_of(PriorityKind::none, 1, &value));
  EXPECT_FALSE(priority_of(PriorityKind::number, 31, &value));
  EXPECT_FALSE(priority_of(PriorityKind::number, 64, &value));
  EXPECT_FALSE(priority_of(PriorityKind::number, 32, nullptr));
  EXPECT_FALSE(priority_of(PriorityKind::long_number, 32, &value));
  EXPECT_FALSE(priority_of(PriorityKind::bit_vector, kMostPriorityBits + 1, &value));
  EXPECT_FALSE(priority_of(PriorityKind::bit_vector, 8, nullptr));
  EXPECT_TRUE(priority_of(PriorityKind::bit_vector, 0, nullptr));
}

TEST(TaskQueue, bits_behind_the_last_one_say_nothing) {
  const std::vector<std::uint32_t> one{0xabcd0000U, 0, 0xf0000000U};
  const std::vector<std::uint32_t> other{0xabcdffffU, 0, 0xf1234567U};
  EXPECT_TRUE(is_equal(bits(16, one), bits(16, other)));
  const std::vector<std::uint32_t> third{0xabcd0000U, 0, 0xffffffffU};
  EXPECT_TRUE(is_equal(bits(68, one), bits(68, third)));
  EXPECT_LT(bits(69, one), bits(69, third));
}

// A program may pack its messages: the sanitizer of undefined behaviour judges each read.
TEST(TaskQueue, words_at_any_address_compare_alike) {
  const std::array<std::uint32_t, 3> smaller{0x80000000U, 5, 0x10000000U};
  const std::array<std::uint32_t, 3> larger{0x80000000U, 5, 0x30000000U};
  std::array<std::byte, 2 * (sizeof smaller + 1)> memory{};
  std::byte* one = memory.data() + 1;
  std::byte* other = one + sizeof smaller + 1;
  std::memcpy(one, smaller.data(), sizeof smaller);
  std::memcpy(other, larger.data(), sizeof larger);
  const Priority first = *priority_of(PriorityKind::bit_vector, 70, one);
  const Priority second = *priority_of(PriorityKind::bit_vector, 70, other);
  EXPECT_LT(first, second);
  EXPECT_FALSE(second < first);
  EXPECT_TRUE(is_equal(first, *priority_of(PriorityKind::bit_vector, 70, smaller.data())));
}

// Bit by bit, as the words of the page say it.
bool comes_before(const std::vector<bool>& one, const std::vector<bool>& other) {
  for (std::size_t i = 0; i < one.size() && i < other.size(); ++i)
    if (one[i] != other[i]) return other[i];
  return one.size() < other.size();
}

TEST(TaskQueue, vectors_of_any_length_compare_bit_by_bit) {
  std::mt19937 random(3);
  const auto draw = [&](std::uint32_t below) {
    return static_cast<std::uint32_t>(random() % below);
  };
  for (int round = 0; round < 30000; ++round) {
    std::array<std::vector<bool>, 2> as_bits;
    std::array<std::vector<std::uint32_t>, 2> words;
    std::array<Priority, 2> priorities;
    const std::size_t alike = draw(100);
    for (std::size_t i = 0; i < 2; ++i) {
      const std::uint32_t count = draw(130);
      words[i].assign(5, i == 0 ? 0 : draw(~0U));  // what stands behind the bits differs
      for (std::uint32_t k = 0; k < count; ++k) {
        const bool bit =
            k < alike && k < as_bits[0].size() && i == 1 ? as_bits[0][k] : draw(2) != 0;
        as_bits[i].push_back(bit);
        const std::uint32_t mask = 0x80000000U >> k % 32;
        words[i][k / 32] = bit ? words[i][k / 32] | mask : words[i][k / 32] & ~mask;
      }
      priorities[i] = *priority_of(PriorityKind::bit_vector, count, words[i].data());
    }
    ASSERT_EQ(priorities[0] < priorities[1], comes_before(as_bits[0], as_bits[1]));
    ASSERT_EQ(priorities[1] < priorities[0], comes_before(as_bits[1], as_bits[0]));
  }
}

}  // namespace
}  // namespace photon::task
