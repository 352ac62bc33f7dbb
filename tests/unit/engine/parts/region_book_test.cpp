// Keys, counts and the check of an access, at every border.
#include "engine/parts/region_book.hpp"

#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <random>
#include <set>
#include <thread>

namespace photon::engine {
namespace {

using Removed = RegionBook::Removed;

class RegionBookTest : public testing::Test {
 protected:
  std::vector<transport::RegionEntry> table_{16};
  RegionBook book_{table_, seeded_keys(7)};

  ph_status check(std::uint64_t address, std::uint64_t key, std::uint64_t size) const {
    const ph_status status = check_access(table_, {address, key}, size, PH_ACCESS_WRITE);
    EXPECT_EQ(is_granted(table_, {address, key}, size, PH_ACCESS_WRITE), status == PH_OK);
    return status;
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

TEST_F(RegionBookTest, only_memory_of_ph_alloc_is_shown_as_such) {
  const auto allocated = book_.add({1000, 100, 0}, PH_ACCESS_ALL, true);
  const auto registered = book_.add({1000, 100, 0}, PH_ACCESS_ALL, false);
  EXPECT_TRUE(table_[allocated->key & 15].is_allocated(allocated->key));
  EXPECT_FALSE(table_[allocated->key & 15].is_allocated(allocated->key ^ 1u << 20));
  EXPECT_FALSE(table_[registered->key & 15].is_allocated(registered->key));
  ph_region region{};
  EXPECT_EQ(book_.remove_allocated(1000, region), Removed::stale);
  EXPECT_FALSE(table_[allocated->key & 15].is_allocated(allocated->key));
}

TEST_F(RegionBookTest, a_shelved_slot_is_freed_for_its_owner_and_occupied_until_it_is_released) {
  const auto added = book_.add({1000, 100, 0}, PH_ACCESS_ALL, true);
  ph_region region{};
  EXPECT_FALSE(book_.shelve(*added)) << "it is live";
  ASSERT_EQ(book_.remove_allocated(1000, region), Removed::stale);
  EXPECT_TRUE(book_.shelve(region));
  EXPECT_FALSE(book_.shelve(region)) << "another thread was first";
  EXPECT_EQ(book_.remove_allocated(1000, region), Removed::unknown);
  EXPECT_EQ(book_.slot_of(added->key), static_cast<std::int64_t>(added->key & 15));
  for (int i = 0; i < 15; ++i) EXPECT_TRUE(book_.add({2000, 100, 0}, PH_ACCESS_ALL, true));
  EXPECT_FALSE(book_.add({2000, 100, 0}, PH_ACCESS_ALL, true));
  EXPECT_FALSE(book_.release(*added)) << "of another thread, that saw nobody hold it";
  EXPECT_TRUE(book_.unshelve(*added));
  EXPECT_FALSE(book_.unshelve(*added));
  EXPECT_TRUE(book_.add({2000, 100, 0}, PH_ACCESS_ALL, true));
}

TEST_F(RegionBookTest, a_slot_that_somebody_may_have_mapped_for_ever_is_kept) {
  const auto added = book_.add({1000, 100, 0}, PH_ACCESS_ALL, true);
  EXPECT_FALSE(book_.is_kept(added->key & 15));
  book_.keep(added->key & 15);
  book_.keep(15);  // a peer writes there what it likes
  EXPECT_TRUE(book_.is_kept(added->key & 15));
  EXPECT_FALSE(book_.is_kept(15));
}

TEST_F(RegionBookTest, what_two_exposers_expose_is_counted_apart_and_found_by_nobody) {
  const std::uint32_t one = book_.new_exposer(), other = book_.new_exposer();
  const auto first = book_.add({1000, 100, 0}, PH_ACCESS_WRITE | one, false);
  const auto again = book_.add({1000, 100, 0}, PH_ACCESS_WRITE | one, false);
  const auto others = book_.add({1000, 100, 0}, PH_ACCESS_WRITE | other, false);
  ASSERT_TRUE(first && again && others);
  EXPECT_EQ(first->key, again->key);
  EXPECT_NE(first->key, others->key);
  EXPECT_FALSE(book_.find(1000, 1));
  ph_region region{};
  EXPECT_EQ(book_.remove(first->key, region), Removed::counted_down);
  EXPECT_EQ(book_.remove(first->key, region), Removed::stale);
  EXPECT_EQ(check(1000, first->key, 1), PH_ERR_KEY);
  EXPECT_EQ(check(1000, others->key, 1), PH_OK);
  EXPECT_EQ(check_access(table_, {1000, others->key}, 1, PH_ACCESS_READ), PH_ERR_ACCESS);
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
  ph_region region{};
  EXPECT_EQ(book_.remove(first->key, region), Removed::counted_down);
  EXPECT_EQ(check(1000, first->key, 1), PH_OK);
  EXPECT_FALSE(book_.release(*first)) << "it is live";
  EXPECT_EQ(book_.remove(first->key, region), Removed::stale);
  EXPECT_EQ(region.key, first->key);
  EXPECT_EQ(check(1000, first->key, 1), PH_ERR_KEY);
  EXPECT_EQ(book_.slot_of(first->key), slot) << "occupied until its copies have ended";
  EXPECT_TRUE(book_.release(region));
  EXPECT_FALSE(book_.release(region)) << "once";
  EXPECT_EQ(book_.slot_of(first->key), -1);
  EXPECT_EQ(book_.remove(first->key, region), Removed::unknown);
}

TEST_F(RegionBookTest, a_slot_used_again_has_a_new_key_each_time) {
  std::set<std::uint64_t> keys;
  for (int i = 0; i < 1000; ++i) {
    const auto region = book_.add({1000, 100, 0}, PH_ACCESS_WRITE, false);
    EXPECT_TRUE(keys.insert(region->key).second);
    ph_region removed{};
    EXPECT_EQ(book_.remove(region->key, removed), Removed::stale);
    EXPECT_TRUE(book_.release(removed));
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
  EXPECT_FALSE(book_.find(1999, 2));
  EXPECT_FALSE(book_.find(1999, ~0ull));
  ph_region region{};
  EXPECT_EQ(book_.remove_allocated(1101, region), Removed::unknown);
  EXPECT_EQ(book_.remove_allocated(1000, region), Removed::unknown) << "registered, not allocated";
  EXPECT_EQ(book_.remove(narrow->key, region), Removed::is_allocated);
  EXPECT_EQ(book_.remove_allocated(1100, region), Removed::stale);
  EXPECT_EQ(region.key, narrow->key);
}

TEST_F(RegionBookTest, a_region_that_is_going_is_not_found_but_as_allocated_memory) {
  const auto kept = book_.add({1000, 200, 0}, PH_ACCESS_WRITE, false);
  const auto going = book_.add({1000, 100, 0}, PH_ACCESS_ALL, true);
  ph_region region{};
  ASSERT_EQ(book_.remove_allocated(1000, region), Removed::stale);
  EXPECT_EQ(region.key, going->key);
  EXPECT_EQ(book_.find(1050, 1)->key, kept->key);
  EXPECT_EQ(book_.remove_allocated(1000, region), Removed::stale) << "it can be asked for again";
  EXPECT_EQ(book_.find(1050, 1)->key, kept->key);
  EXPECT_TRUE(book_.release(region));
  EXPECT_EQ(book_.remove_allocated(1000, region), Removed::unknown);
}

// What add, remove and find should do, by a look at every registration.
struct LinearBook {
  struct One {
    ph_region region{};
    std::uint32_t access = 0;
    std::uint32_t count = 0;
    bool allocated = false;
  };
  std::map<std::int64_t, One> live;  // by slot

  std::int64_t same(const ph_region& range, std::uint32_t access) const {
    for (const auto& [slot, one] : live)
      if (!one.allocated && one.access == access && one.region.address == range.address &&
          one.region.size_bytes == range.size_bytes)
        return slot;
    return -1;
  }
  std::uint64_t find(std::uint64_t address, std::uint64_t bytes) const {
    const ph_region* best = nullptr;
    for (const auto& [slot, one] : live)
      if (address >= one.region.address && bytes <= one.region.size_bytes &&
          address - one.region.address <= one.region.size_bytes - bytes &&
          (best == nullptr || one.region.size_bytes < best->size_bytes))
        best = &one.region;
    return best == nullptr ? 0 : best->key;
  }
};

TEST(RegionBook, answers_as_a_look_at_every_registration_does) {
  std::vector<transport::RegionEntry> table(256);
  RegionBook book(table, seeded_keys(7));
  LinearBook linear;
  std::mt19937_64 random(5);
  for (int step = 0; step < 30'000; ++step) {
    const ph_region range{1000 + random() % 40, 1 + random() % (random() % 4 == 0 ? 200 : 20), 0};
    const auto access = static_cast<std::uint32_t>(1 + random() % 3);
    if (random() % 2 == 0 && !linear.live.empty()) {
      auto one = linear.live.begin();
      std::advance(one, random() % linear.live.size());
      ASSERT_EQ(book.slot_of(one->second.region.key), one->first);
      ph_region region = one->second.region;
      if (one->second.allocated) {  // there may be several that begin there
        ASSERT_EQ(book.remove_allocated(region.address, region), Removed::stale);
        one = linear.live.find(book.slot_of(region.key));
        ASSERT_TRUE(one != linear.live.end() && one->second.allocated);
      } else {
        ASSERT_EQ(book.remove(region.key, region),
                  one->second.count == 1 ? Removed::stale : Removed::counted_down);
      }
      if (--one->second.count == 0) {
        ASSERT_TRUE(book.release(region));
        linear.live.erase(one);
      }
    } else if (linear.live.size() < 200) {
      const bool allocated = random() % 4 == 0;
      const auto same = allocated ? -1 : linear.same(range, access);
      const auto added = book.add(range, access, allocated);
      ASSERT_TRUE(added);
      const auto slot = book.slot_of(added->key);
      ASSERT_TRUE(same < 0 || same == slot) << step;
      ASSERT_EQ(same < 0, !linear.live.contains(slot)) << step;
      auto& one = linear.live[slot];
      one = {*added, access, one.count + 1, allocated};
    }
    const std::uint64_t address = 990 + random() % 60, bytes = random() % 40;
    const auto found = book.find(address, bytes);
    ASSERT_EQ(!found ? 0 : found->key, linear.find(address, bytes)) << step;
  }
}

// Several lanes register, count and take back the same ranges: nobody's slot is lost or given
// twice.
TEST(RegionBook, may_be_used_by_several_threads_at_once) {
  std::vector<transport::RegionEntry> table(256);
  RegionBook book(table, seeded_keys(7));
  std::vector<std::thread> threads;
  for (std::uint64_t thread = 0; thread < 4; ++thread)
    threads.emplace_back([&book, thread] {
      for (std::uint64_t i = 0; i < 2000; ++i) {
        const ph_region range{i % 2 == 0 ? 1000 : 5000 + 100 * thread, 64, 0};
        const auto added = book.add(range, PH_ACCESS_ALL, false);
        if (!added) continue;  // all that is stale and not released counts
        EXPECT_TRUE(book.find(range.address, 8));
        ph_region region{};
        const auto removed = book.remove(added->key, region);
        if (removed == Removed::stale) {
          EXPECT_TRUE(book.release(region));
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(book.find(1000, 1));
  EXPECT_LE(book.slots_used(), 8u);
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
