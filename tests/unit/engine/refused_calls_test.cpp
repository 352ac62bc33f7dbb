// What a call refuses before anything is sent, and the words that it leaves.
#include "engine_unit.hpp"

namespace photon::engine::test {
namespace {

bool says(Two& two, const char* words) {
  return two.ranks[0].last_error().what.find(words) != std::string::npos;
}

TEST(Refusals, a_wrong_target_is_refused_before_anything_is_sent) {
  Two two;
  const auto source = filled(8, 1);
  ph_put_args args = two.put(source);
  const auto line = two.ranks.link(0, 1).tx_lines[1].tag_word();
  args.target.key ^= 1ull << 50;
  EXPECT_EQ(two.ranks[0].put(1, args), PH_ERR_KEY);
  EXPECT_EQ(two.ranks[0].put_u64(1, {source.data(), 8}, args.target, {1, 2}), PH_ERR_KEY);
  args = two.put(source);
  args.target.address += two.region.size_bytes - 7;
  EXPECT_EQ(two.ranks[0].put(1, args), PH_ERR_RANGE);
  EXPECT_EQ(two.ranks[0].put_u64(1, {source.data(), 8}, args.target, {1, 2}), PH_ERR_RANGE);
  args.flags = 0x100;
  EXPECT_EQ(two.ranks[0].put(1, args), PH_ERR_ARGUMENT);
  EXPECT_EQ(two.ranks.link(0, 1).tx_lines[1].tag_word(), line);
  EXPECT_EQ(two.count(0, PH_LOCAL), 0u);
}

TEST(Refusals, an_id_that_is_too_long_or_has_no_data_is_named) {
  Two two;
  const std::vector<std::byte> bytes(2048);
  ph_put_args args = two.put({});
  args.local = {bytes.data(), static_cast<std::uint32_t>(bytes.size())};
  EXPECT_EQ(two.ranks[0].put(1, args), PH_ERR_ID_SIZE);
  EXPECT_TRUE(says(two, "the local id has 2048 bytes"));
  args = two.put({});
  args.remote = {nullptr, 8};
  EXPECT_EQ(two.ranks[0].put(1, args), PH_ERR_ARGUMENT);
  EXPECT_TRUE(says(two, "the remote id has bytes but its data is null"));
  EXPECT_EQ(two.count(1, PH_REMOTE), 0u);
}

TEST(Refusals, a_size_that_was_computed_below_zero_is_said_to_be_none) {
  Two two;
  const auto source = filled(8, 1);
  ph_put_args args = two.put(source);
  args.size_bytes = ~std::size_t{0};
  EXPECT_EQ(two.ranks[0].put(1, args), PH_ERR_RANGE);
  EXPECT_TRUE(says(two, "no memory is so large"));
  args = two.put(source);
  args.target.address = ~std::uint64_t{0} - 3;
  EXPECT_EQ(two.ranks[0].put(1, args), PH_ERR_RANGE);
  EXPECT_TRUE(says(two, "the peer's memory at"));
}

TEST(Refusals, a_request_is_no_local_completion_that_nobody_wants) {
  Two two;
  ph_request handle = 77;
  ph_put_args args = two.put({}, PH_NO_LCE);
  args.request = &handle;
  EXPECT_EQ(two.ranks[0].put(1, args), PH_ERR_ARGUMENT);
  EXPECT_TRUE(says(two, "PH_NO_LCE wants none"));
  EXPECT_EQ(handle, 77u);
}

TEST(Refusals, the_words_tell_of_the_rank_and_stand_until_the_next_ones) {
  Two two;
  EXPECT_EQ(two.ranks[0].put(7, two.put({})), PH_ERR_RANK);
  EXPECT_EQ(two.ranks[0].last_error().status, PH_ERR_RANK);
  EXPECT_EQ(two.ranks[0].last_error().rank, 7u);
  EXPECT_EQ(two.ranks[0].put(1, two.put({})), PH_OK);
  EXPECT_EQ(two.ranks[0].last_error().status, PH_ERR_RANK) << "what goes well says nothing";
  EXPECT_EQ(two.ranks[0].put(1, two.put({}, 0x100)), PH_ERR_ARGUMENT);
  EXPECT_EQ(two.ranks[0].last_error().rank, 1u);
}

}  // namespace
}  // namespace photon::engine::test
