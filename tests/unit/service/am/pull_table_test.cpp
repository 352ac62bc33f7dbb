#include "service/am/pull_table.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace photon::service::am {
namespace {

using Words = std::vector<std::uint64_t>;

Word word_with(std::uint8_t flags) {
  Word word;
  word.op = Op::pull;
  word.flags = flags;
  return word;
}

std::optional<PullWords> read(const Words& words, std::uint8_t flags = 0) {
  return pull_words_of(word_with(flags), std::as_bytes(std::span(words)));
}

TEST(PullWords, are_three_and_a_fourth_with_an_immediate) {
  const auto plain = read({4096, 77, 2});
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->payload_bytes, 4096u);
  EXPECT_EQ(plain->token, 77u);
  EXPECT_EQ(plain->table_bytes(), 48u);
  EXPECT_EQ(plain->immediate, 0u);
  EXPECT_FALSE(read({4096, 77, 2, 5}));
  EXPECT_FALSE(read({4096, 77, 2}, kHasImmediate));
  EXPECT_EQ(read({4096, 77, 2, 5}, kHasImmediate)->immediate, 5u);
}

TEST(PullWords, of_no_bytes_no_blocks_or_too_many_are_malformed) {
  EXPECT_FALSE(read({0, 77, 1}));
  EXPECT_FALSE(read({1, 77, 0}));
  EXPECT_TRUE(read({1, 77, 1024}));
  EXPECT_FALSE(read({1, 77, 1025}));
  EXPECT_FALSE(read({1, 77, ~std::uint64_t{0} / 24 + 2})) << "its table's size wraps";
}

TEST(PullTable, has_the_sum_of_the_payload_without_a_wrap) {
  EXPECT_TRUE(is_table(std::vector<SourceBlock>{{0, 10, 1}, {0, 20, 1}}, 30));
  EXPECT_FALSE(is_table(std::vector<SourceBlock>{{0, 10, 1}, {0, 20, 1}}, 31));
  EXPECT_FALSE(is_table(std::vector<SourceBlock>{{0, 10, 1}, {0, 20, 1}}, 29));
  EXPECT_FALSE(is_table(std::vector<SourceBlock>{{0, ~std::uint64_t{0}, 1}, {0, 31, 1}}, 30));
  EXPECT_FALSE(is_table(std::vector<SourceBlock>{{0, 30, 1}, {0, 0, 1}}, 30)) << "an empty block";
}

TEST(PullTable, fills_the_bytes_before_the_header) {
  const std::vector<SourceBlock> source = {{100, 10, 7}, {200, 20, 8}};
  std::vector<std::byte> bytes(source.size() * sizeof(SourceBlock) + 5);
  std::memcpy(bytes.data(), source.data(), source.size() * sizeof(SourceBlock));
  const PullWords words{30, 1, 2, 0};
  std::vector<SourceBlock> table;
  EXPECT_FALSE(take_table(words, 4, bytes, table));
  EXPECT_FALSE(take_table(words, 6, bytes, table));
  ASSERT_TRUE(take_table(words, 5, bytes, table));
  EXPECT_EQ(table[1].address, 200u);
  EXPECT_EQ(table[1].key, 8u);
}

}  // namespace
}  // namespace photon::service::am
