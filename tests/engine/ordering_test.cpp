// Ids in posting order whatever way their bytes take, fences, flushes and what the flags promise.
#include <optional>
#include <vector>

#include "settings.hpp"
#include "support/taken_back.hpp"

namespace photon::test {
namespace {

class Ordering : public OverSettings {};

constexpr std::size_t kOrderedRoom = 1 << 20;
// Around each threshold: one line, packed_max, direct_min, one chunk, many chunks, piece_bytes.
constexpr std::size_t kMixedSizes[] = {0,    1,     8,     32,    33,     192,   193, 4095,  4096,
                                       8000, 32768, 65536, 65537, 262144, 70000, 3,   300000};
constexpr std::size_t kMeanBytes = 50'000;  // at least, of many of these

// Every 17 have all of these sizes, each time in another order.
std::size_t mixed_size(std::uint64_t n) {
  constexpr std::size_t kSizes = std::size(kMixedSizes);
  static_assert(kSizes == 17, "a prime, so that each step visits all");
  const std::uint64_t step = 1 + n / kSizes % (kSizes - 1);
  return kMixedSizes[n * step % kSizes];
}

struct Memory {
  Memory(ph_context* context, bool allocated, std::size_t size_bytes)
      : ordinary(allocated ? 0 : size_bytes) {
    if (allocated)
      EXPECT_EQ(ph_alloc(context, size_bytes, &region), PH_OK);
    else
      EXPECT_EQ(ph_register(context, ordinary.data(), size_bytes, PH_ACCESS_ALL, &region), PH_OK);
    regions = exchange(context, region);
    if (!allocated) end.emplace(context, region);
  }
  std::span<std::byte> bytes() const {
    return {reinterpret_cast<std::byte*>(region.address), region.size_bytes};
  }
  std::vector<std::byte> ordinary;
  ph_region region{};
  std::vector<ph_region> regions;
  std::optional<TakenBack> end;
};

TEST_P(Ordering, ids_of_all_modes_are_probed_in_the_order_of_posting) {
  for (const std::uint32_t ranks : {2u, 3u, 5u}) {
    ThreadJob job(ranks, options());
    // Each size some times over, after each other; and the sanitizer pays for each byte of memory.
    // Where the rings are small every few KiB are a turn of both ranks.
    const std::uint64_t few = 2 * std::size(kMixedSizes);
    const std::uint64_t each = is_small() ? few : rounds(ranks < 5 ? 200 : 100, few);
    job.run([&job, each](ph_context* context, ph_rank rank) {
      const ph_rank size = ph_size_of(context);
      const std::size_t room = each * kMeanBytes;  // of one rank at another
      for (const bool allocated : {true, false}) {
        const Memory memory(context, allocated, (size - 1) * room);  // one for each peer
        const auto source = filled(std::ranges::max(kMixedSizes), rank);
        std::vector<std::uint64_t> posted(size), probed(size), used(size);
        std::uint64_t left = (size - 1) * each, locals = left, turn = 0;
        while (left != 0 || locals != 0) {
          const ph_rank to = (rank + 1 + turn++ % (size - 1)) % size;
          if (posted[to] < each) {
            const std::uint64_t id = posted[to];
            const std::size_t bytes = mixed_size(id + rank * std::size(kMixedSizes));
            const std::size_t ours = (rank < to ? rank : rank - 1) * room;
            const ph_target at = ph_at(&memory.regions[to], ours + used[to]);
            const ph_status status = ph_put_u64(context, to, {source.data(), bytes}, at, {id, id});
            ASSERT_TRUE(status == PH_OK || status == PH_AGAIN) << status;
            posted[to] += status == PH_OK;
            used[to] += status == PH_OK ? bytes : 0;
            ASSERT_LE(used[to], room);
          }
          ph_completion found[16];
          std::size_t count = 0;
          ASSERT_EQ(ph_probe(context, {PH_ANY_RANK, PH_EITHER, nullptr}, found, 16, &count), PH_OK);
          for (std::size_t i = 0; i < count; ++i) {
            ASSERT_EQ(found[i].status, PH_OK);
            --(found[i].kind == PH_LOCAL ? locals : left);
            if (found[i].kind == PH_REMOTE) {
              ASSERT_EQ(found[i].id, probed[found[i].peer]++);
            }
          }
          if (count == 0) std::this_thread::yield();  // a peer may need this core
        }
        job.meet(context);  // ids that wait for credit still need us
      }
    });
  }
}

TEST_P(Ordering, a_later_put_behind_a_fence_wins_for_every_pair_of_modes) {
  ThreadJob job(2, options());
  job.run([&job](ph_context* context, ph_rank rank) {
    for (const bool allocated : {true, false}) {
      const Memory memory(context, allocated, kOrderedRoom);
      constexpr std::size_t kLargest = 300'000;
      std::uint64_t round = 0;
      for (const std::size_t first : {8ul, 193ul, 5000ul, 70000ul, 300000ul})
        for (const std::size_t second : {8ul, 193ul, 5000ul, 70000ul, 300000ul}) {
          const std::size_t both = std::min(first, second);
          if (rank == 0) {
            const auto early = filled(first, 1), late = filled(second, 2 + round);
            const ph_target at = ph_at(&memory.regions[1], 64);
            // Two that go elsewhere keep the way busy; the third is the one to be overtaken.
            for (const std::uint64_t away : {2ul, 1ul, 0ul})
              ASSERT_EQ(insist(context,
                               [&] {
                                 const ph_target place =
                                     ph_at(&memory.regions[1], 64 + away * kLargest);
                                 ph_put_args args = put_args(early, place, round, round);
                                 args.flags = PH_NO_RCE | PH_NO_LCE;
                                 return ph_put(context, 1, &args);
                               }),
                        PH_OK);
            ASSERT_EQ(insist(context, [&] { return ph_fence(context, 1); }), PH_OK);
            ASSERT_EQ(
                insist(context,
                       [&] {
                         return ph_put_u64(context, 1, {late.data(), second}, at, {round, round});
                       }),
                PH_OK);
            EXPECT_EQ(take(context, PH_LOCAL, 1).id, round);
            EXPECT_EQ(take(context, PH_REMOTE, 1).id, round);
          } else {
            EXPECT_EQ(take(context, PH_REMOTE, 0).id, round);
            EXPECT_EQ(first_difference(memory.bytes().subspan(64, both), 2 + round), both)
                << first << " then " << second;
            ASSERT_EQ(ph_notify(context, 0, round), PH_OK);
          }
          ++round;
        }
      job.meet(context);
    }
  });
}

TEST_P(Ordering, a_get_behind_a_fence_reads_what_was_put_before) {
  ThreadJob job(2, options());
  job.run([&job](ph_context* context, ph_rank rank) {
    const Memory memory(context, false, kOrderedRoom);
    if (rank == 0) {
      std::uint64_t round = 0;
      for (const std::size_t size : {8ul, 500ul, 5000ul, 70000ul, 300000ul}) {
        ++round;
        const auto source = filled(size, round);
        std::vector<std::byte> landing(size);
        ASSERT_EQ(
            ph_put_u64(context, 1, {source.data(), size}, ph_at(&memory.regions[1], 0), {1, 1}),
            PH_OK);
        ASSERT_EQ(insist(context, [&] { return ph_fence(context, 1); }), PH_OK);
        ASSERT_EQ(
            ph_get_u64(context, 1, {landing.data(), size}, ph_at(&memory.regions[1], 0), {2, 2}),
            PH_OK);
        EXPECT_EQ(take(context, PH_LOCAL, 1).id, 1u);
        EXPECT_EQ(take(context, PH_LOCAL, 1).id, 2u);
        EXPECT_EQ(first_difference(landing, round), size);
      }
    } else {
      for (std::uint64_t i = 0; i < 5; ++i) {
        EXPECT_EQ(take(context, PH_REMOTE, 0).id, 1u);
        EXPECT_EQ(take(context, PH_REMOTE, 0).id, 2u);
      }
    }
    job.meet(context);
  });
}

// The target makes progress but probes nothing: flush must not wait for its application.
TEST_P(Ordering, what_was_put_has_landed_when_flush_returns) {
  ThreadJob job(2, options());
  job.run([&job](ph_context* context, ph_rank rank) {
    const Memory memory(context, false, kOrderedRoom);
    const auto* theirs = reinterpret_cast<const std::byte*>(memory.regions[1].address);
    if (rank == 0) {
      std::uint64_t round = 0;
      for (const std::size_t size : {8ul, 500ul, 5000ul, 70000ul, 300000ul})
        for (const ph_rank whom : {ph_rank{1}, PH_ANY_RANK}) {
          const auto source = filled(size, ++round);
          ph_put_args args = put_args(source, ph_at(&memory.regions[1], 32), round, round);
          args.flags = PH_NO_RCE;
          ASSERT_EQ(ph_put(context, 1, &args), PH_OK);
          ASSERT_EQ(ph_flush(context, whom, kTakeTimeoutUs), PH_OK);
          EXPECT_EQ(first_difference({theirs + 32, size}, round), size);
          EXPECT_EQ(take(context, PH_LOCAL, 1).id, round);
        }
      EXPECT_EQ(ph_flush(context, 1, 0), PH_OK) << "nothing was to be flushed";
    }
    job.meet(context);
  });
}

TEST_P(Ordering, flush_needs_no_probe_of_the_target_however_many_ids_are_under_way) {
  ThreadJob job(2, options());
  job.run([&job](ph_context* context, ph_rank rank) {
    const Memory memory(context, false, 4096);
    const auto* theirs = reinterpret_cast<const std::byte*>(memory.regions[1].address);
    constexpr std::uint64_t kCount = 10;
    if (rank == 0) {
      for (std::uint64_t i = 0; i < kCount; ++i)
        ASSERT_EQ(ph_put_u64(context, 1, {&i, 8}, ph_at(&memory.regions[1], i * 8), {i, i}), PH_OK);
      EXPECT_EQ(ph_flush(context, 1, 2'000'000), PH_OK)
          << "the target's application has probed nothing, but it makes progress";
      for (std::uint64_t i = 0; i < kCount; ++i) {
        std::uint64_t value = 99;
        std::memcpy(&value, theirs + i * 8, 8);
        EXPECT_EQ(value, i);
      }
    }
    // Rank 1 makes progress, and takes nothing before rank 0 has flushed.
    if (rank == 1)
      serve_until_met(job, context);
    else
      job.meet();
    if (rank == 1) {
      for (std::uint64_t i = 0; i < kCount; ++i) EXPECT_EQ(take(context, PH_REMOTE, 0).id, i);
    }
  });
}

TEST_P(Ordering, ranks_that_wait_for_deliveries_only_serve_each_other) {
  for (const std::size_t size : {8ul, 150ul, 1000ul, 70000ul}) {
    ThreadJob job(2, options());
    job.run([size, &job](ph_context* context, ph_rank rank) {
      const Memory memory(context, false, kOrderedRoom);
      const ph_rank other = 1 - rank;
      const auto source = filled(size, rank);
      constexpr std::uint64_t kCount = 10;
      for (std::uint64_t i = 0; i < kCount; ++i) {
        ph_put_args args = put_args(source, ph_at(&memory.regions[other], i * size), i, i);
        args.flags = PH_DELIVERED;
        ASSERT_EQ(insist(context, [&] { return ph_put(context, other, &args); }), PH_OK);
      }
      const ph_query query = {other, PH_LOCAL, nullptr};
      std::vector<std::uint64_t>
          delivered;  // in any order: some were stored, some went by the ring
      for (std::uint64_t i = 0; i < kCount; ++i) {
        ASSERT_EQ(ph_wait(context, query, 5'000'000), PH_OK)
            << "delivery " << i << " of " << size << " bytes waits for the peer's application";
        delivered.push_back(take(context, PH_LOCAL, other).id);
      }
      std::sort(delivered.begin(), delivered.end());
      for (std::uint64_t i = 0; i < kCount; ++i) EXPECT_EQ(delivered[i], i);
      serve_until_met(job, context);
      for (std::uint64_t i = 0; i < kCount; ++i) {
        EXPECT_EQ(first_difference(memory.bytes().subspan(i * size, size), other), size) << i;
        EXPECT_EQ(take(context, PH_REMOTE, other).id, i);
      }
    });
  }
}

TEST_P(Ordering, delivered_means_that_the_bytes_are_at_the_target) {
  ThreadJob job(2, options());
  job.run([&job](ph_context* context, ph_rank rank) {
    const Memory memory(context, false, kOrderedRoom);
    const auto* theirs = reinterpret_cast<const std::byte*>(memory.regions[1].address);
    if (rank == 0) {
      std::uint64_t round = 0;
      for (const std::size_t size : {0ul, 8ul, 500ul, 5000ul, 70000ul, 300000ul})
        for (const std::uint32_t more :
             {0u, std::uint32_t{PH_NO_RCE}, std::uint32_t{PH_ORDER_NONE}}) {
          const auto source = filled(size, ++round);
          ph_put_args args = put_args(source, ph_at(&memory.regions[1], 8), round, round);
          args.flags = PH_DELIVERED | more;
          ASSERT_EQ(ph_put(context, 1, &args), PH_OK);
          EXPECT_EQ(take(context, PH_LOCAL, 1).id, round);
          EXPECT_EQ(first_difference({theirs + 8, size}, round), size);
          if (more != PH_NO_RCE) {
            EXPECT_EQ(take(context, PH_REMOTE, 1).id, round) << "echo";
          }
        }
      ASSERT_EQ(ph_notify(context, 1, 999), PH_OK);
    } else {
      for (;;) {
        const std::uint64_t id = take(context, PH_REMOTE, 0).id;
        if (id == 999) break;
        ASSERT_EQ(ph_notify(context, 0, id), PH_OK);
      }
    }
    job.meet(context);
  });
}

TEST_P(Ordering, ids_without_order_arrive_all_and_once) {
  ThreadJob job(2, options());
  job.run([](ph_context* context, ph_rank rank) {
    constexpr std::uint64_t kCount = 300;
    const Memory memory(context, false, kCount * kMeanBytes);
    const auto source = filled(std::ranges::max(kMixedSizes), 1);
    std::vector<int> seen(kCount);
    std::uint64_t left = kCount, used = 0;
    for (std::uint64_t i = 0; rank == 0 && i < kCount; ++i) {
      const std::size_t size = mixed_size(i);
      ph_put_args args = put_args({source.data(), size}, ph_at(&memory.regions[1], used), i, i);
      used += size;
      ASSERT_LE(used, kCount * kMeanBytes);
      args.flags = PH_NO_LCE | (i % 3 != 0 ? PH_ORDER_NONE : 0);
      ASSERT_EQ(insist(context, [&] { return ph_put(context, 1, &args); }), PH_OK);
    }
    std::uint64_t last_strict = 0;
    while (rank == 1 && left > 0) {
      const std::uint64_t id = take(context, PH_REMOTE, 0).id;
      ASSERT_LT(id, kCount);
      ASSERT_EQ(seen[id]++, 0);
      if (id % 3 == 0) {
        EXPECT_TRUE(id == 0 || id > last_strict) << id << " after " << last_strict;
        last_strict = id;
      }
      --left;
    }
    // The source must live until the last byte has left it.
    if (rank == 0) {
      EXPECT_EQ(insist(context, [&] { return ph_flush(context, 1, kTakeTimeoutUs); }), PH_OK);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, Ordering, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
