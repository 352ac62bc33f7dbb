#include "task/pool/registered_memory.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "task/pool/pool.hpp"
#include "thread_job.hpp"

namespace photon::task {
namespace {

constexpr std::uint64_t kKi = 1024;

bool is_registered(ph_context* context, const void* base) {
  ph_region region{};
  return ph_find_region(context, base, 1, &region) == PH_OK;
}

TEST(TaskArena, peers_reach_what_was_taken_until_the_limit_that_all_share) {
  photon::test::ThreadJob job(1);
  job.run([](ph_context* context, ph_rank) {
    Arena arena(256 * kKi);
    ArenaShare one(arena), other(arena);
    one.open(context);
    other.open(context);
    const Memory first = one.memory(), second = other.memory();
    const Piece a = first.take(first.user, 128 * kKi);
    EXPECT_EQ(a.origin, Origin::arena);
    EXPECT_TRUE(is_registered(context, a.base));
    const Piece b = second.take(second.user, 128 * kKi);
    EXPECT_EQ(b.origin, Origin::arena);
    const Piece c = second.take(second.user, 64);
    ASSERT_NE(c.base, nullptr) << "the heap has more";
    EXPECT_EQ(c.origin, Origin::heap);
    EXPECT_FALSE(is_registered(context, c.base));
    first.give(first.user, a, 128 * kKi);
    EXPECT_FALSE(is_registered(context, a.base));
    EXPECT_EQ(arena.taken_bytes(), 128 * kKi);
    const Piece d = second.take(second.user, 64 * kKi);
    EXPECT_EQ(d.origin, Origin::arena) << "there is room again";
    second.give(second.user, b, 128 * kKi);
    second.give(second.user, c, 64);
    second.give(second.user, d, 64 * kKi);
    EXPECT_EQ(arena.taken_bytes(), 0u);
  });
}

TEST(TaskArena, the_heap_has_what_the_context_lacks) {
  photon::test::ThreadJob job(1, {{"arena_bytes", "1048576"}});
  job.run([](ph_context* context, ph_rank) {
    Arena arena(64 << 20);
    ArenaShare share(arena);
    const Memory memory = share.memory();
    const Piece early = memory.take(memory.user, 64);
    EXPECT_EQ(early.origin, Origin::heap) << "it has no lane yet";
    share.open(context);
    const Piece large = memory.take(memory.user, 8 << 20);
    ASSERT_NE(large.base, nullptr);
    EXPECT_EQ(large.origin, Origin::heap);
    EXPECT_EQ(arena.taken_bytes(), 0u) << "what was refused is not counted";
    memory.give(memory.user, early, 64);
    memory.give(memory.user, large, 8 << 20);
  });
}

// All of it is back when the pool has ended, large blocks and slabs.
TEST(TaskArena, a_pool_gives_back_what_it_has_taken) {
  photon::test::ThreadJob job(1);
  job.run([](ph_context* context, ph_rank) {
    Arena arena(64 << 20);
    ArenaShare share(arena);
    share.open(context);
    Returns returns{1};
    {
      Pool pool{0, share.memory(), returns, 1 << 20};
      std::vector<Message*> messages;
      for (const std::uint64_t bytes : {100UL, 5000UL, 100'000UL, 3'000'000UL})
        messages.push_back(pool.alloc(bytes));
      EXPECT_TRUE(is_registered(context, messages[0]));
      EXPECT_TRUE(is_registered(context, messages[3]));
      for (Message* message : messages) EXPECT_EQ(pool.free(*message), Pool::Freed::over);
      EXPECT_GT(arena.taken_bytes(), 0u);
    }
    EXPECT_EQ(arena.taken_bytes(), 0u);
  });
}

}  // namespace
}  // namespace photon::task
