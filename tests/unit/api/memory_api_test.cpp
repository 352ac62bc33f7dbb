// Registration and allocation at the interface.
#include <gtest/gtest.h>
#include <photon/photon.h>

#include <cstring>

namespace photon {
namespace {

class MemoryApi : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(ph_context_create(nullptr, &context_, nullptr), PH_OK); }
  void TearDown() override {
    EXPECT_EQ(ph_finalize(context_), PH_OK);
    ph_context_destroy(context_);
  }
  ph_context* context_ = nullptr;
};

TEST_F(MemoryApi, a_region_says_where_it_is_and_the_same_call_counts) {
  char bytes[100];
  ph_region first{}, again{}, found{};
  ASSERT_EQ(ph_register(context_, bytes, sizeof bytes, PH_ACCESS_READ, &first), PH_OK);
  EXPECT_EQ(first.address, reinterpret_cast<std::uint64_t>(bytes));
  EXPECT_EQ(first.size_bytes, sizeof bytes);
  EXPECT_NE(first.key, 0u);
  ASSERT_EQ(ph_register(context_, bytes, sizeof bytes, PH_ACCESS_READ, &again), PH_OK);
  EXPECT_EQ(again.key, first.key);
  ASSERT_EQ(ph_find_region(context_, bytes + 50, 50, &found), PH_OK);
  EXPECT_EQ(found.key, first.key);
  EXPECT_EQ(ph_find_region(context_, bytes + 50, 51, &found), PH_ERR_NOT_FOUND);
  EXPECT_EQ(ph_unregister(context_, first.key), PH_OK);
  EXPECT_EQ(ph_unregister(context_, first.key), PH_OK);
  EXPECT_EQ(ph_unregister(context_, first.key), PH_ERR_KEY);
}

TEST_F(MemoryApi, allocated_memory_can_be_written_freed_and_allocated_again) {
  ph_region region{};
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(ph_alloc(context_, 10 << 20, &region), PH_OK);
    auto* bytes = reinterpret_cast<char*>(region.address);
    EXPECT_EQ(bytes[(10 << 20) - 1], 0);
    std::memset(bytes, 1, i == 0 ? 10 << 20 : 4096);
    EXPECT_EQ(ph_free(context_, bytes), PH_OK);
    EXPECT_EQ(ph_free(context_, bytes), PH_ERR_NOT_FOUND);
  }
  ASSERT_EQ(ph_alloc(context_, 1, &region), PH_OK);  // finalize releases it
}

TEST_F(MemoryApi, ph_at_is_a_place_in_a_region) {
  const ph_region region = {1000, 100, 7};
  const ph_target target = ph_at(&region, 50);
  EXPECT_EQ(target.address, 1050u);
  EXPECT_EQ(target.key, 7u);
}

}  // namespace
}  // namespace photon
