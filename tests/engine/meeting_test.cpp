// First contact: an initiator that has seen the owner's keys, but that the owner has not met, moves
// no byte by itself. Else the owner could take memory back that is being copied to.
#include <algorithm>

#include "engine_group.hpp"
#include "settings.hpp"

namespace photon::test {
namespace {

constexpr Rank kOwner = 0;
constexpr Rank kInitiator = 1;
constexpr std::size_t kPieceBytes = 64 << 10;
constexpr std::uint64_t kLocalId = 11;
constexpr std::uint64_t kRemoteId = 22;

// The owner has offered and the initiator has answered; the owner has not looked since.
class HalfMet {
 public:
  HalfMet(Ground ground, bool allocated) : ranks_(2, ground), ordinary_(kPieceBytes) {
    if (allocated)
      EXPECT_EQ(ranks_[kOwner].allocate(kPieceBytes, region_), PH_OK);
    else
      region_ = ranks_.add(kOwner, ordinary_);
    EXPECT_EQ(ranks_[kOwner].put(kInitiator, notice()), PH_OK);
    int round = 0;
    while (ranks_.probe(kInitiator, PH_REMOTE).empty()) {
      if (++round == 200'000) throw std::runtime_error("the offer was never seen");
    }
    EXPECT_NE(ranks_.link(kInitiator, kOwner).peer_regions, nullptr) << "it sees the owner's keys";
  }

  EngineGroup& ranks() { return ranks_; }
  const ph_region& region() const { return region_; }
  // The owner's, as it sees it.
  std::span<std::byte> memory() const {
    return {reinterpret_cast<std::byte*>(region_.address), kPieceBytes};
  }
  bool untouched() const {
    const auto bytes = memory();
    return std::all_of(bytes.begin(), bytes.end(),
                       [](std::byte one) { return one == std::byte{}; });
  }
  ph_status put(std::span<const std::byte> source, std::uint32_t flags = 0) {
    ph_put_args args = put_args(source, ph_at(&region_, 0), kLocalId, kRemoteId);
    args.flags = flags;
    return ranks_[kInitiator].put(kOwner, args);
  }
  // Long enough for the initiator to think that the owner has stalled.
  void serve_initiator() {
    for (int i = 0; i < 3000; ++i) ranks_[kInitiator].serve();
  }

 private:
  EngineGroup ranks_;
  std::vector<std::byte> ordinary_;
  ph_region region_{};
};

class Meeting : public testing::TestWithParam<Ground> {};
INSTANTIATE_TEST_SUITE_P(Grounds, Meeting, testing::Values(Ground::shm, Ground::shm_two),
                         ground_name);

TEST_P(Meeting, a_put_before_goes_through_the_bulk_ring_and_one_after_directly) {
  for (const bool allocated : {true, false}) {
    SCOPED_TRACE(allocated);
    HalfMet pair(GetParam(), allocated);
    const auto source = filled(kPieceBytes, 3);
    ASSERT_EQ(pair.put(source), PH_OK);
    pair.serve_initiator();
    EXPECT_TRUE(pair.untouched()) << "the initiator copied";
    EXPECT_EQ(pair.ranks().take(kOwner, PH_REMOTE).id, kRemoteId);
    EXPECT_EQ(first_difference(pair.memory(), 3), kPieceBytes);
    EXPECT_EQ(pair.ranks().take(kInitiator, PH_LOCAL).id, kLocalId);
    const bool reached = allocated || GetParam() == Ground::shm;
    const auto later = filled(4096, 4);
    ASSERT_EQ(pair.put(later, PH_NO_RCE | PH_NO_LCE), PH_OK);
    EXPECT_EQ(first_difference(pair.memory().first(4096), 4) == 4096, reached);
  }
}

TEST_P(Meeting, memory_that_is_taken_back_before_is_left_alone_by_everybody) {
  for (const bool allocated : {true, false}) {
    SCOPED_TRACE(allocated);
    HalfMet pair(GetParam(), allocated);
    auto& owner = pair.ranks()[kOwner];
    const auto source = filled(kPieceBytes, 3);
    ASSERT_EQ(pair.put(source), PH_OK);
    pair.serve_initiator();
    EXPECT_TRUE(pair.untouched()) << "it copies what the owner cannot wait for";
    EXPECT_EQ(allocated ? free_memory(owner, pair.memory().data())
                        : remove_region(owner, pair.region().key),
              PH_OK);
    pair.serve_initiator();
    EXPECT_TRUE(pair.untouched());
    ph_status last = PH_OK;
    while (last == PH_OK) last = pair.ranks().take(kInitiator, PH_LOCAL).status;
    EXPECT_EQ(last, PH_ERR_KEY);
    for (int i = 0; i < 200; ++i) pair.ranks().turn();
    EXPECT_TRUE(pair.untouched());
    EXPECT_TRUE(pair.ranks().probe(kOwner, PH_REMOTE).empty());
  }
}

TEST_P(Meeting, a_get_before_is_served_by_the_owner) {
  for (const bool allocated : {true, false}) {
    SCOPED_TRACE(allocated);
    HalfMet pair(GetParam(), allocated);
    fill(pair.memory(), 5);
    std::vector<std::byte> landing(kPieceBytes);
    ASSERT_EQ(pair.ranks()[kInitiator].get(
                  kOwner, get_args(landing, ph_at(&pair.region(), 0), kLocalId, kRemoteId)),
              PH_OK);
    pair.serve_initiator();
    EXPECT_TRUE(pair.ranks().probe(kInitiator, PH_LOCAL).empty());
    EXPECT_NE(first_difference(landing, 5), kPieceBytes) << "the initiator copied";
    EXPECT_EQ(pair.ranks().take(kInitiator, PH_LOCAL).id, kLocalId);
    EXPECT_EQ(first_difference(landing, 5), kPieceBytes);
    EXPECT_EQ(pair.ranks().take(kOwner, PH_REMOTE).id, kRemoteId);
  }
}

}  // namespace
}  // namespace photon::test
