// Gets by every path, and fences that cost nothing where nothing is under way.
#include <cstring>

#include "engine_unit.hpp"

namespace photon::engine::test {
namespace {

class GetPaths : public testing::TestWithParam<Reach::Kind> {};

TEST_P(GetPaths, a_get_lands_whole_in_pieces_and_tells_the_owner_after_it) {
  Two two(options(GetParam()));
  fill(two.memory.bytes(), 3);
  two.get_until_kernel(20000);
  const auto calls_before = two.ranks.net().seats[0].calls_count;
  std::vector<std::byte> landing(20000);  // several pieces, several bulk rings
  ASSERT_EQ(two.ranks[0].get(1, two.get(landing)), PH_OK);
  EXPECT_EQ(two.ranks.take(0, PH_LOCAL).id, two.local_id);
  EXPECT_EQ(first_difference(landing, 3), landing.size());
  EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
  const auto calls = two.ranks.net().seats[0].calls_count - calls_before;
  EXPECT_EQ(calls, GetParam() == Reach::Kind::call ? 5u : 0u) << "pieces of 4 KiB";
}

TEST_P(GetPaths, a_get_whose_path_goes_in_the_middle_comes_from_its_owner) {
  Two two(options(GetParam()));
  fill(two.memory.bytes(), 3);
  two.get_until_kernel(20000);
  std::vector<std::byte> landing(20000);
  ASSERT_EQ(two.ranks[0].get(1, two.get(landing)), PH_OK);
  const bool is_ours = GetParam() != Reach::Kind::none;
  EXPECT_EQ(first_difference(landing, 3), is_ours ? 4096u : 0u) << "piece_bytes";
  two.ranks.net().options.reach = Reach::Kind::none;
  const ph_completion done = two.ranks.take(0, PH_LOCAL);
  EXPECT_EQ(done.id, two.local_id);
  EXPECT_EQ(done.status, PH_OK);
  EXPECT_EQ(first_difference(landing, 3), landing.size());
  EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
}

TEST_P(GetPaths, a_get_under_a_key_that_goes_stale_in_the_middle_ends_with_an_error) {
  Two two(options(GetParam()));
  two.get_until_kernel(60000);
  std::vector<std::byte> landing(60000);
  ASSERT_EQ(two.ranks[0].get(1, two.get(landing)), PH_OK);
  two.ranks[1].serve();
  ASSERT_EQ(remove_region(two.ranks[1], two.region.key), PH_OK);
  const ph_completion done = two.ranks.take(0, PH_LOCAL);
  EXPECT_EQ(done.status, PH_ERR_KEY);
  EXPECT_EQ(done.id, two.local_id);
  EXPECT_EQ(two.count(1, PH_REMOTE), 0u) << "the notice of a failed get was delivered";
}

TEST_P(GetPaths, of_one_piece_that_we_copy_is_over_when_the_call_returns) {
  Two two(options(GetParam()));
  fill(two.memory.bytes(), 3);
  ASSERT_EQ(two.ranks[0].put(1, two.put({})), PH_OK);  // they have met
  EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
  EXPECT_EQ(two.ranks.take(0, PH_LOCAL).id, two.local_id);
  std::vector<std::byte> landing(100);
  ph_get_args args = two.get(landing);
  ph_request request = 99;
  args.request = &request;
  args.local = {};
  ASSERT_EQ(two.ranks[0].get(1, args), PH_OK);
  const bool is_ours = GetParam() != Reach::Kind::none;
  EXPECT_EQ(request == PH_REQUEST_NONE, is_ours);
  if (is_ours) {
    EXPECT_EQ(first_difference(landing, 3), landing.size());
  }
  EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
}

TEST_P(GetPaths, ids_that_lie_where_the_bytes_go_are_those_of_the_call) {
  Two two(options(GetParam()));
  fill(two.memory.bytes(), 3);
  std::vector<std::byte> landing(100);
  const std::uint64_t local = 41, remote = 42;
  std::memcpy(&landing[5], &local, 8);
  std::memcpy(&landing[92], &remote, 8);
  ph_get_args args = two.get(landing);
  args.local = {&landing[5], 8};
  args.remote = {&landing[92], 8};
  ASSERT_EQ(two.ranks[0].get(1, args), PH_OK);
  EXPECT_EQ(two.ranks.take(0, PH_LOCAL).id, local);
  EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, remote);
  EXPECT_EQ(first_difference(landing, 3), landing.size());
}

INSTANTIATE_TEST_SUITE_P(Reaches, GetPaths,
                         testing::Values(Reach::Kind::none, Reach::Kind::mapped,
                                         Reach::Kind::call));

TEST(Get, a_notice_accepted_get_waits_for_room_in_the_owners_ledger) {
  Two two;
  std::vector<std::byte> landing(100);
  for (std::uint64_t i = 0; i < 4; ++i)
    ASSERT_EQ(two.ranks[0].put(1, two.put({}, PH_NO_LCE)), PH_OK);
  ASSERT_EQ(two.ranks[0].get(1, two.get(landing, PH_NOTICE_ACCEPTED)), PH_OK);
  for (int i = 0; i < 100; ++i) two.ranks.turn();
  EXPECT_EQ(two.count(0, PH_LOCAL), 0u) << "the ledger of 4 is full";
  EXPECT_EQ(two.count(1, PH_REMOTE), 4u);
  EXPECT_EQ(two.ranks.take(0, PH_LOCAL).id, two.local_id);
  EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
}

TEST(Get, flags_of_a_put_and_null_destinations_are_refused) {
  Two two;
  std::vector<std::byte> landing(8);
  EXPECT_EQ(two.ranks[0].get(1, two.get(landing, PH_DELIVERED)), PH_ERR_ARGUMENT);
  ph_get_args args = two.get(landing);
  args.destination = nullptr;
  EXPECT_EQ(two.ranks[0].get(1, args), PH_ERR_ARGUMENT);
  EXPECT_NE(two.ranks[0].last_error().what.find("get of 8 bytes"), std::string::npos);
}

TEST(Get, a_fence_with_nothing_under_way_sends_nothing) {
  EngineGroup ranks(options());
  EXPECT_EQ(ranks[0].fence(1), PH_OK);
  EXPECT_TRUE(ranks.net().seats[0].links.empty()) << "nobody was ever met";
  ranks.meet(0, 1);
  const auto kicks = ranks.net().seats[0].kicks_count;
  const auto word = ranks.link(0, 1).tx_lines[1].tag_word();
  EXPECT_EQ(ranks[0].fence(1), PH_OK);
  EXPECT_EQ(ranks.link(0, 1).tx_lines[1].tag_word(), word);
  EXPECT_EQ(ranks.net().seats[0].kicks_count, kicks);
}

}  // namespace
}  // namespace photon::engine::test
