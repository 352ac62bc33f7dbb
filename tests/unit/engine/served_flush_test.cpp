// Fences and flushes behind gets that the owner serves: the bytes are in place when they end.
#include <atomic>
#include <thread>

#include "engine_unit.hpp"

namespace photon::engine::test {
namespace {

constexpr std::size_t kServedBytes = 30000;  // several bulk rings, so that the answer takes turns

ph_status flush_now(Two& two) {
  LaneGuard guard(two.ranks.lane(0));
  return two.ranks[0].flush(guard, 1, 0);
}

// Before the get: nothing; or a put, which the target can acknowledge before it has served the get.
class ServedFlush : public testing::TestWithParam<bool> {
 protected:
  static void put_first(Two& two) {
    if (!GetParam()) return;
    static const auto bytes = filled(100, 9);
    ph_put_args args = two.put(bytes, PH_NO_LCE | PH_NO_RCE);
    args.target.address += kServedBytes;
    ASSERT_EQ(two.ranks[0].put(1, args), PH_OK);
  }
};
INSTANTIATE_TEST_SUITE_P(put, ServedFlush, testing::Bool(),
                         [](const auto& one) { return one.param ? "behind_a_put" : "alone"; });

TEST_P(ServedFlush, a_flush_ends_when_the_bytes_are_here_and_one_probe_tells) {
  for (const std::uint32_t flags : {std::uint32_t{PH_NO_RCE}, 0u}) {
    Two two;
    fill(two.memory.bytes().first(kServedBytes), 5);
    std::vector<std::byte> landing(kServedBytes);
    put_first(two);
    ASSERT_EQ(two.ranks[0].get(1, two.get(landing, flags)), PH_OK);
    EXPECT_EQ(flush_now(two), PH_TIMEOUT) << "the owner has not even seen it";
    int turns = 0;
    ph_status status = PH_TIMEOUT;
    for (; status == PH_TIMEOUT && turns < 50; ++turns) {
      two.ranks[1].serve();
      status = flush_now(two);
    }
    ASSERT_EQ(status, PH_OK);
    EXPECT_GT(turns, 2) << "too few to tell a flush that ends early";
    EXPECT_EQ(first_difference(landing, 5), kServedBytes);
    const auto found = two.ranks.probe(0, PH_LOCAL);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].id, two.local_id);
    EXPECT_EQ(found[0].status, PH_OK);
  }
}

TEST_P(ServedFlush, a_put_behind_a_fence_does_not_change_what_a_get_before_it_reads) {
  for (const std::size_t size : {std::size_t{100}, kServedBytes}) {
    Two two;
    fill(two.memory.bytes().first(kServedBytes), 5);
    std::vector<std::byte> landing(kServedBytes);
    const auto later = filled(size, 6);
    put_first(two);
    ASSERT_EQ(two.ranks[0].get(1, two.get(landing, PH_NO_RCE)), PH_OK);
    ASSERT_EQ(two.ranks[0].fence(1), PH_OK);
    ph_put_args args = two.put(later);
    args.target.address += kServedBytes - size;
    ASSERT_EQ(two.ranks[0].put(1, args), PH_OK);
    EXPECT_EQ(two.ranks.take(1, PH_REMOTE).id, two.remote_id);
    EXPECT_EQ(first_difference(landing, 5), kServedBytes);
    EXPECT_EQ(first_difference(two.memory.bytes().subspan(kServedBytes - size, size), 6), size);
  }
}

TEST_P(ServedFlush, a_get_that_fails_does_not_keep_a_flush_for_ever) {
  Two two(options(Reach::Kind::none, false));
  std::vector<std::byte> landing(kServedBytes);
  put_first(two);
  ph_get_args args = two.get(landing);
  args.source.key ^= 1ull << 40;
  ASSERT_EQ(two.ranks[0].get(1, args), PH_OK);
  EXPECT_EQ(flush_now(two), PH_TIMEOUT);
  ph_status status = PH_TIMEOUT;
  for (int turns = 0; status == PH_TIMEOUT && turns < 50; ++turns) {
    two.ranks[1].serve();
    status = flush_now(two);
  }
  EXPECT_EQ(status, PH_OK);
  EXPECT_EQ(two.ranks.take(0, PH_LOCAL).status, PH_ERR_KEY);
}

TEST(ServedFlushOverSim, a_flush_ends_when_the_bytes_are_here) {
  Two two(options(), Ground::sim);
  fill(two.memory.bytes().first(kServedBytes), 5);
  std::atomic<bool> over = false;
  std::thread owner([&] {
    while (!over) {
      LaneGuard guard(two.ranks.lane(1));
      two.ranks[1].serve();
    }
  });
  for (std::uint64_t i = 0; i < 20; ++i) {
    std::vector<std::byte> landing(kServedBytes);
    two.local_id = i;
    EXPECT_EQ(two.ranks[0].get(1, two.get(landing, PH_NO_RCE)), PH_OK);
    {
      LaneGuard guard(two.ranks.lane(0));
      EXPECT_EQ(two.ranks[0].flush(guard, 1, 20'000'000), PH_OK);
    }
    EXPECT_EQ(first_difference(landing, 5), kServedBytes);
    const auto found = two.ranks.probe(0, PH_LOCAL);
    EXPECT_TRUE(found.size() == 1 && found[0].id == i);
  }
  over = true;
  owner.join();
}

}  // namespace
}  // namespace photon::engine::test
