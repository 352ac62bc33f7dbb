// Puts into mapped memory by each way that leads there (engine/parts/stores.hpp).
#include "engine_unit.hpp"

namespace photon::engine::test {
namespace {

// Mapped memory, and puts that go through the bulk ring.
struct MappedPair {
  explicit MappedPair(base::ShmCopies how) : ranks(2, Ground::fake, chosen(how)), memory(64 << 10) {
    for (Rank a : {0u, 1u}) ranks.net().link(a, 1 - a).is_memory = true;
    ranks.meet(0, 1);
    region = ranks.add(1, memory.bytes());
  }
  using Rank = transport::Rank;
  static FakeOptions chosen(base::ShmCopies how) {
    FakeOptions one = options(Reach::Kind::mapped);
    one.config.shm_copies = how;
    one.config.ledger_slots = 64;
    return one;
  }
  ph_status put(std::span<const std::byte> source, std::uint64_t id, std::uint64_t offset) {
    return ranks[0].put_u64(1, {source.data(), source.size()}, ph_at(&region, offset),
                            {id, id + 100});
  }
  EngineGroup ranks;
  Guarded memory;
  ph_region region{};
};

class MappedWays : public testing::TestWithParam<base::ShmCopies> {};
INSTANTIATE_TEST_SUITE_P(Settings, MappedWays,
                         testing::Values(base::ShmCopies::plain, base::ShmCopies::streamed,
                                         base::ShmCopies::staged));

// As long as nothing queues before it: in the bulk ring it is only as long as there is room at the
// call.
TEST_P(MappedWays, put_needs_nobody_up_to_a_piece) {
  MappedPair two(GetParam());
  std::vector<std::vector<std::byte>> sources;
  for (std::uint64_t i = 0; i < 2; ++i) {
    sources.push_back(filled(4096, i + 1));
    ASSERT_EQ(two.put(sources[i], i, i * 4096), PH_OK);
  }
  ASSERT_EQ(two.ranks[0].resource_use().requests, 0u) << "nothing queues before it";
  auto third = filled(2048, 3);
  ASSERT_EQ(two.put(third, 2, 8192), PH_OK);
  EXPECT_EQ(two.ranks[0].resource_use().requests, 0u) << "it is over";
  std::vector<std::uint64_t> ids;
  for (int i = 0; i < 1000; ++i)  // rank 0 never calls again
    for (const auto& one : two.ranks.probe(1, PH_REMOTE)) ids.push_back(one.id);
  EXPECT_EQ(ids, (std::vector<std::uint64_t>{100, 101, 102}));
}

}  // namespace
}  // namespace photon::engine::test
