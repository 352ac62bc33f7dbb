#include "service/am/am_pulls.hpp"

#include "am_pulling_unit.hpp"

namespace photon::service::am {
namespace {

using namespace pulling_test;

TEST(AmPulls, brings_the_bytes_and_tells_once) {
  Pulling one;
  one.begin(1000, {});
  EXPECT_EQ(one.node_pulls, 1u);
  EXPECT_EQ(one.gates.beside_handled, ~std::uint64_t{0});
  EXPECT_FALSE(one.pulls.has_due());
  one.port.end_get();
  EXPECT_EQ(one.read, std::vector<std::uint64_t>{0});
  EXPECT_TRUE(one.over.empty()) << "its handler has not run";
  ASSERT_TRUE(one.run_one());
  EXPECT_FALSE(one.run_one());
  EXPECT_EQ(one.mails[0]->seen, one.mails[0]->source);
  EXPECT_EQ(one.mails[0]->parts[0].is_last, 1);
  EXPECT_EQ(one.over, (Pulling::Over{{0, PH_OK}}));
  expect_idle(one);
}

TEST(AmPulls, read_is_not_told_to_who_waits_for_the_handlers) {
  Pulling one;
  one.begin(1000, {.flags = kTellsHandled});
  one.run_all();
  EXPECT_TRUE(one.read.empty());
  EXPECT_EQ(one.over, (Pulling::Over{{0, PH_OK}}));
}

TEST(AmPulls, without_a_handler_the_last_byte_ends_it) {
  Pulling one;
  one.begin(1000, {.chunk_bytes = 300, .has_done = false});
  while (one.port.gets() != 0) one.port.end_get();
  EXPECT_EQ(one.over, (Pulling::Over{{0, PH_OK}}));
  EXPECT_TRUE(one.read.empty()) << "two words where one says all";
  EXPECT_EQ(one.mails[0]->landing, one.mails[0]->source);
  expect_idle(one);
}

TEST(AmPulls, pieces_end_where_a_source_block_or_a_part_ends) {
  Pulling one;
  one.begin(100, {.blocks = {30, 50, 20}, .chunk_bytes = 40});
  one.run_all();
  EXPECT_EQ(one.port.sizes, (std::vector<std::size_t>{30, 10, 40, 20}));
  EXPECT_EQ(one.mails[0]->seen, one.mails[0]->source);
}

TEST(AmPulls, parts_come_in_order_whatever_the_order_of_their_gets) {
  Pulling one;
  one.begin(80, {.blocks = {10, 10, 20, 20, 20}, .chunk_bytes = 20});
  ASSERT_EQ(one.port.gets(), 5u);
  one.port.end_get();
  EXPECT_FALSE(one.run_one()) << "half of the first part is there";
  one.port.end_get();
  ASSERT_TRUE(one.run_one());
  EXPECT_FALSE(one.run_one());
  one.run_all();
  const auto& parts = one.mails[0]->parts;
  ASSERT_EQ(parts.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(parts[i].offset, 20 * i);
    EXPECT_EQ(parts[i].is_last, i == 3);
  }
  EXPECT_EQ(one.mails[0]->seen, one.mails[0]->source);
}

TEST(AmPulls, four_parts_are_under_way_until_the_first_was_handled) {
  Pulling one;
  one.begin(100, {.chunk_bytes = 10});
  EXPECT_EQ(one.port.gets(), 4u);
  one.port.end_get();
  EXPECT_EQ(one.port.gets(), 3u) << "what is resident is not bounded";
  ASSERT_TRUE(one.run_one());
  EXPECT_EQ(one.port.gets(), 4u) << "the pipeline has stopped";
  one.run_all();
  EXPECT_EQ(one.mails[0]->seen, one.mails[0]->source);
  expect_idle(one);
}

TEST(AmPulls, a_ring_of_two_places_is_filled_again_when_a_place_was_handled) {
  Pulling one;
  one.begin(95, {.chunk_bytes = 10, .places = 2});
  EXPECT_EQ(one.port.gets(), 2u);
  one.run_all();
  EXPECT_EQ(one.mails[0]->parts.size(), 10u);
  EXPECT_EQ(one.mails[0]->seen, one.mails[0]->source) << "a place was filled too early";
}

TEST(AmPulls, sixteen_gets_are_under_way_of_one_with_many_blocks) {
  Pulling one;
  one.begin(40, {.blocks = std::vector<std::size_t>(40, 1)});
  EXPECT_EQ(one.port.gets(), 16u);
  one.run_all();
  EXPECT_EQ(one.mails[0]->seen, one.mails[0]->source);
}

TEST(AmPulls, one_source_leaves_three_quarters_of_the_gets_to_others) {
  Pulling one;
  const std::uint64_t most = one.port.config().requests / 16;
  for (std::uint64_t i = 0; i < most + 10; ++i) one.begin(10, {.from = 1});
  EXPECT_EQ(one.port.gets(), most);
  one.begin(10, {.from = 2});
  EXPECT_EQ(one.port.gets(), most + 1);
  one.run_all();
  EXPECT_EQ(one.over.size(), most + 11);
  expect_idle(one);
}

TEST(AmPulls, those_that_the_quota_stops_go_on_in_order_and_sources_take_turns) {
  Pulling one;
  one.port.refuse(0, FakePort::kNever);
  for (int i = 0; i < 3; ++i) one.begin(10, {.from = 1});
  for (int i = 0; i < 3; ++i) one.begin(10, {.from = 2});
  EXPECT_EQ(one.port.gets(), 0u);
  one.port.refuse_nothing();
  one.pulls.on_local(1, std::uint64_t{1} << 63, PH_OK);  // what another part of the service did
  EXPECT_EQ(one.port.gets(), 6u);
  while (one.port.gets() != 0) one.port.end_get();
  EXPECT_EQ(one.read, (std::vector<std::uint64_t>{0, 3, 1, 4, 2, 5}));
  one.run_all();
  expect_idle(one);
}

TEST(AmPulls, a_source_with_more_than_its_share_is_found) {
  Pulling one;
  for (int i = 0; i < 1024; ++i) {
    one.arrive(10, {});
    ASSERT_NE(one.mails.back()->pull, nullptr);
  }
  one.arrive(10, {});
  EXPECT_EQ(one.mails.back()->pull, nullptr);
  one.arrive(10, {.from = 2});
  EXPECT_NE(one.mails.back()->pull, nullptr);
  one.pulls.end(*one.mails[0]->pull, PH_OK);
  one.arrive(10, {});
  EXPECT_NE(one.mails.back()->pull, nullptr);
}

// Every order of ends, of handlers and of refusals: what is told is what was sent.
TEST(AmPulls, drawn_orders_lose_and_double_nothing) {
  std::uint64_t seed = 1;
  const auto draw = [&](std::uint64_t below) {
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (seed >> 33) % below;
  };
  for (int round = 0; round < 200; ++round) {
    Pulling one;
    std::size_t begun = 0;
    for (int step = 0; step < 300; ++step) {
      switch (draw(5)) {
        case 0: {
          Pulling::How how;
          how.from = static_cast<Rank>(1 + draw(3));
          const std::size_t size = 1 + draw(200);
          how.chunk_bytes = draw(3) == 0 ? 0 : 1 + draw(60);
          how.places = how.chunk_bytes != 0 && draw(2) == 0 ? 2 + draw(5) : 0;
          how.has_done = draw(5) != 0;
          for (std::size_t left = size; left != 0;) {
            how.blocks.push_back(1 + draw(left));
            left -= how.blocks.back();
          }
          one.begin(size, how);
          ++begun;
          break;
        }
        case 1: one.port.refuse(draw(3), draw(4)); break;
        case 2: one.run_one(); break;
        default:
          if (one.port.gets() != 0) one.port.end_get();
      }
    }
    one.port.refuse_nothing();
    one.pulls.on_local(1, std::uint64_t{1} << 63, PH_OK);
    one.run_all();
    ASSERT_EQ(one.over.size(), begun) << "round " << round;
    for (const auto& mail : one.mails) {
      const bool is_ring = mail->landing.size() != mail->source.size();
      if (mail->has_done) {
        ASSERT_EQ(mail->seen, mail->source) << "round " << round;
      } else if (!is_ring) {
        ASSERT_EQ(mail->landing, mail->source) << "round " << round;
      }
    }
    expect_idle(one);
  }
}

}  // namespace
}  // namespace photon::service::am
