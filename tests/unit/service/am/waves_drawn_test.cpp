// Quiesces in drawn orders (waves_drawn.hpp) end always, and never early.
#include "waves_drawn.hpp"
#include "rounds.hpp"

namespace photon::service::am {
namespace {

constexpr std::uint64_t kSeeds = photon::test::rounds(150);

TEST(WavesDrawn, end_always_and_never_early) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    DrawnNet net(seed, {});
    ASSERT_EQ(net.run(), "") << seed;
    EXPECT_EQ(net.errors(), 0u);
  }
}

TEST(WavesDrawn, end_where_ranks_die) {
  std::uint32_t errors = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    DrawnNet net(seed, {2, 0, 5});
    ASSERT_EQ(net.run(), "") << seed;
    errors += net.errors();
  }
  EXPECT_GT(errors, kSeeds);
}

TEST(WavesDrawn, end_where_links_between_ranks_that_live_are_lost) {
  std::uint32_t errors = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    DrawnNet net(seed, {0, 3, 5});
    ASSERT_EQ(net.run(), "") << seed;
    errors += net.errors();
  }
  EXPECT_GT(errors, kSeeds);
}

TEST(WavesDrawn, end_where_lines_are_short) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    DrawnNet net(seed, {1, 1, 60});
    ASSERT_EQ(net.run(), "") << seed;
  }
}

// The test would see a root that is content too soon: one of some hundred orders shows it.
TEST(WavesDrawn, find_a_root_that_is_content_with_one_wave) {
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    DrawnNet net(seed, {}, 1);
    const std::string finding = net.run();
    if (finding.empty()) continue;
    EXPECT_NE(finding.find("something is under way"), std::string::npos) << finding;
    return;
  }
  FAIL() << "nobody noticed";
}

}  // namespace
}  // namespace photon::service::am
