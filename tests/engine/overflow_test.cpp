// Notifications to a rank that does not probe: they are taken at once, and reach it in order
// although their sender never calls again.
#include "settings.hpp"

namespace photon::test {
namespace {

constexpr std::uint64_t kMany = 100'000;

class Overflowing : public OverSettings {};

// Rank 1 computes until all ranks have sent; then the senders compute until it has taken all.
TEST_P(Overflowing, many_notifications_to_a_rank_that_computes_arrive_without_their_senders) {
  constexpr std::uint32_t kRanks = 4;
  ThreadJob job(kRanks, options());
  job.run([&](ph_context* context, ph_rank rank) {
    if (rank != 1) {
      for (std::uint64_t i = 0; i < kMany; ++i) ASSERT_EQ(ph_notify(context, 1, i), PH_OK) << i;
      job.meet();
      job.meet();
      return;
    }
    job.meet();
    std::vector<std::uint64_t> expected(kRanks);
    for (std::uint64_t left = (kRanks - 1) * kMany; left > 0;) {
      ph_completion completions[64];
      std::size_t count = 0;
      ASSERT_EQ(ph_probe(context, {PH_ANY_RANK, PH_REMOTE, nullptr}, completions, 64, &count),
                PH_OK);
      for (std::size_t i = 0; i < count; ++i)
        ASSERT_EQ(completions[i].id, expected[completions[i].peer]++);
      left -= count;
    }
    job.meet();
  });
}

class OverflowingAnywhere : public OverSettings {};

// Both directions at once, with operations that have bytes between: everything in order.
TEST_P(OverflowingAnywhere, puts_and_notifications_keep_their_order) {
  const std::uint64_t puts_count = is_small() ? 504 : 3000;
  constexpr std::uint64_t kGroup = 21504;  // bytes of the puts among eight
  ThreadJob job(2, options());
  job.run([&](ph_context* context, ph_rank rank) {
    std::vector<std::byte> memory(puts_count / 8 * kGroup);  // each put has bytes of its own
    std::vector<std::byte> source(16384);
    ph_region mine{};
    ASSERT_EQ(ph_register(context, memory.data(), memory.size(), PH_ACCESS_ALL, &mine), PH_OK);
    ph_region all[2];
    ASSERT_EQ(ph_allgather(context, &mine, all, sizeof mine), PH_OK);
    const ph_rank other = 1 - rank;
    std::uint64_t expected = 0;
    const auto take = [&](std::size_t most) {
      ph_completion completions[64];
      std::size_t count = 0;
      ASSERT_EQ(ph_probe(context, {PH_ANY_RANK, PH_EITHER, nullptr}, completions, most, &count),
                PH_OK);
      for (std::size_t i = 0; i < count; ++i)
        if (completions[i].kind == PH_REMOTE) {
          ASSERT_EQ(completions[i].id, expected++);
        }
    };
    for (std::uint64_t id = 0; id < puts_count;) {
      constexpr std::size_t kSizes[] = {0, 8, 5000, 0, 0, 16384, 0, 100};
      constexpr std::size_t kPlaces[] = {0, 0, 8, 0, 0, 5008, 0, 21392};
      const std::uint64_t place = id / 8 * kGroup + kPlaces[id % 8];
      const std::size_t size = kSizes[id % 8];
      const ph_status status = size == 0 ? ph_notify(context, other, id)
                                         : ph_put_u64(context, other, {source.data(), size},
                                                      ph_at(&all[other], place), {id, id});
      if (status == PH_OK) ++id;
      if (status == PH_AGAIN || id % 128 == 0) take(1 + id % 64);
      ASSERT_TRUE(status == PH_OK || status == PH_AGAIN);
    }
    while (expected < puts_count) take(64);
    ASSERT_EQ(ph_flush(context, other, PH_FOREVER), PH_OK);
    job.meet(context);
  });
}

// Many more than the ledger and the requests hold.
TEST_P(OverflowingAnywhere, ranks_that_never_probe_for_remote_ids_get_their_local_ones) {
  const std::uint64_t puts_count = is_small() ? 504 : 3000;
  ThreadJob job(2, options({{"requests", "64"}}));
  job.run([&](ph_context* context, ph_rank rank) {
    constexpr std::size_t kSizes[] = {8, 0, 100, 1, 192};
    constexpr std::size_t kMost = 192;
    std::vector<std::byte> memory(puts_count * kMost), source(kMost);
    ph_region mine{};
    ASSERT_EQ(ph_register(context, memory.data(), memory.size(), PH_ACCESS_ALL, &mine), PH_OK);
    const auto regions = exchange(context, mine);
    const ph_rank other = 1 - rank;
    for (std::uint64_t id = 0; id < puts_count; ++id) {
      const std::size_t size = kSizes[id % std::size(kSizes)];
      fill(source, id);
      ASSERT_EQ(ph_put_u64(context, other, {source.data(), size},
                           ph_at(&regions[other], id * kMost), {id, id}),
                PH_OK);
      ASSERT_EQ(take(context, PH_LOCAL, other).id, id);
    }
    serve_until_met(job, context);
    for (std::uint64_t id = 0; id < puts_count; ++id) {
      ASSERT_EQ(take(context, PH_REMOTE, other).id, id);
      const std::size_t size = kSizes[id % std::size(kSizes)];
      ASSERT_EQ(first_difference({&memory[id * kMost], size}, id), size);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, OverflowingAnywhere, testing::ValuesIn(all_settings()),
                         setting_name);

INSTANTIATE_TEST_SUITE_P(
    Settings, Overflowing,
    testing::Values(Setting{"shm", {{"transport", "shm"}}},
                    Setting{"shm_small", small({{"transport", "shm"}})},
                    Setting{"sim_mapped", {{"transport", "sim"}, {"sim_profile", "mapped"}}}),
    setting_name);

}  // namespace
}  // namespace photon::test
