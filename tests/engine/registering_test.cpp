// Regions: nested, overlapping, counted, taken back under traffic; memory of ph_alloc.
#include <cstring>

#include "settings.hpp"

namespace photon::test {
namespace {

class Registering : public OverSettings {};

constexpr std::uint64_t kLocal = 5, kRemote = 6;

TEST_P(Registering, the_same_range_counts_and_other_ranges_have_keys_of_their_own) {
  ThreadJob job(1, options());
  job.run([](ph_context* context, ph_rank) {
    std::byte bytes[4096];
    ph_region all{}, again{}, part{}, readable{}, across{}, found{};
    ASSERT_EQ(ph_register(context, bytes, 4096, PH_ACCESS_ALL, &all), PH_OK);
    ASSERT_EQ(ph_register(context, bytes, 4096, PH_ACCESS_ALL, &again), PH_OK);
    ASSERT_EQ(ph_register(context, bytes + 100, 200, PH_ACCESS_ALL, &part), PH_OK);
    ASSERT_EQ(ph_register(context, bytes, 4096, PH_ACCESS_READ, &readable), PH_OK);
    ASSERT_EQ(ph_register(context, bytes + 200, 3000, PH_ACCESS_ALL, &across), PH_OK);
    EXPECT_EQ(all.key, again.key);
    EXPECT_NE(all.key, part.key);
    EXPECT_NE(all.key, readable.key);
    ASSERT_EQ(ph_find_region(context, bytes + 210, 10, &found), PH_OK);
    EXPECT_EQ(found.key, part.key) << "the smallest around it";
    ASSERT_EQ(ph_find_region(context, bytes + 290, 100, &found), PH_OK);
    EXPECT_EQ(found.key, across.key);

    ASSERT_EQ(ph_unregister(context, all.key), PH_OK);
    const std::uint64_t value = 5;
    EXPECT_EQ(ph_put_u64(context, 0, {&value, 8}, {all.address, all.key}, {1, 2}), PH_OK);
    EXPECT_EQ(take_local(context).status, PH_OK);
    EXPECT_EQ(take_remote(context).id, 2u);
    ASSERT_EQ(ph_unregister(context, all.key), PH_OK) << "counted twice";
    expect_error(context, ph_unregister(context, all.key), PH_ERR_KEY, "unregister");
    EXPECT_EQ(ph_put_u64(context, 0, {&value, 8}, {part.address, part.key}, {1, 3}), PH_OK)
        << "the nested one goes on";
    EXPECT_EQ(take_remote(context).id, 3u);
  });
}

TEST_P(Registering, memory_of_alloc_is_zeroed_aligned_and_apart) {
  ThreadJob job(1, options({{"arena_bytes", "4194304"}}));
  job.run([](ph_context* context, ph_rank) {
    for (int round = 0; round < 3; ++round) {
      std::vector<ph_region> regions;
      for (const std::size_t size : {1ul, 64ul, 65ul, 4096ul, 100000ul, 1ul, 300ul}) {
        ph_region region{};
        ASSERT_EQ(ph_alloc(context, size, &region), PH_OK);
        EXPECT_EQ(region.address % 64, 0u);
        EXPECT_EQ(region.size_bytes, size);
        auto* bytes = reinterpret_cast<std::byte*>(region.address);
        EXPECT_EQ(std::count(bytes, bytes + size, std::byte{0}), static_cast<long>(size));
        std::fill_n(bytes, size, std::byte{0xff});
        for (const ph_region& other : regions)
          EXPECT_TRUE(region.address + size <= other.address ||
                      other.address + other.size_bytes <= region.address);
        regions.push_back(region);
      }
      expect_error(context, ph_unregister(context, regions[0].key), PH_ERR_ARGUMENT, "ph_free");
      auto* inside = reinterpret_cast<std::byte*>(regions[4].address) + 64;
      expect_error(context, ph_free(context, inside), PH_ERR_NOT_FOUND, "free");
      for (const ph_region& region : regions)
        EXPECT_EQ(ph_free(context, reinterpret_cast<void*>(region.address)), PH_OK);
      void* gone = reinterpret_cast<void*>(regions[0].address);
      expect_error(context, ph_free(context, gone), PH_ERR_NOT_FOUND, "free");
    }
  });
}

// After ph_unregister() returned nobody writes there, whatever is under way from several ranks.
TEST_P(Registering, no_byte_changes_after_unregister_returned_under_traffic_of_several_ranks) {
  ThreadJob job(4, options());
  job.run([&job](ph_context* context, ph_rank rank) {
    constexpr std::size_t kSizes[] = {8, 150, 5000, 100'000};
    constexpr std::size_t kLargest = 100'000;
    constexpr std::size_t kEachBytes = 4 * kLargest;  // of each writer, for puts between two fences
    constexpr std::uint64_t kRounds = rounds(15, 5);
    std::vector<std::byte> memory(3 * kEachBytes);
    const auto source = filled(kLargest, rank);
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      ph_region mine{};
      ASSERT_EQ(ph_register(context, memory.data(), memory.size(), PH_ACCESS_ALL, &mine), PH_OK);
      const ph_region target = exchange(context, mine)[0];
      job.meet(context);
      if (rank == 0) {
        take_remote(context);
        ASSERT_EQ(ph_unregister(context, mine.key), PH_OK);
        const std::vector<std::byte> then = memory;
        for (int i = 0; i < 300; ++i) count_now(context, PH_EITHER);
        EXPECT_EQ(std::memcmp(memory.data(), then.data(), memory.size()), 0) << "round " << round;
      } else {
        std::uint64_t accepted = 0, ended = 0;
        std::size_t used = 0;
        ph_status status = PH_OK;
        for (std::uint64_t i = 0; status == PH_OK || status == PH_AGAIN; ++i) {
          const std::size_t size = kSizes[i % 4];
          if (used + size > kEachBytes) {
            ASSERT_EQ(insist(context, [&] { return ph_fence(context, 0); }), PH_OK);
            used = 0;
          }
          const ph_target at = ph_at(&target, (rank - 1) * kEachBytes + used);
          ph_put_args args = put_args({source.data(), size}, at, i, i);
          args.flags = i == 0 ? 0 : PH_NO_RCE;  // one tells the owner that traffic has begun
          status = ph_put(context, 0, &args);
          accepted += status == PH_OK;
          used += status == PH_OK ? size : 0;
          ph_completion found[16];
          std::size_t count = 0;
          ASSERT_EQ(ph_probe(context, {0, PH_LOCAL, nullptr}, found, 16, &count), PH_OK);
          for (std::size_t k = 0; k < count; ++k) {
            ++ended;
            if (found[k].status != PH_OK) status = found[k].status;
          }
          if (count == 0) std::this_thread::yield();  // the owner may need this core
        }
        EXPECT_EQ(status, PH_ERR_KEY);
        EXPECT_LE(ended, 2 * accepted) << "each ends once, and once more if it was refused late";
      }
      if (rank != 0) {
        EXPECT_EQ(insist(context, [&] { return ph_flush(context, 0, kTakeTimeoutUs); }), PH_OK);
        ASSERT_EQ(ph_unregister(context, mine.key), PH_OK);
      }
      drain_until_met(job, context);
    }
  });
}

TEST_P(Registering, a_key_that_was_revoked_is_stale_at_once_and_nobody_was_waited_for) {
  ThreadJob job(2, options());
  job.run([&job](ph_context* context, ph_rank rank) {
    Guarded memory(4096);
    ph_region mine{}, again{}, found{};
    ASSERT_EQ(ph_register(context, memory.data(), 4096, PH_ACCESS_ALL, &mine), PH_OK);
    ASSERT_EQ(ph_register(context, memory.data(), 4096, PH_ACCESS_ALL, &again), PH_OK);
    const ph_region there = exchange(context, mine)[1];
    const auto source = filled(4096, 3);
    if (rank == 0) {
      ASSERT_EQ(ph_put_u64(context, 1, {source.data(), 4096}, ph_at(&there, 0), {1, 2}), PH_OK);
      EXPECT_EQ(take_local(context, 1).status, PH_OK);
    } else {
      EXPECT_EQ(take_remote(context, 0).id, 2u);  // nothing is under way any more
      ASSERT_EQ(ph_revoke(context, mine.key), PH_OK) << "counted";
      ASSERT_EQ(ph_find_region(context, memory.data(), 8, &found), PH_OK);
      ASSERT_EQ(ph_revoke(context, mine.key), PH_OK) << last_error(context).text;
      expect_error(context, ph_find_region(context, memory.data(), 8, &found), PH_ERR_NOT_FOUND,
                   "registration");
      expect_error(context, ph_revoke(context, mine.key), PH_ERR_KEY, "revoke");
      expect_error(context, ph_unregister(context, mine.key), PH_ERR_KEY, "unregister");
      fill(memory.bytes(), 4);
    }
    serve_until_met(job, context);
    if (rank == 0) {
      for (const std::size_t size : {8ul, 200ul, 4096ul}) {
        ph_put_args args = put_args({source.data(), size}, ph_at(&there, 0), kLocal, kRemote);
        args.flags = PH_DELIVERED;
        const ph_status status = ph_put(context, 1, &args);
        EXPECT_EQ(status == PH_OK ? take_local(context, 1).status : status, PH_ERR_KEY);
      }
    }
    serve_until_met(job, context);
    if (rank == 1) {
      EXPECT_EQ(first_difference(memory.bytes(), 4), 4096u);
      EXPECT_EQ(count_now(context, PH_EITHER), 0u);
    }
  });
}

TEST_P(Registering, a_key_is_revoked_by_whatever_lane_and_in_all_of_them) {
  ThreadJob job(2, options());
  job.run([&job](ph_context* context, ph_rank rank) {
    ph_context* const lane = open_lane(context, 3);
    Guarded memory(4096);
    ph_region mine{};
    ASSERT_EQ(ph_register(context, memory.data(), 4096, PH_ACCESS_ALL, &mine), PH_OK);
    const ph_region there = exchange(context, mine)[1];
    const auto source = filled(4096, 3);
    ph_context* const ways[] = {context, lane};
    if (rank == 0) {
      for (ph_context* const way : ways)
        ASSERT_EQ(ph_put_u64(way, 1, {source.data(), 4096}, ph_at(&there, 0), {1, 2}), PH_OK);
    }
    for (ph_context* const way : ways)
      EXPECT_EQ(take(way, rank == 0 ? PH_LOCAL : PH_REMOTE, 1 - rank).status, PH_OK);
    job.meet(context);
    if (rank == 1) {
      ASSERT_EQ(ph_revoke(lane, mine.key), PH_OK) << last_error(context).text;
    }
    ASSERT_EQ(ph_barrier(context), PH_OK);
    if (rank == 1) {
      EXPECT_EQ(take_remote(context, 0).id, 7u);
      EXPECT_EQ(take_remote(lane, 0).id, 7u);
    }
    if (rank == 0)
      for (ph_context* const way : ways) {
        ph_put_args args = put_args(source, ph_at(&there, 0), kLocal, kRemote);
        args.flags = PH_DELIVERED | PH_NO_RCE;
        const ph_status status = ph_put(way, 1, &args);
        ASSERT_EQ(ph_notify(way, 1, 7), PH_OK);
        EXPECT_EQ(status == PH_OK ? take_local(way, 1).status : status, PH_ERR_KEY);
      }
    serve_until_met(job, context);
  });
}

TEST_P(Registering, what_cannot_be_revoked_is_told_and_kept) {
  ThreadJob job(1, options());
  job.run([](ph_context* context, ph_rank) {
    ph_region region{}, found{};
    ASSERT_EQ(ph_alloc(context, 64, &region), PH_OK);
    expect_error(context, ph_revoke(context, region.key), PH_ERR_ARGUMENT, "ph_free");
    ASSERT_EQ(ph_find_region(context, reinterpret_cast<void*>(region.address), 64, &found), PH_OK);
    EXPECT_EQ(found.key, region.key);
    expect_error(context, ph_revoke(context, 0), PH_ERR_KEY, "revoke");
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, Registering, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
