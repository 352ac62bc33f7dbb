#include "boot/cores.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "memory_boot.hpp"

namespace photon::boot {
namespace {

unsigned cores_of(std::uint32_t ranks, base::Oversubscribed setting) {
  test::MemoryJob job(ranks);
  const auto boot = job.boot(0);
  base::Config config;
  config.oversubscribed = setting;
  return threads_with_cores(config, *boot);
}

TEST(Cores, each_rank_of_a_host_has_its_share) {
  const unsigned cores = std::thread::hardware_concurrency();
  EXPECT_EQ(cores_of(1, base::Oversubscribed::automatic), cores);
  EXPECT_EQ(cores_of(cores, base::Oversubscribed::automatic), 1u);
  EXPECT_EQ(cores_of(cores + 1, base::Oversubscribed::automatic), 0u);
}

TEST(Cores, the_setting_has_the_last_word) {
  EXPECT_EQ(cores_of(1, base::Oversubscribed::yes), 0u);
  EXPECT_GT(cores_of(4, base::Oversubscribed::no), 1000u);
}

}  // namespace
}  // namespace photon::boot
