// Puts of one chunk on a credit grant: one line and their bytes in the bulk ring, and what of them
// is left to the general way.
#include "engine/eager_chunks.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <deque>

#include "engine/fast_path.hpp"
#include "engine_unit.hpp"

namespace photon::engine::test {
namespace {

constexpr std::uint64_t kEagerHeader = wire::encode(wire::Kind::bulk, 8, 0);
constexpr std::size_t kMostEager = 1024;  // half a chunk of these tests

// Two ranks that have met; rank 0 puts and rank 1 takes, on the fast path.
class EagerChunksTest : public testing::Test {
 protected:
  ph_status put(std::span<const std::byte> source, std::uint64_t id, std::uint64_t offset = 0) {
    return two_.ranks[0].put_u64(1, {source.data(), source.size()}, ph_at(&two_.region, offset),
                                 {id, id + 100});
  }
  // By try_probe() alone; 0: it found none.
  std::uint64_t taken() {
    ph_completion one{};
    CompletionSink sink{{PH_ANY_RANK, PH_REMOTE, nullptr}, &one, 1};
    two_.ranks[1].try_probe(sink.query, sink);
    return sink.count == 0 ? 0 : one.id;
  }
  std::uint64_t header_at(std::uint64_t line) {
    return two_.ranks.link(0, 1).tx_lines[line].tag_word() & ~std::uint64_t{0xffff};
  }
  std::byte* landing() { return two_.memory.data(); }

  Two two_;
};

TEST_F(EagerChunksTest, a_put_is_one_line_and_is_taken_by_the_probe_that_meets_it) {
  std::uint64_t id = 0;
  for (const std::size_t size : {193ul, 194ul, 199ul, 200ul, 255ul, 256ul, 257ul, 511ul, 512ul,
                                 513ul, 1000ul, 1023ul, kMostEager}) {
    const auto source = filled(size, ++id);
    ASSERT_EQ(put(source, id, id), PH_OK);
    EXPECT_EQ(header_at(id), kEagerHeader) << size;  // line 0 was the meeting
    EXPECT_EQ(two_.ranks.take(0, PH_LOCAL).id, id);
    EXPECT_EQ(taken(), id + 100) << size;
    EXPECT_EQ(first_difference({landing() + id, size}, id), size);
    two_.ranks.turn();
  }
  EXPECT_TRUE(two_.memory.guards_whole());
  EXPECT_EQ(two_.ranks[0].resource_use().events, 0);
}

TEST_F(EagerChunksTest, other_sizes_go_as_before_and_land_the_same) {
  std::uint64_t id = 0;
  for (const std::size_t size : {33ul, 192ul, kMostEager + 1, 2 * kMostEager}) {
    const auto source = filled(size, ++id);
    ASSERT_EQ(put(source, id), PH_OK);
    EXPECT_EQ(two_.ranks.take(1, PH_REMOTE).id, id + 100);
    EXPECT_EQ(first_difference({landing(), size}, id), size);
    EXPECT_EQ(two_.ranks.take(0, PH_LOCAL).id, id);
  }
  // The first two are records with their payload, of two and of five lines.
  EXPECT_EQ(header_at(1), wire::encode(wire::Kind::put, 8, 33));
  EXPECT_EQ(header_at(1 + wire::lines_for(wire::Kind::put, 8, 33)),
            wire::encode(wire::Kind::put, 8, 192));
}

// Behind the last byte of the source nobody may read, and behind the last of the target write.
TEST_F(EagerChunksTest, a_source_and_a_target_that_end_at_a_page_that_is_not_there) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const both =
      ::mmap(nullptr, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(both, MAP_FAILED);
  auto* const bytes = static_cast<std::byte*>(both);
  ASSERT_EQ(::munmap(bytes + page, page), 0);
  ASSERT_EQ(::munmap(bytes + 3 * page, page), 0);
  const ph_region target = two_.ranks.add(1, {bytes + 2 * page, page});
  for (std::size_t size = 193; size <= kMostEager; size += size < 330 ? 1 : 31) {
    fill({bytes + page - size, size}, size);
    ASSERT_EQ(two_.ranks[0].put_u64(1, {bytes + page - size, size}, ph_at(&target, page - size),
                                    {size, size}),
              PH_OK);
    EXPECT_EQ(two_.ranks.take(1, PH_REMOTE).id, size);
    EXPECT_EQ(first_difference({bytes + 3 * page - size, size}, size), size);
    EXPECT_EQ(two_.ranks.take(0, PH_LOCAL).id, size);
  }
  EXPECT_EQ(remove_region(two_.ranks[1], target.key), PH_OK);
  ::munmap(bytes, page);
  ::munmap(bytes + 2 * page, page);
}

TEST_F(EagerChunksTest, one_that_may_not_is_refused_with_words_and_does_nothing) {
  const auto source = filled(512, 1);
  const auto at = [&](const void* from, ph_target target) {
    return two_.ranks[0].put_u64(1, {from, 512}, target, {1, 2});
  };
  const ph_target good = ph_at(&two_.region, 0);
  EXPECT_EQ(at(nullptr, good), PH_ERR_ARGUMENT);
  EXPECT_EQ(at(reinterpret_cast<const void*>(~std::uintptr_t{0} - 100), good), PH_ERR_RANGE);
  EXPECT_EQ(at(source.data(), {good.address + two_.region.size_bytes - 511, good.key}),
            PH_ERR_RANGE);
  EXPECT_EQ(at(source.data(), {good.address, good.key ^ 1ull << 50}), PH_ERR_KEY);
  EXPECT_NE(two_.ranks[0].last_error().what.find("put of 512 bytes"), std::string::npos);
  EXPECT_EQ(header_at(1), 0u);
  EXPECT_TRUE(two_.memory.untouched());
  EXPECT_EQ(two_.count(0, PH_LOCAL) + two_.count(1, PH_REMOTE), 0u);
}

// Without room in the bulk ring, without ledger credit and without lines.
TEST_F(EagerChunksTest, what_finds_no_credit_queues_and_keeps_its_order_and_its_bytes) {
  std::vector<std::vector<std::byte>> sources;
  for (std::uint64_t id = 1; id <= 40; ++id) {
    sources.push_back(filled(193 + id * 20, id));
    ASSERT_EQ(put(sources.back(), id, id * 1024), PH_OK) << id;
  }
  for (std::uint64_t id = 1; id <= 40; ++id) {
    EXPECT_EQ(two_.ranks.take(1, PH_REMOTE).id, id + 100);
    EXPECT_EQ(first_difference({landing() + id * 1024, 193 + id * 20}, id), 193 + id * 20);
  }
  for (std::uint64_t id = 1; id <= 40; ++id) EXPECT_EQ(two_.ranks.take(0, PH_LOCAL).id, id);
  EXPECT_EQ(two_.ranks[0].resource_use().events, 0);
}

// More than one lap of both rings, taken on the fast path, which now and then has to look around:
// the credit comes back from there.
TEST_F(EagerChunksTest, a_stream_that_fast_probes_take_never_stands_still) {
  const auto source = filled(kMostEager, 7);
  unsigned queued = 0;
  unsigned slow = 0;
  for (std::uint64_t id = 1; id <= 500; ++id) {
    ASSERT_EQ(put(source, id), PH_OK) << id;
    if (two_.count(0, PH_LOCAL) == 0) ++queued;
    std::uint64_t found = taken();
    if (found == 0) {
      ++slow;
      found = two_.ranks.take(1, PH_REMOTE).id;
    }
    ASSERT_EQ(found, id + 100) << id;
  }
  EXPECT_EQ(queued, 0u);
  EXPECT_LE(slow, 500u / 16);
}

TEST_F(EagerChunksTest, one_whose_key_goes_while_it_is_under_way_is_refused_by_its_name) {
  const auto source = filled(600, 3);
  ASSERT_EQ(put(source, 77), PH_OK);
  EXPECT_EQ(two_.ranks.take(0, PH_LOCAL).id, 77u);
  ASSERT_EQ(remove_region(two_.ranks[1], two_.region.key), PH_OK);
  EXPECT_EQ(taken(), 0u);
  const ph_completion late = two_.ranks.take(0, PH_LOCAL);
  EXPECT_EQ(late.id, 77u);
  EXPECT_EQ(late.status, PH_ERR_KEY);
  EXPECT_EQ(two_.count(1, PH_REMOTE), 0u);
  EXPECT_TRUE(two_.memory.untouched());
}

TEST_F(EagerChunksTest, one_that_was_not_read_is_told_when_its_peer_is_lost) {
  const auto source = filled(600, 3);
  ASSERT_EQ(put(source, 78), PH_OK);
  EXPECT_EQ(two_.ranks.take(0, PH_LOCAL).id, 78u);
  two_.ranks.net().seats[0].gone[1] = {PH_ERR_PEER, 0, "its cable was cut", 1};
  two_.ranks[0].serve();
  const auto found = two_.ranks.probe(0, PH_LOCAL);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].id, 78u);
  EXPECT_EQ(found[0].status, PH_ERR_PEER);
}

// All ways to one peer in one row: ids come in the order of the posts, each behind its bytes.
TEST_F(EagerChunksTest, order_with_all_other_operations) {
  constexpr std::size_t kSizes[] = {8, 600, 100, 0, 1024, 1025, 32, 5000, 193, 192, 33, 700};
  std::deque<std::vector<std::byte>> sources;
  std::uint64_t posted = 0;
  std::uint64_t seen = 0;
  const auto check = [&](const ph_completion& one) {
    const std::size_t size = kSizes[seen % std::size(kSizes)];
    EXPECT_EQ(one.id, seen + 100);
    EXPECT_EQ(first_difference({landing() + seen % 8 * 8192, size}, seen), size) << seen;
    ++seen;
    sources.pop_front();
  };
  while (seen < 300) {
    while (posted < seen + 8) {
      sources.push_back(filled(kSizes[posted % std::size(kSizes)], posted));
      ASSERT_EQ(put(sources.back(), posted, posted % 8 * 8192), PH_OK);
      ++posted;
    }
    two_.count(0, PH_LOCAL);
    for (const auto& one : two_.ranks.probe(1, PH_REMOTE, 1 + seen % 5)) check(one);
  }
}

}  // namespace
}  // namespace photon::engine::test
