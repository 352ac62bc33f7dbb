#include "schedule/circulant.hpp"

#include <gtest/gtest.h>

#include <set>

#include "schedule_cases.hpp"

namespace photon::schedule {
namespace {

TEST(Circulant, a_broadcast_in_any_number_of_segments_reaches_all_members) {
  EXPECT_GT((EveryCase{Kind::bcast, Algorithm::circulant, 12}.play()), 0U);
}

TEST(Circulant, a_broadcast_has_as_many_rounds_as_the_last_segment_needs) {
  const Call call{.kind = Kind::bcast,
                  .algorithm = Algorithm::circulant,
                  .size = 100,
                  .count = 50,
                  .segment = 1};
  EXPECT_EQ(phases_of(call), 49U + 7);
}

// In a turn: one new block, and each one of the turn before that it had not got then.
void expect_each_block_once(std::uint32_t size, std::uint32_t place) {
  const Circulant graph(size);
  std::set<std::int64_t> blocks;
  std::int64_t newest = -1;
  for (std::uint32_t round = 0; round < graph.rounds(); ++round) {
    const std::int64_t block = graph.received(place, round);
    newest = std::max(newest, block);
    blocks.insert(block);
  }
  ASSERT_EQ(blocks.size(), graph.rounds()) << "size " << size << ", place " << place;
  ASSERT_GE(newest, 0);
  const std::int64_t rounds = graph.rounds();
  for (std::int64_t block = -rounds; block < 0; ++block)
    ASSERT_EQ(blocks.contains(block), block != newest - rounds) << "size " << size;
}

// What a place hands on in a round it has received in a round before.
void expect_sent_blocks_are_there(std::uint32_t size, std::uint32_t place) {
  const Circulant graph(size);
  std::set<std::int64_t> held;
  const std::int64_t rounds = graph.rounds();
  for (std::int64_t round = 0; round < 3 * rounds; ++round) {
    const auto in_turn = static_cast<std::uint32_t>(round % rounds);
    const std::int64_t turns = round - in_turn;
    const std::uint64_t to = (std::uint64_t{place} + graph.distance(in_turn)) % size;
    if (to != 0) {
      const std::int64_t sent = graph.received(static_cast<std::uint32_t>(to), in_turn) + turns;
      if (sent >= 0) {
        ASSERT_TRUE(held.contains(sent)) << "size " << size << ", place " << place;
      }
    }
    held.insert(graph.received(place, in_turn) + turns);
  }
}

TEST(Circulant, each_place_receives_each_block_once_and_has_what_it_sends) {
  for (std::uint32_t size = 2; size < 140; ++size)
    for (std::uint32_t place = 1; place < size; ++place) {
      expect_each_block_once(size, place);
      expect_sent_blocks_are_there(size, place);
    }
  for (const std::uint32_t size : {255U, 256U, 257U, 1023U, 1024U, 1025U, 1'000'003U})
    for (std::uint32_t place = 1; place < size; place += 1 + size / 97) {
      expect_each_block_once(size, place);
      expect_sent_blocks_are_there(size, place);
    }
}

TEST(Circulant, the_largest_team_has_a_graph_too) {
  for (const std::uint32_t place : {1U, 2U, 1U << 31, UINT32_MAX - 1}) {
    expect_each_block_once(UINT32_MAX, place);
    expect_sent_blocks_are_there(UINT32_MAX, place);
  }
}

}  // namespace
}  // namespace photon::schedule
