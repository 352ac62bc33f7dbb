// Keys, counts and the check of an access, at every border.
#include "engine/region_book.hpp"

#include <gtest/gtest.h>

#include <set>

namespace photon::engine {
namespace {

class RegionBookTest : public testing::Test {
 protected:
  std::vector<transport::RegionEntry> table_{16};
  RegionBook book_{table_, seeded_keys(7)};

  ph_status check(std::uint64_t address, std::uint64_t key, std::uint64_t size) const {
    return check_access(table_, {address, key}, size, PH_ACCESS_WRITE);
  }
};

TEST_F(RegionBookTest, an_access_is_checked_at_every_border_without_wrapping_around) {
  const auto region = book_.add({1000, 100, 0}, PH_ACCESS_WRITE, false);
  ASSERT_TRUE(region);
  const std::uint64_t key = region->key;
  EXPECT_EQ(check(1000, key, 100), PH_OK);
  EXPECT_EQ(check(1099, key, 1), PH_OK);
  EXPECT_EQ(check(1100, key, 0), PH_OK);
  EXPECT_EQ(check(999, key, 1), PH_ERR_RANGE);
  EXPECT_EQ(check(1000, key, 101), PH_ERR_RANGE);
  EXPECT_EQ(check(1100, key, 1), PH_ERR_RANGE);
  EXPECT_EQ(check(1001, key, ~0ull), PH_ERR_RANGE);
  EXPECT_EQ(check(~0ull, key, 2000), PH_ERR_RANGE);
  EXPECT_EQ(check(0, key, ~0ull), PH_ERR_RANGE);
  EXPECT_EQ(check(1000, key ^ 1ull << 63, 1), PH_ERR_KEY);
  EXPECT_EQ(check(1000, key + 1, 1), PH_ERR_KEY);
  EXPECT_EQ(check(1000, 0, 1), PH_ERR_KEY);
  EXPECT_EQ(check_access(table_, {1000, key}, 1, PH_ACCESS_READ), PH_ERR_ACCESS);
  EXPECT_EQ(check_access(table_, {1000, key}, 1, PH_ACCESS_ALL), PH_ERR_ACCESS);
}

TEST_F(RegionBookTest, the_same_range_and_access_count_and_the_last_removal_makes_the_key_stale) {
  const auto first = book_.add({1000, 100, 0}, PH_ACCESS_WRITE, false);
  const auto again = book_.add({1000, 100, 0}, PH_ACCESS_WRITE, false);
  EXPECT_EQ(first->key, again->key);
  EXPECT_NE(book_.add({1000, 100, 0}, PH_ACCESS_ALL, false)->key, first->key);
  EXPECT_NE(book_.add({1000, 101, 0}, PH_ACCESS_WRITE, false)->key, first->key);
  EXPECT_NE(book_.add({1000, 100, 0}, PH_ACCESS_WRITE, true)->key, first->key) << "allocated";
  const auto slot = book_.slot_of(first->key);
  ASSERT_GE(slot, 0);
  EXPECT_FALSE(book_.remove(slot));
  EXPECT_EQ(check(1000, first->key, 1), PH_OK);
  EXPECT_TRUE(book_.remove(slot));
  EXPECT_EQ(check(1000, first->key, 1), PH_ERR_KEY);
  EXPECT_EQ(book_.slot_of(first->key), slot) << "occupied until its copies have ended";
  book_.release(slot);
  EXPECT_EQ(book_.slot_of(first->key), -1);
}

TEST_F(RegionBookTest, a_slot_used_again_has_a_new_key_each_time) {
  std::set<std::uint64_t> keys;
  for (int i = 0; i < 1000; ++i) {
    const auto region = book_.add({1000, 100, 0}, PH_ACCESS_WRITE, false);
    EXPECT_TRUE(keys.insert(region->key).second);
    const auto slot = book_.slot_of(region->key);
    book_.remove(slot);
    book_.release(slot);
  }
  EXPECT_EQ(book_.slots_used(), 1u);
}

TEST_F(RegionBookTest, a_full_table_is_an_error_that_names_the_setting) {
  for (std::uint64_t i = 0; i < 16; ++i)
    ASSERT_TRUE(book_.add({1000 + i, 1, 0}, PH_ACCESS_WRITE, false));
  const auto one_more = book_.add({5000, 1, 0}, PH_ACCESS_WRITE, false);
  ASSERT_FALSE(one_more);
  EXPECT_EQ(one_more.error().status, PH_ERR_MEMORY);
  EXPECT_NE(one_more.error().what.find("PHOTON_MAX_REGIONS"), std::string::npos);
}

TEST_F(RegionBookTest, the_smallest_region_around_a_range_is_found) {
  const auto wide = book_.add({1000, 1000, 0}, PH_ACCESS_WRITE, false);
  const auto narrow = book_.add({1100, 100, 0}, PH_ACCESS_WRITE, true);
  EXPECT_EQ(book_.find(1150, 50)->key, narrow->key);
  EXPECT_EQ(book_.find(1150, 51)->key, wide->key);
  EXPECT_EQ(book_.find(1999, 2), nullptr);
  EXPECT_EQ(book_.find(1999, ~0ull), nullptr);
  EXPECT_EQ(book_.find_allocated(1100), book_.slot_of(narrow->key));
  EXPECT_EQ(book_.find_allocated(1101), -1);
  EXPECT_EQ(book_.find_allocated(1000), -1) << "registered, not allocated";
}

TEST_F(RegionBookTest, all_keys_can_be_revoked_at_once) {
  const auto one = book_.add({1000, 100, 0}, PH_ACCESS_WRITE, false);
  const auto two = book_.add({2000, 100, 0}, PH_ACCESS_WRITE, true);
  book_.revoke_all();
  EXPECT_EQ(check(1000, one->key, 1), PH_ERR_KEY);
  EXPECT_EQ(check(2000, two->key, 1), PH_ERR_KEY);
}

}  // namespace
}  // namespace photon::engine
