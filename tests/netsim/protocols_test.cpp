// Cards of all protocols on a network: threads change nothing, and all of them end.
#include <gtest/gtest.h>

#include "netsim/run/simulation.hpp"

namespace photon::netsim {
namespace {

TEST(Protocols, any_partition_gives_the_same_picoseconds) {
  for (const char* protocol : {"rvma", "rdma-usual", "rdma-equal", "rdma-put-ack",
                               "rdma-put-behind", "rdma-put-imm", "rdma-put"}) {
    SCOPED_TRACE(protocol);
    Settings settings;
    settings.network.topology = "hyperx";
    settings.network.shape = "3x3";
    settings.network.routing = "adaptive";
    settings.network.width = 2;
    settings.network.hosts_per_router = 3;
    settings.nic.protocol = protocol;
    settings.nic.order = settings.nic.protocol == "rdma-put" ? "hold" : "none";
    settings.nic.buffers_per_peer = 2;
    settings.ranks_per_node = 2;
    settings.motif.ranks = "3x3x6";
    settings.motif.steps = 3;
    const auto serial = run(settings);
    ASSERT_TRUE(serial) << serial.error();
    EXPECT_EQ(serial->failure, "");
    for (const std::uint32_t threads : {2U, 3U, 4U}) {
      settings.threads = threads;
      const auto parallel = run(settings);
      ASSERT_TRUE(parallel) << parallel.error();
      EXPECT_EQ(parallel->failure, "");
      EXPECT_EQ(parallel->last_ps, serial->last_ps);
      EXPECT_EQ(parallel->mean_ps, serial->mean_ps);
      EXPECT_EQ(parallel->packets, serial->packets);
      EXPECT_EQ(parallel->out_of_order, serial->out_of_order);
    }
  }
}

}  // namespace
}  // namespace photon::netsim
