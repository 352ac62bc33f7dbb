// Put and get over every transport: each size around each threshold, bytes before ids, both ids.
#include <algorithm>
#include <cstring>
#include <span>
#include <thread>
#include <vector>

#include "settings.hpp"
#include "support/taken_back.hpp"

namespace photon::test {
namespace {

class PutGet : public OverSettings {};

const std::vector<std::size_t> kPutSizes = {
    0,    1,    7,    8,    31,    32,    33,    63,    64,     191,    192,     193,          1000,
    4095, 4096, 4097, 8192, 16384, 32767, 65536, 65537, 262144, 300001, 1 << 20, (3 << 20) + 5};

ph_region shared_region(ph_context* context, ph_region mine, ph_rank owner) {
  std::vector<ph_region> all(ph_size_of(context));
  EXPECT_EQ(ph_allgather(context, &mine, all.data(), sizeof mine), PH_OK);
  return all[owner];
}

TEST_P(PutGet, puts_of_every_size_arrive_whole_before_their_id) {
  ThreadJob job(2, options());
  job.run([](ph_context* context, ph_rank rank) {
    constexpr std::size_t kRoom = 4 << 20;
    for (const bool allocated : {true, false}) {
      std::vector<std::byte> ordinary(allocated ? 1 : kRoom);
      ph_region mine{};
      if (allocated)
        ASSERT_EQ(ph_alloc(context, kRoom, &mine), PH_OK);
      else
        ASSERT_EQ(ph_register(context, ordinary.data(), kRoom, PH_ACCESS_ALL, &mine), PH_OK);
      const ph_region target = shared_region(context, mine, 1);
      std::vector<std::byte> source(kRoom);
      for (std::size_t i = 0; i < kPutSizes.size(); ++i) {
        const std::size_t size = kPutSizes[i];
        if (rank == 0) {
          fill({source.data(), size}, i);
          ASSERT_EQ(ph_put_u64(context, 1, {source.data(), size}, ph_at(&target, i), {i, i + 100}),
                    PH_OK);
          const ph_completion local = take(context, PH_LOCAL, 1);
          EXPECT_EQ(local.id, i);
          EXPECT_EQ(local.status, PH_OK);
          EXPECT_EQ(take(context, PH_REMOTE, 1).id, i + 200);
        } else {
          const ph_completion remote = take(context, PH_REMOTE, 0);
          EXPECT_EQ(remote.id, i + 100);
          const auto* bytes = reinterpret_cast<const std::byte*>(mine.address) + i;
          EXPECT_EQ(first_difference({bytes, size}, i), size) << "size " << size;
          ASSERT_EQ(ph_notify(context, 0, i + 200), PH_OK);
        }
      }
      ASSERT_EQ(ph_barrier(context), PH_OK);
    }
  });
}

TEST_P(PutGet, gets_of_every_size_land_whole_and_tell_the_owner) {
  ThreadJob job(2, options());
  job.run([](ph_context* context, ph_rank rank) {
    constexpr std::size_t kRoom = 4 << 20;
    std::vector<std::byte> memory(kRoom);
    fill(memory, 5);
    ph_region mine{};
    ASSERT_EQ(ph_register(context, memory.data(), kRoom, PH_ACCESS_READ, &mine), PH_OK);
    const TakenBack end(context, mine);
    const ph_region source = shared_region(context, mine, 1);
    std::vector<std::byte> landing(kRoom);
    for (std::size_t i = 0; i < kPutSizes.size(); ++i) {
      const std::size_t size = kPutSizes[i];
      if (rank == 0) {
        std::fill(landing.begin(), landing.end(), std::byte{0});
        ASSERT_EQ(ph_get_u64(context, 1, {landing.data(), size}, ph_at(&source, 0), {i, i + 100}),
                  PH_OK);
        EXPECT_EQ(take(context, PH_LOCAL, 1).id, i);
        EXPECT_EQ(first_difference({landing.data(), size}, 5), size) << "size " << size;
      } else {
        EXPECT_EQ(take(context, PH_REMOTE, 0).id, i + 100);
      }
    }
  });
}

TEST_P(PutGet, a_flood_of_small_puts_keeps_order_and_loses_nothing) {
  ThreadJob job(2, options());
  job.run([](ph_context* context, ph_rank rank) {
    constexpr std::uint64_t kCount = rounds(10000, 4000);  // of rings many times over
    ph_region mine{};
    ASSERT_EQ(ph_alloc(context, kCount * 8, &mine), PH_OK);
    const ph_region target = shared_region(context, mine, 1);
    std::vector<ph_completion> got(64);
    std::uint64_t posted = 0, local = 0, remote = 0;
    while (rank == 0 ? local < kCount : remote < kCount) {
      if (rank == 0 && posted < kCount) {
        const ph_status status =
            ph_put_u64(context, 1, {&posted, 8}, ph_at(&target, posted * 8), {posted, posted});
        if (status == PH_OK)
          ++posted;
        else
          ASSERT_EQ(status, PH_AGAIN);
      }
      std::size_t count = 0;
      ASSERT_EQ(
          ph_probe(context, {PH_ANY_RANK, PH_EITHER, nullptr}, got.data(), got.size(), &count),
          PH_OK);
      for (std::size_t i = 0; i < count; ++i) {
        if (got[i].kind == PH_LOCAL)
          ASSERT_EQ(got[i].id, local++);
        else
          ASSERT_EQ(got[i].id, remote++);
      }
      // The peer may need this core. (A yield would give it to everybody else in turn, too.)
      if (count == 0) static_cast<void>(ph_wait(context, {PH_ANY_RANK, PH_EITHER, nullptr}, 200));
    }
  });
}

TEST_P(PutGet, two_ranks_that_wait_for_local_ids_only_serve_each_other) {
  ThreadJob job(2, options());
  job.run([](ph_context* context, ph_rank rank) {
    constexpr std::size_t kRoom = 2 << 20;
    constexpr std::uint64_t kCount = rounds(20, 5);
    std::vector<std::byte> memory(kCount * kRoom), source(kRoom), theirs(kRoom);
    fill(source, rank);
    fill(theirs, 1 - rank);
    ph_region mine{};
    ASSERT_EQ(ph_register(context, memory.data(), memory.size(), PH_ACCESS_ALL, &mine), PH_OK);
    const ph_rank other = 1 - rank;
    const ph_region target = shared_region(context, mine, other);
    for (std::uint64_t i = 0; i < kCount; ++i)
      ASSERT_EQ(
          ph_put_u64(context, other, {source.data(), kRoom}, ph_at(&target, i * kRoom), {i, i}),
          PH_OK);
    std::vector<std::uint64_t> ended(kCount);  // as they end: only remote ids keep their order
    for (auto& id : ended) id = take(context, PH_LOCAL, other).id;
    std::sort(ended.begin(), ended.end());
    for (std::uint64_t i = 0; i < kCount; ++i) EXPECT_EQ(ended[i], i);
    for (std::uint64_t i = 0; i < kCount; ++i) {
      EXPECT_EQ(take(context, PH_REMOTE, other).id, i);
      EXPECT_EQ(std::memcmp(memory.data() + i * kRoom, theirs.data(), kRoom), 0) << i;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, PutGet, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
