// Streams of puts of some hundred bytes to some KiB into memory that its owner alone reaches:
// around each threshold, mixed with smaller and larger ones, however they are probed.
#include <span>
#include <vector>

#include "settings.hpp"

namespace photon::test {
namespace {

class EagerStream : public OverSettings {
 protected:
  // What ranks of one process put to each other does not go straight to its place.
  static Options unmapped() { return options({{"mapped_min", "1048576"}}); }
};

constexpr std::size_t kEagerSlot = 24 << 10;
constexpr std::uint64_t kEagerSlots = 16;
// Of the usual settings: a record of one line, of some; one chunk from 193 to 16384; several.
constexpr std::size_t kEagerSizes[] = {193, 1024, 8,    1000, 192,  512,  513,   4095, 4096,
                                       33,  4097, 1025, 600,  2047, 2048, 16384, 16385};

std::size_t eager_size(std::uint64_t i) { return kEagerSizes[i % std::size(kEagerSizes)]; }

void send_eagerly(ph_context* context, const ph_region& there, std::uint64_t count) {
  std::vector<std::byte> sources(kEagerSlots * kEagerSlot);
  std::uint64_t done = 0;   // local ids
  std::uint64_t freed = 0;  // read over there
  for (std::uint64_t i = 0; i < count || done < count; ++i) {
    while (i >= count ? done < count : i >= std::min(done, freed) + kEagerSlots) {
      const ph_completion one = take(context, PH_EITHER, 1);
      ASSERT_EQ(one.status, PH_OK);
      if (one.kind == PH_LOCAL)
        ++done;
      else
        freed = one.id;
    }
    if (i >= count) break;
    const std::uint64_t at = i % kEagerSlots * kEagerSlot;
    const std::span<std::byte> source{sources.data() + at, eager_size(i)};
    fill(source, i);
    ASSERT_EQ(insist(context,
                     [&] {
                       return ph_put_u64(context, 1, {source.data(), source.size()},
                                         ph_at(&there, at + i % 64), {i, i});
                     }),
              PH_OK);
  }
  while (freed < count) freed = take(context, PH_REMOTE, 1).id;
}

void receive_eagerly(ph_context* context, const std::byte* memory, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t id = 0;
    for (;;) {  // one by one, but now and then an array's probe
      if (i % 7 == 0) {
        id = take(context, PH_REMOTE, 0).id;
        break;
      }
      const ph_u64_completion one = ph_probe_u64(context, 0, PH_REMOTE);
      ASSERT_EQ(one.status, PH_OK);
      id = one.id;
      if (one.kind == PH_REMOTE) break;
      const ph_query query{0, PH_REMOTE, nullptr};
      ASSERT_EQ(ph_wait(context, query, kTakeTimeoutUs), PH_OK);
    }
    ASSERT_EQ(id, i) << "ids out of order";
    const std::size_t size = eager_size(i);
    const std::byte* const bytes = memory + i % kEagerSlots * kEagerSlot + i % 64;
    ASSERT_EQ(first_difference({bytes, size}, i), size) << "put " << i << " of " << size;
    ASSERT_EQ(insist(context, [&] { return ph_notify(context, 0, i + 1); }), PH_OK);
  }
}

TEST_P(EagerStream, every_put_comes_in_its_turn_with_its_bytes) {
  ThreadJob job(2, unmapped());
  job.run([](ph_context* context, ph_rank rank) {
    const std::uint64_t count = is_sim() ? 500 : rounds(20'000, 2000);
    std::vector<std::byte> memory(kEagerSlots * kEagerSlot);
    ph_region mine{};
    ASSERT_EQ(ph_register(context, memory.data(), memory.size(), PH_ACCESS_ALL, &mine), PH_OK);
    const ph_region there = exchange(context, mine)[1];
    if (rank == 0)
      send_eagerly(context, there, count);
    else
      receive_eagerly(context, memory.data(), count);
    ASSERT_EQ(ph_barrier(context), PH_OK);
  });
}
INSTANTIATE_TEST_SUITE_P(Settings, EagerStream, testing::ValuesIn(all_settings()), setting_name);

}  // namespace
}  // namespace photon::test
