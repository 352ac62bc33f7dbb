#include "task/buffer/registrations.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <utility>
#include <vector>

#include "thread_job.hpp"

namespace photon::task {
namespace {

// The cache of a PE, on the context itself.
struct Cache {
  Cache(ph_context* context, std::uint64_t kept_bytes) : lane(context), registrations(kept_bytes) {}
  Registration take(std::byte* base, std::uint64_t size_bytes) {
    Registration held;
    EXPECT_EQ(registrations.take(lane, base, size_bytes, held), PH_OK);
    EXPECT_NE(held.key, 0u);
    return held;
  }
  void give(Registration held) {
    registrations.give(lane, held);
    EXPECT_EQ(held.key, 0u);
  }
  void keep(std::byte* base, std::uint64_t size_bytes) {
    EXPECT_TRUE(registrations.keep(reinterpret_cast<std::uintptr_t>(base), size_bytes));
  }
  bool unkeep(std::byte* base, std::uint64_t size_bytes) {
    return registrations.unkeep(lane, reinterpret_cast<std::uintptr_t>(base), size_bytes);
  }
  bool is_registered(std::byte* base) const {
    ph_region region{};
    return ph_find_region(lane, base, 1, &region) == PH_OK;
  }
  ph_context* lane;
  Registrations registrations;
};

void with_cache(std::uint64_t kept_bytes, const std::function<void(Cache&, std::byte*)>& body,
                photon::test::Options options = {}) {
  photon::test::ThreadJob job(1, std::move(options));
  job.run([&](ph_context* context, ph_rank) {
    std::vector<std::byte> memory(100'000);
    Cache cache(context, kept_bytes);
    body(cache, memory.data());
    cache.registrations.end(context);
    EXPECT_FALSE(cache.is_registered(memory.data()));
  });
}

TEST(TaskRegistrations, what_does_not_stay_is_revoked_at_once) {
  with_cache(1 << 20, [](Cache& cache, std::byte* memory) {
    const Registration held = cache.take(memory, 1000);
    EXPECT_TRUE(cache.is_registered(memory));
    cache.give(held);
    EXPECT_FALSE(cache.is_registered(memory));
    EXPECT_EQ(cache.registrations.misses(), 0u) << "it was not looked for";
  });
}

TEST(TaskRegistrations, what_stays_is_found_again) {
  with_cache(1 << 20, [](Cache& cache, std::byte* memory) {
    cache.keep(memory, 10'000);
    const Registration first = cache.take(memory + 100, 1000);
    cache.give(first);
    EXPECT_TRUE(cache.is_registered(memory + 100));
    const Registration second = cache.take(memory + 100, 1000);
    const Registration part = cache.take(memory + 200, 100);
    EXPECT_EQ(second.key, first.key);
    EXPECT_EQ(part.key, first.key);
    const Registration longer = cache.take(memory + 100, 2000);
    EXPECT_NE(longer.key, first.key);
    EXPECT_EQ(cache.registrations.hits(), 2u);
    EXPECT_EQ(cache.registrations.misses(), 2u);
    cache.give(part);
    cache.give(second);  // nobody finds it any more: the longer one took its place
    cache.give(longer);
    EXPECT_EQ(cache.take(memory + 100, 1000).key, longer.key);
    const Registration across = cache.take(memory + 9'500, 1000);
    cache.give(across);
    EXPECT_FALSE(cache.is_registered(memory + 10'200)) << "it is not all in the range";
  });
}

TEST(TaskRegistrations, the_least_recently_used_goes_first) {
  with_cache(3000, [](Cache& cache, std::byte* memory) {
    cache.keep(memory, 100'000);
    for (int i = 0; i < 3; ++i) cache.give(cache.take(memory + i * 1000, 1000));
    cache.give(cache.take(memory, 1000));  // the second one is the oldest now
    const Registration held = cache.take(memory + 2000, 1000);
    cache.give(cache.take(memory + 5000, 1000));
    EXPECT_EQ(cache.registrations.evictions(), 1u);
    EXPECT_TRUE(cache.is_registered(memory));
    EXPECT_FALSE(cache.is_registered(memory + 1000));
    cache.give(cache.take(memory + 10'000, 5000));  // more than all may have
    EXPECT_TRUE(cache.is_registered(memory + 2000)) << "what is held stays";
    EXPECT_FALSE(cache.is_registered(memory + 10'000));
    cache.give(held);
    EXPECT_TRUE(cache.is_registered(memory + 2000));
  });
}

TEST(TaskRegistrations, idle_ones_that_are_kept_give_way_where_there_are_no_more) {
  with_cache(1 << 20,
             [](Cache& cache, std::byte* memory) {
               cache.keep(memory, 100'000);
               const Registration first = cache.take(memory, 1000);
               for (int i = 1; i < 40; ++i) cache.give(cache.take(memory + i * 1000, 1000));
               EXPECT_GT(cache.registrations.evictions(), 0u);
               EXPECT_TRUE(cache.is_registered(memory)) << "what is held stays";
               EXPECT_FALSE(cache.is_registered(memory + 1000)) << "used least recently";
               EXPECT_TRUE(cache.is_registered(memory + 39'000));
               std::vector<Registration> held{first};
               ph_status status = PH_OK;
               for (int i = 40; status == PH_OK; ++i) {
                 ASSERT_LT(i, 100) << "there are 16";
                 Registration one;
                 status = cache.registrations.take(cache.lane, memory + i * 1000, 1000, one);
                 EXPECT_EQ(one.key != 0, status == PH_OK);
                 if (status == PH_OK) held.push_back(one);
               }
               EXPECT_EQ(status, PH_ERR_MEMORY);
               EXPECT_FALSE(cache.is_registered(memory + 39'000)) << "none that is idle is left";
               for (const Registration& one : held) cache.give(one);
             },
             {{"max_regions", "16"}});
}

TEST(TaskRegistrations, a_key_is_known_as_long_as_it_is_held_or_kept) {
  with_cache(1 << 20, [](Cache& cache, std::byte* memory) {
    cache.keep(memory, 10'000);
    const Registration kept = cache.take(memory, 1000);
    const Registration own = cache.take(memory + 20'000, 1000);
    for (const Registration& one : {kept, own}) {
      EXPECT_TRUE(cache.registrations.may_have_made(one.key));
      EXPECT_EQ(cache.registrations.is_kept(one.key), one.key == kept.key);
      cache.give(one);
    }
    EXPECT_TRUE(cache.registrations.may_have_made(kept.key));
    EXPECT_TRUE(cache.unkeep(memory, 10'000));
    for (const Registration& one : {kept, own}) {
      EXPECT_FALSE(cache.registrations.may_have_made(one.key));
      EXPECT_FALSE(cache.registrations.is_kept(one.key));
    }
  });
}

TEST(TaskBuffer, FreedRangeIsNotFoundInTheCache) {
  with_cache(1 << 20, [](Cache& cache, std::byte* memory) {
    cache.keep(memory, 10'000);
    cache.keep(memory + 5000, 1000);
    const Registration idle = cache.take(memory, 1000);
    cache.give(idle);
    const Registration held = cache.take(memory + 1000, 1000);
    cache.give(cache.take(memory + 5000, 1000));
    EXPECT_FALSE(cache.unkeep(memory, 9'999)) << "it was not declared so";
    ASSERT_TRUE(cache.unkeep(memory, 10'000));
    EXPECT_FALSE(cache.is_registered(memory)) << "the memory may be freed now";
    EXPECT_TRUE(cache.is_registered(memory + 5000)) << "the other range still stays";
    const Registration again = cache.take(memory, 1000);
    EXPECT_NE(again.key, idle.key);
    cache.give(again);
    EXPECT_FALSE(cache.is_registered(memory));
    cache.give(held);
    EXPECT_FALSE(cache.is_registered(memory + 1000)) << "revoked when its user was over";
  });
}

}  // namespace
}  // namespace photon::task
