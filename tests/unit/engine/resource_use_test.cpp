// What operations hold on to comes back, and shows while they do.
#include "posted_unit.hpp"

namespace photon::engine::test {
namespace {

bool is_nothing(const ResourceUse& held) {
  return held.requests == 0 && held.events == 0 && held.blocks == 0 && held.queued == 0;
}

TEST(ResourceUse, are_nothing_before_and_after_an_operation) {
  Nics two;
  EXPECT_TRUE(is_nothing(two.ranks[0].resource_use()));
  EXPECT_TRUE(is_nothing(two.ranks[1].resource_use()));
  ASSERT_EQ(two.put_fragments(2), PH_OK);
  EXPECT_EQ(two.ranks[0].resource_use().requests, 1u);
  EXPECT_EQ(two.ranks[0].resource_use().events, 1);
  two.serve(1);
  EXPECT_EQ(two.ranks[1].resource_use().queued, 1u) << "the id that is coming";
  two.land_all();
  EXPECT_EQ(two.ranks[0].resource_use().requests, 0u);
  EXPECT_EQ(two.ranks[0].resource_use().events, 1) << "the local id waits";
  EXPECT_EQ(two.local(), Ids{two.local_id});
  EXPECT_EQ(two.remote(), Ids{two.remote_id});
  EXPECT_TRUE(is_nothing(two.ranks[0].resource_use()));
  EXPECT_TRUE(is_nothing(two.ranks[1].resource_use()));
}

TEST(ResourceUse, blocks_of_long_ids_and_of_queued_payloads_come_back) {
  Nics two;
  two.fill_ledger();
  const std::string id = "an id of more bytes than eight";
  ph_put_args args = two.put({two.memory.data(), 16});
  args.local = args.remote = {id.data(), static_cast<std::uint32_t>(id.size())};
  ASSERT_EQ(two.ranks[0].put(1, args), PH_OK);
  EXPECT_EQ(two.ranks[0].resource_use().blocks, 3u) << "two ids and a payload";
  EXPECT_GE(two.ranks[0].resource_use().most_blocks, 3u);
  EXPECT_EQ(two.remote().size(), 4u);
  two.serve();
  two.serve(1);
  two.expect_long_ids(id);
  EXPECT_TRUE(is_nothing(two.ranks[0].resource_use()));
  EXPECT_TRUE(is_nothing(two.ranks[1].resource_use()));
}

// An id that was withdrawn gives back what it held at its target.
TEST(ResourceUse, a_withdrawn_id_holds_nothing) {
  Nics two;
  const std::string id = "an id of more bytes than eight";
  const auto bytes = filled(kFragment, 7);
  ph_put_args args = two.put(bytes);
  args.remote = {id.data(), static_cast<std::uint32_t>(id.size())};
  ASSERT_EQ(two.ranks[0].put(1, args), PH_OK);
  two.serve(1);
  EXPECT_EQ(two.ranks[1].resource_use().blocks, 1u);
  two.refuse();
  two.serve();
  two.serve(1);
  EXPECT_TRUE(is_nothing(two.ranks[1].resource_use()));
}

}  // namespace
}  // namespace photon::engine::test
