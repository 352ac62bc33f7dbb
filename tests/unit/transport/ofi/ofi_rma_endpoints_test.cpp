// By which RMA endpoint of ours fragments leave, over the tests' own fabric.
#include <photon/memory.h>

#include "ofi_ranks.hpp"

namespace photon::transport::ofi::test {
namespace {

// Rank 0 moves memory of ranks 1 and 2 by fragments; the first of its RMA endpoints takes nothing.
class OfiRmaEndpoints : public OfiTest {
 protected:
  static constexpr std::size_t kBytes = 4096;
  static constexpr std::uint64_t kKey = 0x1200 + 5;
  using FakeRmaEndpoints = photon::test::FakeRmaEndpoints;

  void begin(const FakeManners& ours) {
    base::Config config = ofi_config();
    config.ofi_direct_least_bytes = 64;
    const FakeManners theirs{.has_rma_endpoints = true};
    ranks_ = std::make_unique<OfiRanks>(EachManners{ours, theirs, theirs}, config);
    for (const Rank rank : {1u, 2u}) {
      ASSERT_TRUE(ranks().join(0, rank));
      ranks()[rank].transport->regions()[kKey & 63].publish(
          kKey, {reinterpret_cast<std::uintptr_t>(memory_.data()), kBytes, PH_ACCESS_ALL});
    }
  }
  OfiRanks& ranks() { return *ranks_; }
  std::map<std::uint64_t, ph_status>& done() { return ranks()[0].news.done; }
  FakeRmaEndpoints& rma_endpoints() { return ranks()[0].fabric().rma_endpoints(); }
  std::uint64_t post(Rank rank, bool is_write = true) {
    PostedFragment fragment;
    fragment.rank = rank;
    fragment.address = reinterpret_cast<std::uintptr_t>(memory_.data());
    fragment.key = kKey;
    fragment.size_bytes = own_.size();
    if (is_write)
      fragment.source = own_.data();
    else
      fragment.destination = own_.data();
    fragment.token = ++tokens_;
    EXPECT_TRUE(ranks()[0].transport->post(fragment));
    return fragment.token;
  }
  ph_status outcome(std::uint64_t token) {
    ranks().eventually([&] { return done().count(token) != 0; });
    return done()[token];
  }

  std::vector<std::byte> memory_ = std::vector<std::byte>(kBytes);
  std::vector<std::byte> own_ = std::vector<std::byte>(1000, std::byte{7});
  std::uint64_t tokens_ = 100;
  std::unique_ptr<OfiRanks> ranks_;
};

TEST_F(OfiRmaEndpoints, that_do_not_reach_a_peer_are_followed_by_another_that_all_may_use) {
  begin({.has_rma_endpoints = true, .dead_rma_endpoints = 1});
  const std::uint64_t first = post(1), other = post(2);
  EXPECT_EQ(outcome(first), PH_OK);
  EXPECT_EQ(memory_[999], std::byte{7});
  EXPECT_EQ(outcome(other), PH_OK);
  EXPECT_EQ(rma_endpoints().opened(), 2u);
  std::fill(memory_.begin(), memory_.end(), std::byte{8});
  EXPECT_EQ(outcome(post(1, false)), PH_OK);
  EXPECT_EQ(own_[999], std::byte{8});
  EXPECT_EQ(rma_endpoints().opened(), 2u);
}

// The peer may compute: it is waited for, and no third RMA endpoint opened.
TEST_F(OfiRmaEndpoints, that_reach_a_peer_late_lose_nothing_and_are_no_more_than_two) {
  begin({.has_rma_endpoints = true, .dead_rma_endpoints = 1});
  rma_endpoints().answer(Taken::full);
  const std::uint64_t token = post(1);
  ASSERT_TRUE(ranks().eventually([&] { return rma_endpoints().opened() == 2; }));
  ranks().turn_for(3'500'000'000);
  EXPECT_EQ(done().count(token), 0u);
  rma_endpoints().answer(Taken::yes);
  EXPECT_EQ(outcome(token), PH_OK);
  EXPECT_EQ(rma_endpoints().opened(), 2u);
}

// Then the next fragments begin with a first RMA endpoint again.
TEST_F(OfiRmaEndpoints, end_all_together) {
  begin({.has_rma_endpoints = true, .dead_rma_endpoints = 1});
  for (int i = 0; i < 2; ++i) EXPECT_EQ(outcome(post(1)), PH_OK);  // its lease is kept
  ranks().settle();
  rma_endpoints().hold(true);
  const std::uint64_t held = post(1);
  ASSERT_EQ(rma_endpoints().fragments_under_way(), 1u);
  ranks()[1].transport.reset();  // our RMA endpoints end under it
  ASSERT_TRUE(ranks().eventually([&] { return ranks()[0].news.gone.count(1) != 0; }));
  EXPECT_EQ(done()[held], PH_ERR_PEER);
  EXPECT_EQ(rma_endpoints().fragments_under_way(), 0u);
  rma_endpoints().hold(false);
  EXPECT_EQ(outcome(post(2)), PH_OK);
  EXPECT_EQ(rma_endpoints().opened(), 3u);
}

}  // namespace
}  // namespace photon::transport::ofi::test
