// Room beyond the ledger in the simulated network: there where memory is shared, and zeroed.
#include "transport/sim/sim_overflow.hpp"

#include <gtest/gtest.h>

#include "transport/sim/sim_network.hpp"

namespace photon::transport::sim {
namespace {

TEST(SimOverflow, begins_empty_and_is_the_same_for_both_ranks) {
  SimNetwork network(2, {.profile = base::SimProfile::mapped});
  const Overflow sending = network.overflow(0, 1, 4096);
  const Overflow receiving = network.overflow(0, 1, 4096);
  EXPECT_EQ(sending.words, receiving.words);
  EXPECT_EQ(sending.published, receiving.published);
  EXPECT_NE(network.overflow(1, 0, 4096).words, sending.words);
  for (int i = 0; i < 512; ++i) ASSERT_EQ(sending.words[i].get(), 0u);
  EXPECT_EQ(sending.published->value.load(std::memory_order_acquire), 0u);
  EXPECT_EQ(sending.taken->value.load(std::memory_order_acquire), 0u);
}

TEST(SimOverflow, is_not_there_where_memory_is_not_shared) {
  SimNetwork stream(2, {.profile = base::SimProfile::stream});
  EXPECT_EQ(stream.overflow(0, 1, 4096).words, nullptr);
  SimNetwork mapped(2, {.profile = base::SimProfile::mapped});
  EXPECT_EQ(mapped.overflow(1, 1, 4096).words, nullptr);
}

}  // namespace
}  // namespace photon::transport::sim
