// What an owner answers, and when its memory is its own again.
#include "transport/ofi/ofi_exposures.hpp"

#include <gtest/gtest.h>
#include <photon/memory.h>

#include <vector>

#include "fake_fabric.hpp"

namespace photon::transport::ofi {
namespace {

using photon::test::FakeFabric;
using photon::test::FakeManners;

constexpr std::uint64_t kOneKey = 0x120 + 3;
constexpr std::uint64_t kOtherKey = 0x340 + 4;

class OfiExposures : public testing::Test {
 protected:
  static FabricWants wants() {
    return {.provider = "fake", .domain = "here", .peers_count = 2, .fragments_count = 4};
  }
  static std::uint64_t at(const std::vector<std::byte>& memory) {
    return reinterpret_cast<std::uintptr_t>(memory.data());
  }
  void publish(std::uint64_t key, std::uint32_t access = PH_ACCESS_ALL) {
    regions[key & 15].publish(key, {at(memory), memory.size(), access});
  }
  void TearDown() override { exposures.end_rma_endpoint(); }

  std::vector<std::byte> memory = std::vector<std::byte>(4096);
  std::vector<RegionEntry> regions = std::vector<RegionEntry>(16);
  FakeManners manners{.has_rma_endpoints = true};
  FakeFabric fabric{manners, wants()};
  Exposures exposures{fabric, regions};
};

TEST_F(OfiExposures, a_live_key_is_granted_and_exposed_once_for_all) {
  publish(kOneKey, PH_ACCESS_READ);
  const auto first = exposures.answer(1, kOneKey);
  const auto again = exposures.answer(1, kOneKey);
  const auto other = exposures.answer(2, kOneKey);
  EXPECT_EQ(first.status, PH_OK);
  EXPECT_EQ(first.address, at(memory));
  EXPECT_EQ(first.size_bytes, memory.size());
  EXPECT_EQ(first.access, std::uint32_t{PH_ACCESS_READ});
  EXPECT_EQ(first.rma_endpoint, 1u);
  EXPECT_NE(first.rma_endpoint_key, kOneKey) << "an RMA endpoint's key is a secret of its own";
  EXPECT_EQ(first.rma_endpoint_bytes, 8u);
  EXPECT_EQ(other.rma_endpoint_key, first.rma_endpoint_key);
  EXPECT_EQ(again.rma_endpoint_key, first.rma_endpoint_key);
  EXPECT_EQ(fabric.rma_endpoints().exposed(), 1u);
  EXPECT_EQ(fabric.rma_endpoints().opened(), 1u);
  EXPECT_FALSE(exposures.collect());
}

TEST_F(OfiExposures, what_there_is_not_is_refused_and_opens_none) {
  EXPECT_EQ(exposures.answer(1, kOneKey).status, PH_ERR_KEY);
  EXPECT_EQ(exposures.answer(1, 0).status, PH_ERR_KEY);
  regions[3].publish(kOneKey, {at(memory), 0, PH_ACCESS_ALL});
  EXPECT_EQ(exposures.answer(1, kOneKey).status, PH_ERR_RANGE);
  EXPECT_EQ(fabric.rma_endpoints().opened(), 0u);
  EXPECT_EQ(exposures.end_rma_endpoint(), 0u);
}

TEST_F(OfiExposures, revoked_memory_stays_exposed_until_nobody_holds_a_lease) {
  publish(kOneKey);
  publish(kOtherKey);
  for (const Rank rank : {1u, 2u}) exposures.answer(rank, kOneKey);
  exposures.answer(1, kOtherKey);
  regions[3].revoke();
  EXPECT_TRUE(exposures.collect());
  EXPECT_EQ(exposures.stale_holders().size(), 2u);
  exposures.given(1, kOneKey);
  EXPECT_TRUE(exposures.collect());
  EXPECT_EQ(exposures.answer(2, kOneKey).status, PH_ERR_KEY);
  exposures.given(2, kOneKey);
  exposures.given(2, kOneKey);  // once more
  exposures.given(2, 99);
  EXPECT_FALSE(exposures.collect());
  EXPECT_EQ(fabric.rma_endpoints().exposed(), 1u) << "the other one";
  EXPECT_TRUE(exposures.is_holder(1));
  EXPECT_FALSE(exposures.is_holder(2));
}

TEST_F(OfiExposures, the_end_of_the_rma_endpoint_ends_all_leases) {
  publish(kOneKey);
  publish(kOtherKey);
  exposures.answer(1, kOneKey);
  exposures.answer(2, kOtherKey);
  regions[3].revoke();
  EXPECT_EQ(exposures.end_rma_endpoint(), 1u);
  EXPECT_FALSE(exposures.collect());
  EXPECT_EQ(fabric.rma_endpoints().exposed(), 0u) << "an exposure may belong to its RMA endpoint";
  EXPECT_FALSE(exposures.is_holder(2));
  EXPECT_EQ(exposures.answer(2, kOtherKey).rma_endpoint, 2u);
  EXPECT_EQ(fabric.rma_endpoints().exposed(), 1u);
}

TEST_F(OfiExposures, what_the_endpoint_info_has_no_room_for_is_refused_with_its_words) {
  FakeManners full = manners;
  full.opens_none = true;
  FakeFabric other(full, wants());
  Exposures none(other, regions);
  publish(kOneKey);
  EXPECT_EQ(none.answer(1, kOneKey).status, PH_ERR_SYSTEM);
  EXPECT_NE(none.trouble().find("no fake RMA endpoint"), std::string::npos);
  EXPECT_FALSE(none.is_holder(1));
}

}  // namespace
}  // namespace photon::transport::ofi
