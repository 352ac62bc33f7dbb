// Leaving: what was accepted goes first, then a word, and no longer than agreed.
#include <chrono>
#include <thread>

#include "engine_unit.hpp"

namespace photon::engine::test {
namespace {

TEST(Finalize, what_was_queued_goes_out_before_the_good_bye) {
  Two two(options(), Ground::shm);
  const auto source = filled(40000, 4);  // several times the bulk ring
  const auto args = two.put(source);
  ASSERT_EQ(two.ranks[0].put(1, args), PH_OK);
  std::thread other([&] {
    ph_path path{};
    path.state = "";
    while (std::string(path.state) != "departed") {
      LaneGuard guard(two.ranks.lane(1));
      two.ranks[1].serve();
      EXPECT_EQ(two.ranks[1].describe(0, path), PH_OK);
    }
  });
  {
    LaneGuard guard(two.ranks.lane(0));
    EXPECT_EQ(two.ranks[0].finalize(guard), PH_OK);
  }
  other.join();
  EXPECT_EQ(first_difference(two.memory.bytes().first(40000), 4), 40000u);
  EXPECT_EQ(two.count(1, PH_REMOTE), 1u);
}

TEST(Finalize, it_ends_after_its_time_and_names_the_rank_that_did_not_take_what_was_sent) {
  FakeOptions chosen = options();
  chosen.config.finalize_timeout_ms = 30;
  Two two(chosen);
  const auto source = filled(40000, 4);
  ASSERT_EQ(two.ranks[0].put(1, two.put(source)), PH_OK);
  const auto begin = std::chrono::steady_clock::now();
  LaneGuard guard(two.ranks.lane(0));
  EXPECT_EQ(two.ranks[0].finalize(guard), PH_TIMEOUT);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  EXPECT_NE(two.ranks[0].last_error().what.find("ranks 1 "), std::string::npos)
      << two.ranks[0].last_error().what;
}

TEST(Finalize, all_keys_are_stale_afterwards) {
  Two two;
  LaneGuard guard(two.ranks.lane(1));
  EXPECT_EQ(two.ranks[1].finalize(guard), PH_OK);
  for (const auto& entry : two.ranks.net().seats[1].regions) EXPECT_EQ(entry.key(), 0u);
}

}  // namespace
}  // namespace photon::engine::test
