// Posting puts: which way each takes, and the limit on what is under way.
#include "engine_unit.hpp"

namespace photon::engine::test {
namespace {

wire::Header header_of(Two& two, std::size_t line) {
  return *wire::decode(two.ranks.link(0, 1).tx_lines[line].tag_word() & ~0xffffull);
}

TEST(Put, a_small_put_is_one_record_with_everything_in_it) {
  Two two;
  const auto source = filled(32, 5);
  ASSERT_EQ(two.ranks[0].put_u64(1, {source.data(), 32}, ph_at(&two.region, 0), {1, 2}), PH_OK);
  const auto header = header_of(two, 1);  // line 0 was the meeting
  EXPECT_EQ(header.kind, wire::Kind::put);
  EXPECT_EQ(header.lines, 1u);
  EXPECT_EQ(header.id_bytes, 8u);
  EXPECT_EQ(header.payload_bytes, 32u);
  EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, 2u);
  EXPECT_EQ(first_difference(two.memory.bytes().first(32), 5), 32u);
}

TEST(Put, sizes_around_the_thresholds_take_the_record_the_bulk_ring_or_the_direct_way) {
  struct Way {
    Reach::Kind reach;
    std::size_t size_bytes;
    wire::Kind kind;
    std::uint32_t payload_bytes;
  };
  const Way ways[] = {{Reach::Kind::mapped, 32, wire::Kind::put, 32},
                      {Reach::Kind::mapped, 33, wire::Kind::put, 0},  // mapped_min: the id only
                      {Reach::Kind::mapped, 4096, wire::Kind::put, 0},
                      {Reach::Kind::none, 192, wire::Kind::put, 192},  // packed_max
                      {Reach::Kind::none, 193, wire::Kind::bulk, 0},
                      {Reach::Kind::none, 4096, wire::Kind::bulk, 0},
                      {Reach::Kind::posted, 192, wire::Kind::put, 192},
                      {Reach::Kind::posted, 4095, wire::Kind::bulk, 0}};  // direct_min
  for (const Way& way : ways) {
    Two two(options(way.reach));
    const auto source = filled(way.size_bytes, 6);
    ASSERT_EQ(two.ranks[0].put(1, two.put(source)), PH_OK);
    EXPECT_EQ(header_of(two, 1).kind, way.kind) << way.size_bytes;
    EXPECT_EQ(header_of(two, 1).payload_bytes, way.payload_bytes) << way.size_bytes;
    EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
    EXPECT_EQ(first_difference(two.memory.bytes().first(way.size_bytes), 6), way.size_bytes);
  }
}

TEST(Put, a_call_copies_one_piece_of_a_direct_put_and_progress_the_rest) {
  Two two(options(Reach::Kind::mapped));
  const auto source = filled(10000, 6);
  ASSERT_EQ(two.ranks[0].put(1, two.put(source)), PH_OK);
  EXPECT_EQ(first_difference(two.memory.bytes().first(10000), 6), 4096u) << "piece_bytes";
  EXPECT_EQ(two.ranks.take(0, PH_LOCAL).id, two.local_id);
  EXPECT_EQ(first_difference(two.memory.bytes().first(10000), 6), 10000u);
}

TEST(Put, a_direct_put_whose_target_leaves_in_the_middle_is_told_that_it_left) {
  for (const Reach::Kind then : {Reach::Kind::none, Reach::Kind::mapped}) {
    Two two(options(Reach::Kind::mapped));
    const auto source = filled(10000, 6);
    ASSERT_EQ(two.ranks[0].put(1, two.put(source)), PH_OK);
    auto& net = two.ranks.net();
    net.options.reach = then;
    net.way(0, 1).credits.hide();
    const ph_completion local = two.ranks.take(0, PH_LOCAL);
    EXPECT_EQ(local.id, two.local_id);
    EXPECT_EQ(local.status, PH_ERR_DEPARTED);
  }
}

TEST(Put, a_direct_put_whose_path_goes_in_the_middle_lands_by_records) {
  Two two(options(Reach::Kind::mapped));
  const auto source = filled(10000, 6);
  ASSERT_EQ(two.ranks[0].put(1, two.put(source)), PH_OK);
  EXPECT_EQ(first_difference(two.memory.bytes().first(10000), 6), 4096u) << "piece_bytes";
  two.ranks.net().options.reach = Reach::Kind::none;
  const ph_completion local = two.ranks.take(0, PH_LOCAL);
  EXPECT_EQ(local.id, two.local_id);
  EXPECT_EQ(local.status, PH_OK);
  EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
  EXPECT_EQ(first_difference(two.memory.bytes().first(10000), 6), 10000u);
}

TEST(Put, a_source_of_a_packed_put_may_change_at_once_also_without_credit) {
  Two two;
  for (std::uint64_t i = 0; i < 10; ++i) {
    std::uint64_t value = i;
    ASSERT_EQ(two.ranks[0].put_u64(1, {&value, 8}, ph_at(&two.region, 8 * i), {i, i}), PH_OK);
    value = 999;
  }
  for (std::uint64_t i = 0; i < 10; ++i) EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, i);
  for (std::uint64_t i = 0; i < 10; ++i)
    EXPECT_EQ(reinterpret_cast<std::uint64_t*>(two.memory.data())[i], i);
}

TEST(Put, nothing_is_started_once_all_requests_are_used) {
  Two two;
  std::uint64_t accepted = 0;
  while (two.ranks[0].put_u64(1, {nullptr, 0}, {}, {accepted, accepted}) == PH_OK) {
    ASSERT_LE(++accepted, 64u);
  }
  EXPECT_EQ(accepted, 64u);
  EXPECT_EQ(two.ranks[0].put(1, two.put({})), PH_AGAIN);
  for (std::uint64_t i = 0; i < accepted; ++i) EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, i);
  for (int i = 0; i < 200; ++i) two.ranks.turn();
  EXPECT_EQ(two.count(1, PH_REMOTE), 0u) << "a refused put was sent";
  EXPECT_EQ(two.count(0, PH_LOCAL), accepted);
  EXPECT_EQ(two.ranks[0].put(1, two.put({})), PH_OK);
}

}  // namespace
}  // namespace photon::engine::test
