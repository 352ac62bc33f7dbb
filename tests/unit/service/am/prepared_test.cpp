// Spans that the user fills: where they stand, and that each is open once.
#include "service/am/prepared.hpp"

#include "am_sending.hpp"
#include "shortage.hpp"

namespace photon::service::am::sending_test {
namespace {

struct Preparing {
  Preparing() {
    port.settings.bulk_bytes = 1 << 20;
    port.reserves = true;
    port.serve(half);
  }
  ph_status open(std::uint64_t least, std::uint64_t most, bool may_reserve = true) {
    return prepared.open(1, least, most, may_reserve, slot);
  }

  AmPort port;
  Gates gates{4, 8};
  Half half{port, gates};
  Prepared prepared{port};
  ph_am_slot slot{};
};

TEST(AmPrepared, a_span_stands_in_the_ring_with_room_for_a_header_behind_it) {
  Preparing one;
  ASSERT_EQ(one.open(100, 5001), PH_OK);
  EXPECT_EQ(one.slot.size_bytes, 5001u);
  EXPECT_EQ(one.port.reserved(), 5008u + 4096);
  EXPECT_TRUE(one.prepared.is_open(one.slot));
  EXPECT_EQ(one.prepared.held(), 1u);
  one.prepared.close(1);
  EXPECT_FALSE(one.port.is_reserved());
  EXPECT_FALSE(one.prepared.is_open(one.slot)) << "it is stale";
  EXPECT_EQ(one.prepared.held(), 0u);
}

TEST(AmPrepared, less_is_taken_where_there_is_no_room_for_all) {
  for (std::uint64_t refusals = 0; refusals < 6; ++refusals) {
    Preparing one;
    one.port.refuse(0, refusals);
    ASSERT_EQ(one.open(1500, 8000), PH_OK);
    const std::uint64_t sizes[] = {8000, 4000, 2000, 1500, 1500, 1500};
    EXPECT_EQ(one.slot.size_bytes, sizes[refusals]);
    EXPECT_EQ(one.port.is_reserved(), refusals < 4) << "else in private memory";
    std::memset(one.slot.data, 1, one.slot.size_bytes);
    one.prepared.close(1);
  }
}

TEST(AmPrepared, no_more_than_a_quarter_of_the_ring_is_asked_for) {
  Preparing one;
  one.port.settings.bulk_bytes = 64 << 10;
  ASSERT_EQ(one.open(1, 32 << 10), PH_OK);
  EXPECT_EQ(one.port.reserved(), 16u << 10);
  EXPECT_EQ(one.slot.size_bytes, 12u << 10);
  one.prepared.close(1);
  ASSERT_EQ(one.open((12 << 10) + 1, 32 << 10), PH_OK);
  EXPECT_FALSE(one.port.is_reserved());
  EXPECT_EQ(one.slot.size_bytes, (12u << 10) + 1);
}

TEST(AmPrepared, private_memory_begins_at_a_multiple_of_64) {
  for (std::uint64_t size = 1; size < 5000; size = size * 3 + 1) {
    Preparing one;
    ASSERT_EQ(one.open(size, size, false), PH_OK);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(one.slot.data) % 64, 0u);
    EXPECT_EQ(one.slot.size_bytes, size);
    EXPECT_FALSE(one.port.is_reserved());
  }
}

TEST(AmPrepared, one_of_a_rank_is_open) {
  Preparing one;
  ASSERT_EQ(one.open(8, 8), PH_OK);
  ph_am_slot second{};
  EXPECT_EQ(one.prepared.open(1, 8, 8, true, second), PH_AGAIN);
  EXPECT_EQ(second.data, nullptr);
  EXPECT_EQ(one.prepared.open(2, 8, 8, false, second), PH_OK) << "each rank has its own";
  EXPECT_TRUE(one.prepared.is_open(one.slot));
  second.rank = 1;
  EXPECT_FALSE(one.prepared.is_open(second)) << "of another rank";
  second.rank = 99;
  EXPECT_FALSE(one.prepared.is_open(second));
  EXPECT_FALSE(one.prepared.is_open({}));
  one.prepared.close_all();
  EXPECT_EQ(one.prepared.held(), 0u);
  EXPECT_EQ(one.port.unheard, (std::vector<ph_status>{PH_ERR_STATE, PH_ERR_STATE}));
}

TEST(AmPrepared, without_memory_nothing_is_open) {
  Preparing one;
  {
    const photon::test::Shortage shortage(0);
    EXPECT_THROW(static_cast<void>(one.open(8, 8, false)), std::bad_alloc);
  }
  EXPECT_EQ(one.prepared.held(), 0u);
  EXPECT_EQ(one.open(8, 8, false), PH_OK);
}

TEST(AmPrepared, a_rank_that_is_lost_meanwhile_is_an_error) {
  Preparing one;
  one.port.lose_inside(1);
  EXPECT_EQ(one.open(8, 8), PH_ERR_PEER);
  EXPECT_EQ(one.prepared.held(), 0u);
}

}  // namespace
}  // namespace photon::service::am::sending_test
