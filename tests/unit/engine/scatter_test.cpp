// Scatter chunks at their target.
#include "vectored_unit.hpp"

namespace photon::engine::test {
namespace {

TEST(Scatter, a_put_larger_than_the_bulk_ring_arrives_whole_under_one_id) {
  for (const std::uint64_t size : {3u, 40u, 700u, 5000u}) {
    Two two;
    std::vector<std::byte> own = filled(60000, size);
    Blocks blocks(two, own);
    for (std::uint64_t i = 0; (i + 1) * (size + 9) < 60000; ++i)
      blocks.add(60000 - (i + 1) * size, i * (size + 9) + i % 9, size);
    ASSERT_EQ(two.ranks[0].vectored(1, blocks.put()), PH_OK);
    EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
    EXPECT_TRUE(blocks.are_equal()) << size;
    EXPECT_EQ(two.ranks.take(0, PH_LOCAL).status, PH_OK);
    EXPECT_EQ(two.count(1, PH_REMOTE), 0u);
    EXPECT_TRUE(two.memory.guards_whole());
    expect_idle(two);
  }
}

TEST(Scatter, delivered_means_that_all_segments_landed) {
  Two two;
  std::vector<std::byte> own = filled(20000, 1);
  Blocks blocks(two, own);
  blocks.add_many(150, 100);
  ASSERT_EQ(two.ranks[0].vectored(1, blocks.put(PH_DELIVERED | PH_NO_RCE)), PH_OK);
  EXPECT_EQ(two.ranks.take(0, PH_LOCAL).status, PH_OK);
  EXPECT_TRUE(blocks.are_equal());
  expect_idle(two);
}

TEST(Scatter, the_target_refuses_one_segment_and_the_id_does_not_come) {
  for (const std::size_t wrong : {0u, 7u, 99u}) {
    for (const std::uint32_t flags : {0u, std::uint32_t{PH_DELIVERED}}) {
      Two two(options(Reach::Kind::none, false));
      std::vector<std::byte> own = filled(20000, 1);
      Blocks blocks(two, own);
      blocks.add_many(100, 150);
      blocks.put_segment(wrong).target.key ^= 1ull << 40;
      ASSERT_EQ(two.ranks[0].vectored(1, blocks.put(flags)), PH_OK);
      auto done = two.ranks.take(0, PH_LOCAL);
      if (flags == 0 && done.status == PH_OK) done = two.ranks.take(0, PH_LOCAL);
      EXPECT_EQ(done.status, PH_ERR_KEY);
      EXPECT_EQ(done.id, two.local_id);
      EXPECT_EQ(two.count(1, PH_REMOTE), 0u);
      EXPECT_EQ(two.count(0, PH_LOCAL), 0u) << "one error";
      // The next one is not taken for refused.
      Blocks good(two, own);
      good.add_many(100, 150);
      ASSERT_EQ(two.ranks[0].vectored(1, good.put()), PH_OK);
      EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
      EXPECT_TRUE(good.are_equal());
    }
  }
}

// Each a chunk with one thing wrong, as another process may write it.
struct Forged {
  const char* name;
  std::vector<wire::Run> runs;
  std::uint64_t data_bytes;
};

TEST(Scatter, tables_that_do_not_fit_their_bytes_end_the_peer_and_touch_nothing_else) {
  const std::vector<Forged> all = {
      {"fewer bytes than the runs", {{0, 0, 32, 2, 32}}, 32},
      {"more bytes than the runs", {{0, 0, 32, 1, 32}}, 96},
      {"a run of no blocks", {{0, 0, 32, 0, 32}}, 32},
      {"a run of endless blocks", {{0, 0, UINT32_MAX, UINT32_MAX, 1}}, 32},
      {"a second run beyond the bytes", {{0, 0, 32, 1, 0}, {0, 0, 64, 1, 0}}, 64},
  };
  for (const Forged& one : all) {
    SCOPED_TRACE(one.name);
    Two two;
    std::vector<wire::Run> table = one.runs;
    for (auto& run : table) {
      run.address = two.region.address + 100;
      run.key = two.region.key;
    }
    auto& way = two.ranks.net().way(0, 1);
    std::memcpy(way.bulk.data(), table.data(), table.size() * sizeof(wire::Run));
    const std::uint64_t bytes = table.size() * sizeof(wire::Run) + one.data_bytes;
    auto& producer = two.ranks.link(0, 1);
    transport::Credits free{};
    LineProducer forged(producer.tx_lines, &free, 6);
    while (forged.tail() < 1) {  // behind the line that meeting has used
      forged.line(0).words[0].set(0);
      forged.publish(wire::encode(wire::Kind::put, wire::kNoId, 0), 1);
    }
    const std::uint64_t words[] = {0, table.size(), bytes | wire::kBulkFirst | wire::kBulkLast};
    for (int i = 0; i < 3; ++i) forged.line(0).words[i].set(words[i]);
    forged.publish(wire::encode(wire::Kind::scatter, wire::kNoId, 0), 1);
    for (int i = 0; i < 10; ++i) two.ranks[1].serve();
    EXPECT_EQ(two.ranks[1].put(0, notice()), PH_ERR_PROTOCOL);
    EXPECT_TRUE(two.memory.guards_whole());
  }
}

}  // namespace
}  // namespace photon::engine::test
