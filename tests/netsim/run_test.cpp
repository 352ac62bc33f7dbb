// Whole runs: checks that stay on, wedges, bad settings.
#include <gtest/gtest.h>

#include "netsim/run/simulation.hpp"
#include "netsim/run/table.hpp"

namespace photon::netsim {
namespace {

const TopologySettings kPairs[] = {
    {"router", "6"},
    {"torus", "4x4", "static", 2},
    {"torus", "3x3x3"},
    {"hyperx", "3x3", "static", 2, 2},
    {"hyperx", "3x3", "adaptive", 2, 2},
    {"fattree", "3,3:3"},
    {"fattree", "3,3:3", "adaptive"},
    {"fattree", "2,2:2,2:3", "adaptive"},
    {"dragonfly", "2:3:1:4"},
    {"dragonfly", "2:3:2:4", "ugal"},
    {"dragonfly", "2:3:2:4", "valiant"},
};

Settings all_to_all(const TopologySettings& network, std::uint32_t bytes) {
  Settings settings = table_settings();
  settings.network = network;
  const std::uint32_t hosts = (*make_topology(network))->wire().hosts;
  settings.motif = {"alltoall", std::to_string(hosts), bytes, 1, 1};
  return settings;
}

RunResult run_well(const Settings& settings) {
  auto result = run(settings);
  EXPECT_TRUE(result) << (result ? "" : result.error());
  return result ? *result : RunResult{};
}

TEST(Run, one_packet_buffers_never_wedge) {
  for (const TopologySettings& pair : kPairs) {
    Settings settings = all_to_all(pair, 1000);
    settings.packet_bytes = settings.buffer_bytes = 64;
    EXPECT_EQ(run_well(settings).failure, "") << pair.topology << ' ' << pair.routing;
  }
}

TEST(Run, bytes_on_host_links_are_the_messages_bytes) {
  for (const TopologySettings& pair : kPairs) {
    const RunResult result = run_well(all_to_all(pair, 5000));
    EXPECT_EQ(result.failure, "");
    const std::uint64_t ranks = result.finished_ps.size();
    EXPECT_EQ(result.posted_bytes, ranks * (ranks - 1) * 5000);
    EXPECT_EQ(result.bytes_from_cards, result.posted_bytes);
    EXPECT_EQ(result.bytes_to_cards, result.posted_bytes);
    EXPECT_EQ(result.packets, ranks * (ranks - 1) * 3);
    ASSERT_GE(result.links.size(), 2U);  // counted once more where packets are put on the links
    EXPECT_EQ(result.links[0].flits * 16, ranks * (ranks - 1) * 5008);
    EXPECT_EQ(result.links[1].flits * 16, ranks * (ranks - 1) * 5008);
  }
}

TEST(Run, a_ring_with_one_vc_wedges_and_says_so) {
  Settings settings = table_settings();
  settings.network = {"torus", "6"};
  settings.vcs = 1;
  settings.buffer_bytes = 2048;
  settings.motif = {"shift", "6", 100'000, 1, 3};
  const std::string failure = run_well(settings).failure;
  EXPECT_NE(failure.find("packets stayed in the network"), std::string::npos) << failure;
  EXPECT_NE(failure.find("cycle of waiting channels: router "), std::string::npos) << failure;
  EXPECT_EQ(failure.find("run.max_us"), std::string::npos) << failure;
  settings.vcs = 2;
  EXPECT_EQ(run_well(settings).failure, "");
}

TEST(Run, a_bound_of_simulated_time_ends_the_run_as_a_failure) {
  Settings settings = all_to_all({"router", "6"}, 100'000);
  settings.max_us = 3;
  const std::string failure = run_well(settings).failure;
  EXPECT_NE(failure.find("packets stayed in the network"), std::string::npos) << failure;
  EXPECT_EQ(failure.find("cycle of"), std::string::npos) << failure;
  EXPECT_TRUE(failure.starts_with("the bound of simulated time (run.max_us) passed")) << failure;
}

TEST(Run, any_partition_gives_the_same_bytes) {
  for (const TopologySettings& pair : kPairs) {
    for (const std::uint32_t buffer : {64U, 16'000U}) {
      Settings settings = all_to_all(pair, 700);
      settings.packet_bytes = 64;
      settings.buffer_bytes = buffer;
      const RunResult serial = run_well(settings);
      for (settings.threads = 2; settings.threads <= 4; ++settings.threads) {
        const RunResult result = run_well(settings);
        EXPECT_EQ(result.failure, "") << pair.topology << ' ' << pair.routing;
        EXPECT_EQ(result.finished_ps, serial.finished_ps) << pair.topology << ' ' << pair.routing;
        EXPECT_EQ(result.hops, serial.hops);
        EXPECT_EQ(result.packets, serial.packets);
        EXPECT_EQ(result.out_of_order, serial.out_of_order);
      }
    }
  }
}

TEST(Run, without_latencies_a_run_has_one_thread_and_says_so) {
  Settings settings = all_to_all({"torus", "3x3"}, 1000);
  settings.link_ns = settings.input_ns = settings.output_ns = 0;
  const RunResult serial = run_well(settings);
  settings.threads = 2;
  const RunResult result = run_well(settings);
  EXPECT_EQ(serial.failure, "");
  EXPECT_EQ(result.finished_ps, serial.finished_ps);
  EXPECT_NE(result.note.find("one thread"), std::string::npos);
}

TEST(Run, the_same_settings_give_the_same_ends) {
  for (const TopologySettings& pair : kPairs) {
    const Settings settings = all_to_all(pair, 3000);
    const RunResult first = run_well(settings);
    const RunResult second = run_well(settings);
    EXPECT_EQ(first.finished_ps, second.finished_ps);
    EXPECT_EQ(first.out_of_order, second.out_of_order);
    EXPECT_EQ(first.events, second.events);
  }
}

TEST(Run, only_routings_that_choose_bring_packets_out_of_order) {
  std::uint64_t out_of_order = 0;
  for (const TopologySettings& pair : kPairs) {
    const RunResult result = run_well(all_to_all(pair, 20'000));
    if ((*make_topology(pair))->is_ordered()) {
      EXPECT_EQ(result.out_of_order, 0U) << pair.topology;
    } else {
      out_of_order += result.out_of_order;
    }
  }
  EXPECT_GT(out_of_order, 0U);
}

TEST(Run, motifs_send_what_they_say) {
  Settings settings = table_settings();
  settings.network = {"router", "5"};
  settings.motif = {"incast", "5", 2048, 3, 1};
  EXPECT_EQ(run_well(settings).packets, 4U * 3);
  settings.motif = {"shift", "5", 2048, 4, 2};
  EXPECT_EQ(run_well(settings).packets, 5U * 4);
  settings.network = {"router", "12"};
  settings.motif = {"exchange", "3x2x2", 2048, 2, 1};
  EXPECT_EQ(run_well(settings).packets, (16U + 12 + 12) * 2);
}

TEST(Run, rounding_that_changes_a_rate_is_said) {
  Settings settings;
  EXPECT_EQ(run_well(settings).note, "");
  settings.link_GBps = 6000;  // 2.67 ps a flit
  EXPECT_NE(run_well(settings).note.find("changed a rate by 12.5%"), std::string::npos);
}

// As many nanoseconds as 32 bits do not hold.
TEST(Run, a_message_may_take_longer_than_4_seconds) {
  Settings settings = table_settings();
  settings.link_GBps = settings.crossbar_GBps = 0.001;
  settings.motif = {"pair", "2", 10'000'000};
  const RunResult result = run_well(settings);
  EXPECT_EQ(result.failure, "");
  EXPECT_GT(result.last_ps, 9'900'000'000'000U);
  EXPECT_EQ(result.latency_ns.most(), result.last_ps / 1000);
  EXPECT_GT(result.latency_ns.quantile(0.5) * 1.016, static_cast<double>(result.last_ps) / 1000);
  settings.motif = {"shift", "2", 10'000'000, 3};  // posted after 0, 10 and 20 s
  const RunResult later = run_well(settings);
  const double third = static_cast<double>(later.last_ps) / 3000;
  EXPECT_NEAR(static_cast<double>(later.latency_ns.most()), third, third / 1e3);
}

// Packets of 4 GB take 4,295 s each.
TEST(Run, simulated_time_ends_before_it_overflows) {
  Settings settings = table_settings();
  settings.link_GBps = settings.crossbar_GBps = 0.001;
  settings.flit_bytes = 65536;
  settings.packet_bytes = settings.buffer_bytes = 65535U * 65536;
  settings.delivery = "tail";
  settings.motif = {"pair", "2", settings.packet_bytes, 2};
  EXPECT_EQ(run_well(settings).failure, "");
  settings.motif.steps = 2500;
  EXPECT_NE(run_well(settings).failure.find("simulated time passed 2^63 ps"), std::string::npos);
}

TEST(Run, bad_settings_are_refused_in_one_sentence) {
  const char* const pairs[][2] = {
      {"network.colour", "red"},      {"network.link_GBps", "fast"},
      {"network.link_GBps", "0"},     {"network.link_GBps", "-1"},
      {"network.crossbar_GBps", "5"}, {"network.packet_bytes", "64001"},
      {"network.flit_bytes", "0"},    {"network.buffer_bytes", "4294967296"},
      {"network.link_ns", "nan"},     {"network.delivery", "middle"},
      {"nic.protocol", "rdma-magic"}, {"motif.name", "dance"},
      {"motif.ranks", "4x4x"},        {"motif.ranks", "3"},
      {"run.iterations", "0"},        {"network.vcs", "17"}};
  for (const auto& [key, value] : pairs) {
    const auto settings = with(Settings{}, key, value);
    const auto result = settings ? run(*settings) : Result<RunResult>(Error{settings.error()});
    ASSERT_FALSE(result) << key << " = " << value;
    EXPECT_NE(result.error().find(key), std::string::npos) << result.error();
  }
}

}  // namespace
}  // namespace photon::netsim
