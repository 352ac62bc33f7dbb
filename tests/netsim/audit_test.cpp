// Little's law by two instruments: they agree in every run of the model, and tell where they do
// not.
#include "netsim/net/audit.hpp"

#include <gtest/gtest.h>

#include "netsim/net/torus.hpp"
#include "netsim/run/simulation.hpp"
#include "netsim/run/table.hpp"

namespace photon::netsim {
namespace {

std::string failure_with_audit(const Settings& settings) {
  const auto simulation = make_simulation(settings);
  if (!simulation) return simulation.error();
  (*simulation)->audit();
  return (*simulation)->run().failure;
}

TEST(Audit, littles_law_holds_on_every_queue_for_any_number_of_threads) {
  const TopologySettings pairs[] = {{"router", "12"},
                                    {"torus", "3x4"},
                                    {"hyperx", "2x3", "adaptive", 2, 2},
                                    {"fattree", "3,2:2,2:2", "adaptive"},
                                    {"dragonfly", "1:3:2:4", "ugal"},
                                    {"dragonfly", "1:3:2:4", "valiant"}};
  for (const TopologySettings& network : pairs) {
    for (const char* protocol : {"bare", "rvma", "rdma-usual"}) {
      Settings settings = table_settings();
      settings.network = network;
      settings.nic.protocol = protocol;
      settings.buffer_bytes = 4096;
      settings.header_bytes = 20;
      settings.motif = {"alltoall", "12", 20'000, 2, 1};
      for (settings.threads = 1; settings.threads <= 3; ++settings.threads) {
        EXPECT_EQ(failure_with_audit(settings), "") << network.topology << ' ' << protocol;
      }
    }
  }
}

TEST(Audit, it_changes_nothing) {
  Settings settings = table_settings();
  settings.network = {"dragonfly", "1:3:2:4", "ugal"};
  settings.motif = {"alltoall", "12", 20'000, 1, 1};
  const auto plain = run(settings);
  const auto simulation = make_simulation(settings);
  ASSERT_TRUE(plain && simulation);
  (*simulation)->audit();
  const RunResult audited = (*simulation)->run();
  EXPECT_EQ(audited.finished_ps, plain->finished_ps);
  EXPECT_EQ(audited.events, plain->events);
}

class AuditOfTwo : public testing::Test {
 protected:
  // Packets 0 and 1, of 3 and 5 flits, come at 100 and 200.
  AuditOfTwo() : router_(2), fabric_(router_, {}), state_(fabric_, 1), audit_(state_) {
    for (const std::uint32_t i : {0U, 1U}) {
      const std::uint32_t packet = packets_.take();
      packets_[packet].at = i == 0 ? 100 : 200;
      packets_[packet].flits = i == 0 ? 3 : 5;
      packets_[packet].next = i == 0 ? 1 : kNone;
      audit_.comes(packet, packets_[packet]);
    }
  }

  SingleRouter router_;
  Fabric fabric_;
  State state_;
  Pool<Packet> packets_;
  Audit audit_;
};

TEST_F(AuditOfTwo, lengths_over_time_are_the_packets_waits) {
  audit_.leaves_input(0, packets_, 0, 250);
  audit_.leaves_input(0, packets_, 1, 300);
  const std::size_t output = audit_.output(1);
  audit_.joins(output, 0, 0, 1000);
  audit_.joins(output, 3, 1, 1010);
  audit_.leaves(output, 8, 0, 1100);
  audit_.leaves(output, 5, 1, 1200);
  EXPECT_EQ(audit_.what_disagrees(fabric_), "");
}

// 3 x 10 + 8 x 90 + 4 x 100 beside 3 x 100 + 5 x 190.
TEST_F(AuditOfTwo, a_length_that_is_wrong_for_a_while_is_told) {
  const std::size_t output = audit_.output(1);
  audit_.joins(output, 0, 0, 1000);
  audit_.joins(output, 3, 1, 1010);
  audit_.leaves(output, 8, 0, 1100);
  audit_.leaves(output, 4, 1, 1200);
  EXPECT_EQ(audit_.what_disagrees(fabric_),
            "Little's law does not hold for router 0 output 1 VC 0: its length over time is 1150 "
            "flits x ps, its packets waited 1250");
}

TEST_F(AuditOfTwo, a_packet_that_an_input_has_lost_from_its_list_is_told) {
  packets_[0].next = kNone;
  audit_.leaves_input(1, packets_, 0, 250);
  audit_.leaves_input(1, packets_, 1, 300);
  EXPECT_NE(audit_.what_disagrees(fabric_).find("router 0 input 1 VC 0"), std::string::npos);
}

TEST_F(AuditOfTwo, a_card_is_named_by_its_host) {
  audit_.joins(audit_.card(1), 7, 0, 10);
  EXPECT_NE(audit_.what_disagrees(fabric_).find("the card of host 1"), std::string::npos);
}

}  // namespace
}  // namespace photon::netsim
