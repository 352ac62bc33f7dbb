// Reserves that make later steps safe from a lack of memory, and what an operation leaves behind
// that fails for that lack: nothing.
#include <bit>
#include <new>
#include <set>

#include "base/block_pool.hpp"
#include "engine/parts/event_queue.hpp"
#include "engine_unit.hpp"
#include "shortage.hpp"

namespace photon::engine::test {
namespace {

using photon::test::allocations_of;
using photon::test::Shortage;

TEST(NoMemory, blocks_that_were_reserved_are_taken_without_allocating) {
  for (const std::size_t count : {1ul, 63ul, 64ul, 65ul, 200ul}) {
    base::BlockPool pool(100);
    EXPECT_GT(allocations_of([&] { pool.reserve(count); }), 0);
    std::vector<std::uint32_t> taken(count);
    EXPECT_EQ(allocations_of([&] {
                for (auto& index : taken) index = pool.take();
              }),
              0);
    EXPECT_EQ(std::set<std::uint32_t>(taken.begin(), taken.end()).size(), count);
    for (const auto index : taken) std::memset(pool.at(index), static_cast<int>(index), 100);
    for (const auto index : taken)
      EXPECT_EQ(pool.at(index)[99], static_cast<std::byte>(index & 0xff));
  }
}

TEST(NoMemory, a_reserve_counts_what_is_free_and_not_what_is_held) {
  base::BlockPool pool(8);
  pool.reserve(64);
  EXPECT_EQ(allocations_of([&] { pool.reserve(64); }), 0) << "they are there";
  std::vector<std::uint32_t> taken;
  taken.reserve(128);
  for (int i = 0; i < 63; ++i) taken.push_back(pool.take());
  EXPECT_EQ(allocations_of([&] { pool.reserve(1); }), 0);
  EXPECT_GT(allocations_of([&] { pool.reserve(2); }), 0);
  EXPECT_EQ(allocations_of([&] {
              taken.push_back(pool.take());
              taken.push_back(pool.take());
            }),
            0);
  EXPECT_EQ(std::set<std::uint32_t>(taken.begin(), taken.end()).size(), taken.size());
  EXPECT_EQ(allocations_of([&] {
              for (const auto index : taken) pool.give(index);
              pool.reserve(128);
            }),
            0)
      << "all have come back";
}

TEST(NoMemory, an_event_after_make_room_is_pushed_without_allocating) {
  EventQueue queue;
  for (std::uint64_t i = 0; i < 300; ++i) {  // past each doubling
    const bool at_a_doubling = i == 0 || (i >= 8 && std::has_single_bit(i));
    EXPECT_EQ(queue.full(), at_a_doubling) << i;
    queue.make_room();
    EXPECT_FALSE(queue.full());
    EXPECT_EQ(allocations_of([&] {
                queue.make_room();
                queue.push({i, 8, PH_OK});
              }),
              0);
  }
  EXPECT_EQ(queue.size(), 300u);
  for (std::uint64_t i = 0; i < 300; ++i, queue.pop()) EXPECT_EQ(queue.front().id, i);
  EXPECT_TRUE(queue.empty());
}

TEST(NoMemory, making_room_in_a_queue_that_has_wrapped_keeps_the_order) {
  EventQueue queue;
  std::uint64_t pushed = 0, popped = 0;
  for (; pushed < 64; ++pushed) queue.push({pushed, 8, PH_OK});
  for (; popped < 40; ++popped) queue.pop();
  for (; pushed < 104; ++pushed) queue.push({pushed, 8, PH_OK});
  ASSERT_TRUE(queue.full());
  queue.make_room();
  queue.push({pushed++, 8, PH_OK});
  for (; popped < pushed; ++popped, queue.pop()) EXPECT_EQ(queue.front().id, popped);
  EXPECT_TRUE(queue.empty());
}

struct Attempt {
  const char* name;
  std::size_t size_bytes;
  std::uint32_t flags;
  Reach::Kind reach = Reach::Kind::none;
  bool is_get = false;
  bool has_credit = true;
};
constexpr Attempt kAttempts[] = {
    {"packed", 100, 0},
    {"packed, delivered", 100, PH_DELIVERED},
    {"packed, no credit", 100, 0, Reach::Kind::none, false, false},
    {"one chunk", 700, 0},
    {"chunks", 30000, 0},
    {"chunks, no credit", 30000, 0, Reach::Kind::none, false, false},
    {"direct", 4096, 0, Reach::Kind::mapped},
    {"direct, two pieces", 8192, 0, Reach::Kind::mapped},
    {"get, served", 5000, 0, Reach::Kind::none, true},
    {"get, mapped", 4096, 0, Reach::Kind::mapped, true},
};

// Rank 0 holds `held` long ids that nobody has probed, of a pool that grows by 64.
void hold_ids(Two& two, const ph_id& id, int held) {
  ph_put_args args = two.put({two.memory.data(), 8}, PH_NO_RCE);
  args.local = id;
  for (int i = 0; i < held; ++i) {
    ASSERT_EQ(two.ranks[0].put(1, args), PH_OK);
    two.ranks.turn();
  }
}

// All requests are free, and chunks land in their places.
void expect_way_goes_on(Two& two, int requests) {
  const auto later = filled(3000, 5);
  ASSERT_EQ(two.ranks[0].put(1, two.put(later)), PH_OK);
  EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
  EXPECT_EQ(two.ranks.take(0, PH_LOCAL).outstanding, 0u);
  EXPECT_EQ(first_difference(two.memory.bytes().first(3000), 5), 3000u);
  for (int i = 0; i < requests; ++i)
    ASSERT_EQ(two.ranks[0].put(1, two.put({}, PH_NO_RCE)), PH_OK) << i;
  EXPECT_EQ(two.ranks[0].put(1, two.put({}, PH_NO_RCE)), PH_AGAIN);
}

// Whether so many allocations are enough; if not, the call must have left no trace.
bool all_or_nothing(const Attempt& attempt, int allowed, int held) {
  constexpr int kRequests = 128;
  FakeOptions chosen = options(attempt.reach);
  chosen.config.max_cid_size = 40;
  chosen.config.requests = kRequests;
  Two two(chosen);
  const auto id = filled(40, 3);
  const ph_id long_id{id.data(), 40};
  std::vector<std::byte> bytes = filled(attempt.size_bytes, 4);
  const int fillers = attempt.has_credit ? 0 : 4;
  for (int i = 0; i < fillers; ++i) EXPECT_EQ(two.ranks[0].put(1, two.put({}, PH_NO_LCE)), PH_OK);
  hold_ids(two, long_id, held);
  ph_put_args put = two.put(bytes, attempt.flags);
  ph_get_args get = two.get(bytes, attempt.flags);
  put.local = get.local = put.remote = get.remote = long_id;
  bool accepted = false;
  try {
    const Shortage shortage(allowed);
    EXPECT_EQ(attempt.is_get ? two.ranks[0].get(1, get) : two.ranks[0].put(1, put), PH_OK);
    accepted = true;
  } catch (const std::bad_alloc&) {
  }
  for (int i = 0; i < fillers; ++i) two.ranks.take(1, PH_REMOTE);
  for (int i = 0; i < 300; ++i) two.ranks.turn();
  EXPECT_EQ(two.count(0, PH_LOCAL), static_cast<std::size_t>(held) + (accepted ? 1 : 0));
  EXPECT_EQ(two.count(1, PH_REMOTE), accepted ? 1u : 0u);
  EXPECT_TRUE(accepted || two.memory.untouched());
  expect_way_goes_on(two, kRequests);
  return accepted;
}

TEST(NoMemory, an_operation_that_fails_for_lack_of_memory_has_not_begun) {
  for (const Attempt& attempt : kAttempts)
    for (const int held : {0, 62, 63}) {
      bool accepted = false;
      for (int allowed = 0; !accepted && allowed < 40 && !HasFailure(); ++allowed) {
        SCOPED_TRACE(std::string(attempt.name) + " with " + std::to_string(allowed) +
                     " allocations and " + std::to_string(held) + " ids held");
        accepted = all_or_nothing(attempt, allowed, held);
      }
      EXPECT_TRUE(accepted);
    }
}

}  // namespace
}  // namespace photon::engine::test
