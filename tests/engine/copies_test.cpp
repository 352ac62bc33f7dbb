// Copies within a host, by each way that the setting shm_copies forces and by the measured one:
// sizes around every threshold, unaligned begins and ends, every byte compared, and nothing
// written beside the target. The ranks are threads of one process, so all memory is mapped;
// mapped_min turns that off for puts, which then take the bulk ring.
#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "settings.hpp"
#include "support/taken_back.hpp"

namespace photon::test {
namespace {

constexpr std::size_t kCopyChunk = 32 << 10, kCopyPiece = 256 << 10, kCopyBulk = 2 << 20;
// Around where there is a choice, what is one chunk in the call, a chunk, a piece and the ring.
constexpr std::size_t kCopySizes[] = {2047,           2048,
                                      2049,           kCopyChunk / 2 - 1,
                                      kCopyChunk / 2, kCopyChunk / 2 + 1,
                                      kCopyChunk - 1, kCopyChunk,
                                      kCopyChunk + 1, kCopyPiece - 1,
                                      kCopyPiece,     kCopyPiece + 1,
                                      kCopyBulk - 1,  kCopyBulk,
                                      kCopyBulk + 1,  2 * kCopyBulk + 1};
constexpr std::size_t kCopySkews[][2] = {
    {0, 0}, {1, 0}, {0, 1}, {63, 17}, {16, 48}};  // target, source
constexpr std::size_t kCopyAround = 256;          // bytes that are looked at on each side
constexpr std::size_t kCopyRoom = 2 * kCopyBulk + 1 + 2 * kCopyAround + 64;
constexpr std::byte kCopyUntouched{0xa5};

// The settings that the sizes above are about, and one of shm_copies.
Options copies_by(const char* way, bool is_mapped) {
  Options options = {{"transport", "shm"},
                     {"bulk_chunk", std::to_string(kCopyChunk)},
                     {"piece_bytes", std::to_string(kCopyPiece)},
                     {"bulk_bytes", std::to_string(kCopyBulk)},
                     {"shm_copies", way}};
  if (is_mapped) return options;
  return with(std::move(options), {{"shm_cma", "off"}, {"mapped_min", "1073741824"}});
}

std::vector<Setting> copy_ways() {
  return {
      {"shm_plain", copies_by("plain", true)},     {"shm_streamed", copies_by("streamed", true)},
      {"shm_staged", copies_by("staged", true)},   {"shm_auto", copies_by("auto", true)},
      {"ring_plain", copies_by("plain", false)},   {"ring_streamed", copies_by("streamed", false)},
      {"ring_staged", copies_by("staged", false)}, {"ring_auto", copies_by("auto", false)}};
}

struct OneCopy {
  std::size_t size_bytes;
  std::size_t target_skew;
  std::size_t source_skew;
  std::uint64_t seed;  // of its bytes, and its id
};

// Every size with every skew, but the large ones with one each.
std::vector<OneCopy> all_copies() {
  std::vector<OneCopy> all;
  for (const std::size_t size : kCopySizes) {
    const bool is_large = size > kCopyPiece + 1;
    const std::size_t its_own = all.size() % std::size(kCopySkews);
    for (std::size_t i = 0; i < std::size(kCopySkews); ++i)
      if (!is_large || i == its_own)
        all.push_back({size, kCopySkews[i][0], kCopySkews[i][1], all.size()});
  }
  return all;
}

// Memory of ph_alloc(), or of the C++ library and registered.
class CopiedMemory {
 public:
  CopiedMemory(ph_context* context, bool is_allocated, std::size_t size_bytes)
      : ordinary_(is_allocated ? 0 : size_bytes) {
    const ph_status status =
        is_allocated ? ph_alloc(context, size_bytes, &region_)
                     : ph_register(context, ordinary_.data(), size_bytes, PH_ACCESS_ALL, &region_);
    EXPECT_EQ(status, PH_OK) << last_error(context).text;
    regions_ = exchange(context, region_);
    if (!is_allocated) end_.emplace(context, region_);
  }
  std::span<std::byte> bytes() const {
    return {reinterpret_cast<std::byte*>(region_.address), region_.size_bytes};
  }
  const ph_region& of(ph_rank rank) const { return regions_[rank]; }

 private:
  std::vector<std::byte> ordinary_;
  ph_region region_{};
  std::vector<ph_region> regions_;
  std::optional<TakenBack> end_;
};

// The bytes from `begin` on are those of `one`, and none beside them was written.
void expect_copied(std::span<const std::byte> all, std::size_t begin, const OneCopy& one) {
  const auto bytes = all.subspan(begin, one.size_bytes);
  EXPECT_EQ(first_difference(bytes, one.seed), one.size_bytes)
      << one.size_bytes << " bytes, skewed by " << one.target_skew << " and " << one.source_skew;
  EXPECT_TRUE(all_are(all.subspan(begin - kCopyAround, kCopyAround), kCopyUntouched))
      << "before it";
  EXPECT_TRUE(all_are(all.subspan(begin + one.size_bytes, kCopyAround), kCopyUntouched))
      << "behind it";
}

void clear_around(std::span<std::byte> all, std::size_t begin, const OneCopy& one) {
  const auto whole = all.subspan(begin - kCopyAround, one.size_bytes + 2 * kCopyAround);
  std::fill(whole.begin(), whole.end(), kCopyUntouched);
}

class Copies : public OverSettings {};

TEST_P(Copies, puts_around_every_threshold_write_their_bytes_and_no_other) {
  ThreadJob job(2, options());
  job.run([](ph_context* context, ph_rank rank) {
    constexpr std::uint64_t kReady = 1'000'000;
    for (const bool is_allocated : {true, false}) {
      const CopiedMemory memory(context, is_allocated, kCopyRoom);
      std::vector<std::byte> source(rank == 0 ? kCopyRoom : 0);
      for (const OneCopy& one : all_copies()) {
        const std::size_t begin = kCopyAround + one.target_skew;
        if (rank == 1) {
          clear_around(memory.bytes(), begin, one);
          ASSERT_EQ(ph_notify(context, 0, kReady), PH_OK);
          ASSERT_EQ(take(context, PH_REMOTE, 0).id, one.seed);
          expect_copied(memory.bytes(), begin, one);
          continue;
        }
        const std::span bytes(source.data() + one.source_skew, one.size_bytes);
        fill(bytes, one.seed);
        ASSERT_EQ(take(context, PH_REMOTE, 1).id, kReady);
        ASSERT_EQ(ph_put_u64(context, 1, {bytes.data(), bytes.size()}, ph_at(&memory.of(1), begin),
                             {one.seed, one.seed}),
                  PH_OK);
        const ph_completion local = take(context, PH_LOCAL, 1);
        ASSERT_EQ(local.id, one.seed);
        ASSERT_EQ(local.status, PH_OK);
      }
      ASSERT_EQ(ph_barrier(context), PH_OK);
    }
  });
}

TEST_P(Copies, gets_around_every_threshold_write_their_bytes_and_no_other) {
  ThreadJob job(2, options());
  job.run([](ph_context* context, ph_rank rank) {
    for (const bool is_allocated : {true, false}) {
      const CopiedMemory memory(context, is_allocated, kCopyRoom);
      std::vector<std::byte> landing(rank == 0 ? kCopyRoom : 0);
      for (const OneCopy& one : all_copies()) {
        // What is got begins where a put's source does, and lands where a put's target does.
        const std::size_t begin = kCopyAround + one.target_skew;
        if (rank == 1) {
          fill(memory.bytes().subspan(one.source_skew, one.size_bytes), one.seed);
          ASSERT_EQ(ph_notify(context, 0, one.seed), PH_OK);
          ASSERT_EQ(take(context, PH_REMOTE, 0).id, one.seed);
          continue;
        }
        clear_around(landing, begin, one);
        ASSERT_EQ(take(context, PH_REMOTE, 1).id, one.seed);
        ASSERT_EQ(ph_get_u64(context, 1, {landing.data() + begin, one.size_bytes},
                             ph_at(&memory.of(1), one.source_skew), {one.seed, one.seed}),
                  PH_OK);
        const ph_completion local = take(context, PH_LOCAL, 1);
        ASSERT_EQ(local.id, one.seed);
        ASSERT_EQ(local.status, PH_OK);
        expect_copied(landing, begin, one);
      }
      ASSERT_EQ(ph_barrier(context), PH_OK);
    }
  });
}

// There are enough puts of a size for the measured choice to try every way. The targets lie side by
// side, so that two of them share a line; all bytes are compared again at the end.
TEST_P(Copies, a_stream_of_puts_side_by_side_is_exact_and_its_ids_keep_their_order) {
  ThreadJob job(2, options());
  job.run([](ph_context* context, ph_rank rank) {
    constexpr std::size_t kStreamedSizes[] = {2049, kCopyChunk / 2, kCopyChunk + 1, 65'537,
                                              kCopyPiece + 1};
    constexpr std::uint64_t kEach = rounds(32, 16);
    for (const bool is_allocated : {true, false}) {
      std::vector<std::size_t> begins = {kCopyAround + 1};
      for (const std::size_t size : kStreamedSizes)
        for (std::uint64_t i = 0; i < kEach; ++i) begins.push_back(begins.back() + size);
      const std::uint64_t count = begins.size() - 1;
      const CopiedMemory memory(context, is_allocated, begins.back() + kCopyAround);
      const auto all = memory.bytes();
      const auto is_there = [&](std::uint64_t id) {
        const std::size_t size = begins[id + 1] - begins[id];
        return first_difference(all.subspan(begins[id], size), id) == size;
      };
      if (rank == 1) std::fill(all.begin(), all.end(), kCopyUntouched);
      ASSERT_EQ(ph_barrier(context), PH_OK);
      if (rank == 1) {
        for (std::uint64_t id = 0; id < count; ++id) {
          ASSERT_EQ(take(context, PH_REMOTE, 0).id, id);
          ASSERT_TRUE(is_there(id)) << id;
        }
        for (std::uint64_t id = 0; id < count; ++id) ASSERT_TRUE(is_there(id)) << id;
        EXPECT_TRUE(all_are(all.first(begins[0]), kCopyUntouched));
        EXPECT_TRUE(all_are(all.last(kCopyAround), kCopyUntouched));
      } else {
        std::vector<std::vector<std::byte>> sources;
        for (std::uint64_t id = 0; id < count; ++id) {
          sources.push_back(filled(begins[id + 1] - begins[id], id));
          ASSERT_EQ(insist(context,
                           [&] {
                             return ph_put_u64(context, 1, {sources[id].data(), sources[id].size()},
                                               ph_at(&memory.of(1), begins[id]), {id, id});
                           }),
                    PH_OK);
        }
        std::vector<bool> has_ended(count);
        for (std::uint64_t left = count; left > 0; --left) {
          const ph_completion local = take(context, PH_LOCAL, 1);
          ASSERT_EQ(local.status, PH_OK);
          ASSERT_LT(local.id, count);
          ASSERT_FALSE(has_ended[local.id]) << local.id;
          has_ended[local.id] = true;
        }
      }
      ASSERT_EQ(ph_barrier(context), PH_OK);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Ways, Copies, testing::ValuesIn(copy_ways()), setting_name);

}  // namespace
}  // namespace photon::test
