// What a NIC is shown, what is kept of it, and what is never found again.
#include "engine/parts/source_cache.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <random>
#include <vector>

#include "engine/fake_transport.hpp"

namespace photon::engine {
namespace {

using Outcome = SourceCache::Outcome;
constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kSourceBase = 0x10'0000;

struct Cache {
  explicit Cache(std::uint64_t entries = 100, std::uint64_t bytes = 1 << 20,
                 base::SourceCacheKeeps keeps = base::SourceCacheKeeps::registered)
      : net(1, options()),
        nic(net, 0),
        table(64),
        book(table, seeded_keys(1)),
        cache(nic, book, settings(entries, bytes, keeps)) {}

  static photon::test::FakeOptions options() {
    photon::test::FakeOptions chosen;
    chosen.local_granule = kPage;
    return chosen;
  }
  static base::Config settings(std::uint64_t entries, std::uint64_t bytes,
                               base::SourceCacheKeeps keeps) {
    base::Config config;
    config.source_cache = keeps;
    config.source_cache_entries = entries;
    config.source_cache_bytes = bytes;
    return config;
  }

  std::uint64_t add_region(std::uint64_t begin, std::uint64_t bytes) {
    return book.add({begin, bytes, 0}, PH_ACCESS_READ, false)->key;
  }
  void remove_region(std::uint64_t key) {
    ph_region region{};
    while (book.remove(key, region) != RegionBook::Removed::stale) {  // it may have been counted
    }
    cache.forget(region.address, region.address + region.size_bytes);
    book.release(region);
  }
  SourceCache::Pin pin(std::uint64_t begin, std::uint64_t bytes, bool is_written = false) {
    return cache.pin({begin, begin + bytes, begin + std::min(bytes, kPage), is_written});
  }
  // A whole operation. True: it was a hit.
  bool use(std::uint64_t begin, std::uint64_t bytes, bool is_written = false) {
    const auto hits = cache.counts().hits;
    const auto one = pin(begin, bytes, is_written);
    EXPECT_EQ(one.outcome, Outcome::pinned);
    cache.unpin(one.entry);
    return cache.counts().hits != hits;
  }
  auto& locals() { return net.seats[0].locals; }

  photon::test::FakeNet net;
  photon::test::FakeTransport nic;
  std::vector<transport::RegionEntry> table;
  RegionBook book;
  SourceCache cache;
};

TEST(SourceCache, memory_that_nobody_has_registered_is_given_back_with_its_operation) {
  Cache all;
  const auto one = all.pin(kSourceBase + 10, 5000);
  ASSERT_EQ(one.outcome, Outcome::pinned);
  ASSERT_EQ(all.locals().size(), 1u);
  const auto& shown = all.locals().begin()->second;
  EXPECT_EQ(shown.begin, kSourceBase) << "whole pages";
  EXPECT_EQ(shown.end, kSourceBase + 2 * kPage);
  EXPECT_FALSE(shown.is_written);
  all.cache.unpin(one.entry);
  EXPECT_TRUE(all.locals().empty());
  EXPECT_FALSE(all.use(kSourceBase + 10, 5000)) << "what is mapped there may be other pages now";
  EXPECT_EQ(all.cache.bytes(), 0u);
  EXPECT_EQ(all.cache.counts().misses, 2u);
}

TEST(SourceCache, operations_under_way_share_an_entry_until_one_of_them_has_ended) {
  Cache all;
  const auto wide = all.pin(kSourceBase, 4 * kPage);
  const auto inner = all.pin(kSourceBase + kPage, 100);
  EXPECT_EQ(inner.entry, wide.entry);
  EXPECT_EQ(all.cache.counts().hits, 1u);
  all.cache.unpin(wide.entry);  // its memory may be unmapped now but for what the other uses
  EXPECT_EQ(all.locals().size(), 1u) << "in use";
  const auto later = all.pin(kSourceBase + 2 * kPage, 100);
  EXPECT_NE(later.entry, inner.entry);
  all.cache.unpin(inner.entry);
  all.cache.unpin(later.entry);
  EXPECT_TRUE(all.locals().empty());
}

TEST(SourceCache, a_registration_of_the_callers_own_is_known_as_a_whole_until_it_is_taken_back) {
  Cache all;
  const auto key = all.add_region(kSourceBase + 100, 8 * kPage);
  EXPECT_FALSE(all.use(kSourceBase + 200, 10));
  EXPECT_TRUE(all.use(kSourceBase + 7 * kPage, 10));
  EXPECT_TRUE(all.use(kSourceBase + 100, 8 * kPage));
  ASSERT_EQ(all.locals().size(), 1u);
  EXPECT_EQ(all.locals().begin()->second.end, kSourceBase + 9 * kPage);
  all.remove_region(key);
  EXPECT_TRUE(all.locals().empty());
  EXPECT_FALSE(all.use(kSourceBase + 200, 10));
}

TEST(SourceCache, a_registration_taken_back_while_in_use_is_found_by_nobody_any_more) {
  Cache all;
  const auto key = all.add_region(kSourceBase, 8 * kPage);
  const auto one = all.pin(kSourceBase, 10);
  all.remove_region(key);
  EXPECT_EQ(all.locals().size(), 1u) << "a NIC reads it";
  EXPECT_FALSE(all.use(kSourceBase, 10));
  all.cache.unpin(one.entry);
  EXPECT_TRUE(all.locals().empty());
}

TEST(SourceCache, what_is_to_be_written_needs_a_registration_for_writing_which_serves_both) {
  Cache all;
  all.add_region(kSourceBase, 8 * kPage);
  EXPECT_FALSE(all.use(kSourceBase, 10));
  EXPECT_FALSE(all.use(kSourceBase, 10, true));
  EXPECT_EQ(all.locals().size(), 1u) << "the narrower one has no use any more";
  EXPECT_TRUE(all.use(kSourceBase, 10));
  EXPECT_TRUE(all.use(kSourceBase, 10, true));
}

TEST(SourceCache, a_region_too_large_is_known_in_parts_counted_from_its_beginning) {
  Cache all(100, 64 * kPage);  // one entry: 16 pages
  all.add_region(kSourceBase + kPage, 40 * kPage);
  EXPECT_FALSE(all.use(kSourceBase + 20 * kPage, 10));
  EXPECT_TRUE(all.use(kSourceBase + 17 * kPage, 10));
  EXPECT_TRUE(all.use(kSourceBase + 32 * kPage, 10));
  EXPECT_FALSE(all.use(kSourceBase + 33 * kPage, 10));
  const auto one = all.pin(kSourceBase + 30 * kPage, 8 * kPage);  // in both
  EXPECT_EQ(all.cache.end_of(one.entry), kSourceBase + 33 * kPage);
  EXPECT_EQ(all.cache.counts().hits, 3u);
  all.cache.unpin(one.entry);
}

TEST(SourceCache, the_least_recently_used_goes_first_and_what_is_in_use_never) {
  Cache all(3);
  for (std::uint64_t i = 0; i < 5; ++i) all.add_region(kSourceBase + i * 10 * kPage, kPage);
  const auto at = [](std::uint64_t i) { return kSourceBase + i * 10 * kPage; };
  const auto held = all.pin(at(0), 8);
  all.use(at(1), 8);
  all.use(at(2), 8);
  EXPECT_TRUE(all.use(at(1), 8));
  all.use(at(3), 8);
  EXPECT_TRUE(all.use(at(1), 8));
  EXPECT_FALSE(all.use(at(2), 8)) << "3 had taken its place";
  EXPECT_EQ(all.cache.counts().evictions, 2u);
  EXPECT_TRUE(all.use(at(0), 8)) << "in use all the time";
  all.cache.unpin(held.entry);
  EXPECT_EQ(all.cache.entries(), 3u);
}

TEST(SourceCache, bytes_are_limited_too) {
  Cache all(100, 16 * kPage);  // one entry: 4 pages
  for (std::uint64_t i = 0; i < 10; ++i) all.add_region(kSourceBase + i * 10 * kPage, 4 * kPage);
  for (std::uint64_t i = 0; i < 10; ++i) {
    all.use(kSourceBase + i * 10 * kPage, 8);
    EXPECT_LE(all.cache.bytes(), 16 * kPage);
  }
  EXPECT_EQ(all.cache.entries(), 4u);
}

TEST(SourceCache, who_finds_all_in_use_waits_and_is_not_asked_twice_for_nothing) {
  Cache all(1);
  const auto one = all.pin(kSourceBase, 8);
  EXPECT_EQ(all.pin(kSourceBase + 10 * kPage, 8).outcome, Outcome::wait);
  EXPECT_EQ(all.pin(kSourceBase, 8).outcome, Outcome::pinned) << "a hit needs no room";
  EXPECT_FALSE(all.cache.unpin(one.entry));
  EXPECT_EQ(all.pin(kSourceBase + 10 * kPage, 8).outcome, Outcome::wait) << "the hit is in use";
  EXPECT_TRUE(all.cache.unpin(one.entry)) << "somebody waits";
  EXPECT_TRUE(all.locals().empty());
  EXPECT_FALSE(all.use(kSourceBase + 10 * kPage, 8));
}

TEST(SourceCache, a_full_nic_makes_room_of_what_is_kept_then_waits_then_refuses) {
  Cache all;
  for (std::uint64_t i = 0; i < 4; ++i) all.add_region(kSourceBase + i * 10 * kPage, kPage);
  for (std::uint64_t i = 0; i < 3; ++i) all.use(kSourceBase + i * 10 * kPage, 8);
  all.net.seats[0].locals_max = 2;
  all.use(kSourceBase + 30 * kPage, 8);
  EXPECT_EQ(all.locals().size(), 2u);
  EXPECT_EQ(all.cache.counts().evictions, 2u);
  all.net.seats[0].locals_max = 1;
  const auto one = all.pin(kSourceBase, 8);
  EXPECT_EQ(all.locals().size(), 1u);
  const auto asked = all.net.seats[0].locals_asked;
  EXPECT_EQ(all.pin(kSourceBase + 10 * kPage, 8).outcome, Outcome::wait);
  EXPECT_GT(all.net.seats[0].locals_asked, asked);
  const auto asked_again = all.net.seats[0].locals_asked;
  EXPECT_EQ(all.pin(kSourceBase + 10 * kPage, 8).outcome, Outcome::wait);
  EXPECT_EQ(all.net.seats[0].locals_asked, asked_again) << "nothing has come back since";
  all.cache.unpin(one.entry);
  all.net.seats[0].locals_max = 0;
  EXPECT_EQ(all.pin(kSourceBase + 10 * kPage, 8).outcome, Outcome::refused);
  EXPECT_EQ(all.cache.counts().refusals, 1u);
  EXPECT_EQ(all.cache.pins(), 0u);
  EXPECT_EQ(all.cache.entries(), 0u);
}

TEST(SourceCache, memory_that_cannot_be_registered_costs_nothing_that_is_kept) {
  Cache all;
  all.add_region(kSourceBase, kPage);
  all.use(kSourceBase, 8);
  all.net.seats[0].locals_error = PH_ERR_ARGUMENT;
  EXPECT_EQ(all.pin(kSourceBase + 10 * kPage, 8).outcome, Outcome::refused);
  EXPECT_EQ(all.cache.counts().evictions, 0u);
  EXPECT_TRUE(all.use(kSourceBase, 8));
}

TEST(SourceCache, a_nic_that_takes_no_more_than_a_piece_gets_a_piece) {
  Cache all;
  all.add_region(kSourceBase, 8 * kPage);
  all.net.seats[0].locals_bytes_max = kPage;
  const auto one = all.pin(kSourceBase + 2 * kPage, 4 * kPage);
  ASSERT_EQ(one.outcome, Outcome::pinned);
  EXPECT_EQ(all.cache.end_of(one.entry), kSourceBase + 3 * kPage);
  all.cache.unpin(one.entry);
}

TEST(SourceCache, where_all_is_kept_ranges_that_overlap_become_one) {
  Cache all(100, 64 * kPage, base::SourceCacheKeeps::all);
  all.use(kSourceBase, 3 * kPage);
  EXPECT_TRUE(all.use(kSourceBase + kPage, 100)) << "nobody unmaps anything";
  all.use(kSourceBase + 2 * kPage, 3 * kPage);
  EXPECT_EQ(all.locals().size(), 1u);
  EXPECT_TRUE(all.use(kSourceBase, 5 * kPage));
  all.use(kSourceBase + 4 * kPage, 14 * kPage);  // together more than one entry may have
  EXPECT_EQ(all.locals().size(), 2u);
  all.cache.forget(kSourceBase, kSourceBase + 1);
  EXPECT_EQ(all.locals().size(), 1u);
  all.cache.clear();
  EXPECT_TRUE(all.locals().empty());
}

// A program that maps pages anew, registers and takes back, and has operations under way, at random
// but within what it has promised.
class Remapping {
 public:
  explicit Remapping(unsigned seed)
      : random_(seed), all_(1 + random_() % 6, (16 + random_() % 48) * kPage), mapped_at_(kPages) {
    all_.net.seats[0].locals_max = 1 + random_() % 8;
  }

  void step() {
    ++now_;
    const std::uint64_t first = random_() % kPages;
    const std::uint64_t last = std::min(kPages - 1, first + random_() % 6);
    const std::uint64_t begin = kSourceBase + first * kPage + random_() % 100;
    const std::uint64_t end = kSourceBase + (last + 1) * kPage - random_() % 100;
    switch (random_() % 6) {
      case 0:
        if (regions_.size() < 5) regions_[all_.add_region(begin, end - begin)] = {first, last};
        break;
      case 1:
        if (regions_.empty()) break;
        all_.remove_region(regions_.begin()->first);
        regions_.erase(regions_.begin());
        break;
      case 2:
        if (!is_held(first)) mapped_at_[first] = now_;
        break;
      case 3:
        if (!uses_.empty()) end_use(random_() % uses_.size());
        break;
      default: use({first, last}, begin, end);
    }
  }
  // What was found was shown to the NIC before its memory was replaced the last time.
  bool has_found_old_pages() const { return has_found_old_pages_; }
  std::uint64_t hits() const { return all_.cache.counts().hits; }
  void expect_all_comes_back() {
    while (!uses_.empty()) end_use(0);
    all_.cache.clear();
    EXPECT_TRUE(all_.locals().empty());
    EXPECT_EQ(all_.cache.pins(), 0u);
  }

 private:
  static constexpr std::uint64_t kPages = 24;
  struct Pages {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    bool has(std::uint64_t page) const { return page >= first && page <= last; }
  };
  struct Use {
    std::uint32_t entry;
    Pages pages;
  };

  bool is_held(std::uint64_t page) const {
    return std::any_of(uses_.begin(), uses_.end(),
                       [&](auto& use) { return use.pages.has(page); }) ||
           std::any_of(regions_.begin(), regions_.end(),
                       [&](auto& region) { return region.second.has(page); });
  }
  void end_use(std::size_t index) {
    all_.cache.unpin(uses_[index].entry);
    uses_.erase(uses_.begin() + static_cast<std::ptrdiff_t>(index));
  }
  void use(const Pages& pages, std::uint64_t begin, std::uint64_t end) {
    const auto pin = all_.pin(begin, end - begin, random_() % 3 == 0);
    for (const auto& [handle, shown] : all_.locals()) shown_at_.try_emplace(handle, now_);
    if (pin.outcome != Outcome::pinned) return;
    const auto since = shown_at_.at(all_.cache.handle_of(pin.entry));
    const auto pinned_end = std::min(end, all_.cache.end_of(pin.entry));
    EXPECT_GT(pinned_end, begin);
    for (std::uint64_t page = pages.first; kSourceBase + page * kPage < pinned_end; ++page)
      has_found_old_pages_ |= mapped_at_[page] >= since;
    uses_.push_back({pin.entry, pages});
  }

  std::mt19937 random_;
  Cache all_;
  std::uint64_t now_ = 0;
  std::vector<std::uint64_t> mapped_at_;             // each page
  std::map<std::uint64_t, std::uint64_t> shown_at_;  // by handle
  std::vector<Use> uses_;
  std::map<std::uint64_t, Pages> regions_;  // by key
  bool has_found_old_pages_ = false;
};

TEST(SourceCache, no_operation_ever_finds_pages_that_were_replaced) {
  std::uint64_t hits = 0;
  for (unsigned seed = 0; seed < 30; ++seed) {
    Remapping program(seed);
    for (int i = 0; i < 3000; ++i) program.step();
    EXPECT_FALSE(program.has_found_old_pages()) << seed;
    hits += program.hits();
    program.expect_all_comes_back();
  }
  EXPECT_GT(hits, 1000u);
}

}  // namespace
}  // namespace photon::engine
