// Names of fragments: read back, for every size of job, and how far they reach.
#include "wire/imm_codec.hpp"

#include <gtest/gtest.h>

namespace photon::wire {
namespace {

constexpr std::uint32_t kJobs[] = {1, 2, 3, 4, 5, 64, 65, 1000, 65536, 1u << 24};

// How many lines the names of a job of so many ranks tell apart, counted the slow way.
std::uint64_t lines_told_apart(std::uint32_t ranks_count) {
  unsigned rank_bits = 0;
  while (std::uint64_t{1} << rank_bits < ranks_count) ++rank_bits;
  return std::uint64_t{1} << (32 - rank_bits);
}

TEST(ImmCodecTest, rank_and_line_are_read_back_in_jobs_of_every_size) {
  for (const std::uint32_t ranks_count : kJobs) {
    const ImmCodec names(ranks_count);
    const std::uint64_t lines = lines_told_apart(ranks_count);
    for (const std::uint32_t rank : {0u, ranks_count / 2, ranks_count - 1})
      for (const std::uint64_t line :
           {std::uint64_t{0}, std::uint64_t{77}, lines - 1, lines, lines + 5, ~std::uint64_t{0}}) {
        const std::uint32_t name = names.of(rank, line);
        EXPECT_EQ(names.rank_in(name), rank) << ranks_count << " ranks, line " << line;
        EXPECT_EQ(names.line_in(name), line % lines) << ranks_count << " ranks, rank " << rank;
      }
  }
}

TEST(ImmCodecTest, the_layout_is_that_of_the_wire_format) {
  EXPECT_EQ(ImmCodec(1).of(0, 0x1'2345'6789), 0x2345'6789u);
  EXPECT_EQ(ImmCodec(2).of(1, 5), 0x8000'0005u);
  EXPECT_EQ(ImmCodec(3).of(2, 5), 0x8000'0005u);
  EXPECT_EQ(ImmCodec(256).of(0xab, 0xff12'3456), 0xab12'3456u);
}

TEST(ImmCodecTest, a_ring_may_have_half_of_the_lines_that_names_tell_apart) {
  for (const std::uint32_t ranks_count : kJobs) {
    const ImmCodec names(ranks_count);
    const std::uint64_t most = lines_told_apart(ranks_count) / 2;
    EXPECT_TRUE(names.suffice(most)) << ranks_count;
    EXPECT_FALSE(names.suffice(most + 1)) << ranks_count;
    EXPECT_FALSE(names.suffice(2 * most)) << ranks_count;
  }
}

TEST(ImmCodecTest, a_rank_beyond_the_job_can_be_read_from_a_name_and_is_recognised) {
  EXPECT_EQ(ImmCodec(3).rank_in(0xffff'ffff), 3u);
  EXPECT_EQ(ImmCodec(1).rank_in(0xffff'ffff), 0u);
}

TEST(ImmCodecTest, the_distance_goes_forward_across_the_border) {
  const ImmCodec names(65536);  // 65536 lines
  EXPECT_EQ(names.distance(10, 10), 0u);
  EXPECT_EQ(names.distance(10, 12), 2u);
  EXPECT_EQ(names.distance(12, 10), 65534u);
  EXPECT_EQ(names.distance(65535, 1), 2u);
  EXPECT_EQ(names.distance(3 * 65536 + 65535, 1), 2u) << "positions are counted from the start";
}

}  // namespace
}  // namespace photon::wire
