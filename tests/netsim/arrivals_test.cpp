#include "netsim/nic/arrivals.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "netsim/clock/random.hpp"

namespace photon::netsim::nic {
namespace {

TEST(Arrivals, a_message_is_told_once_whatever_the_order_of_its_packets) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed, 0);
    std::vector<Packet> packets;
    const std::uint32_t messages = 1 + random.below(60);
    for (std::uint32_t message = 0; message < messages; ++message) {
      const std::uint32_t count = 1 + random.below(5);
      for (std::uint32_t i = 0; i < count; ++i) {
        packets.push_back({{message % 7, 0}, {0, 0}, message, 10 * count, i});
      }
    }
    for (std::size_t i = packets.size(); i > 1; --i) {
      std::swap(packets[i - 1], packets[random.below(static_cast<std::uint32_t>(i))]);
    }
    Arrivals arrivals;
    std::uint32_t told = 0;
    for (const Packet& packet : packets) told += arrivals.take(packet, 10) ? 1 : 0;
    EXPECT_EQ(told, messages);
    EXPECT_EQ(arrivals.open(), 0U);
  }
}

TEST(Arrivals, a_packet_below_the_highest_that_has_come_is_out_of_order) {
  Arrivals arrivals;
  for (const std::uint32_t index : {2U, 0U, 3U, 1U}) {
    arrivals.take({{1, 0}, {0, 0}, 5, 40, index}, 10);
  }
  EXPECT_EQ(arrivals.out_of_order(), 2U);
}

}  // namespace
}  // namespace photon::netsim::nic
