// What links carried, by classes: use, stalls and peaks of queues.
#include "netsim/net/links.hpp"

#include <gtest/gtest.h>

#include "netsim/run/simulation.hpp"
#include "netsim/run/table.hpp"

namespace photon::netsim {
namespace {

RunResult run_well(const TopologySettings& network, const MotifSettings& motif,
                   std::uint32_t threads = 1, std::uint32_t buffer_bytes = 16'000) {
  Settings settings = table_settings();
  settings.buffer_bytes = buffer_bytes;
  settings.network = network;
  settings.motif = motif;
  settings.threads = threads;
  auto result = run(settings);
  EXPECT_TRUE(result) << (result ? "" : result.error());
  if (!result) return {};
  EXPECT_EQ(result->failure, "");
  return *result;
}

const LinkClass& named(const RunResult& result, const std::string& name) {
  static const LinkClass kNoClass;
  for (const LinkClass& its : result.links) {
    if (its.name == name) return its;
  }
  ADD_FAILURE() << "no class " << name;
  return kNoClass;
}

std::string names_of(const RunResult& result) {
  std::string names;
  for (const LinkClass& its : result.links) {
    names += its.name + " " + std::to_string(its.links) + ", ";
  }
  return names;
}

TEST(Links, every_link_is_in_one_class_of_its_topology) {
  const MotifSettings pair{"pair", "2", 64};
  EXPECT_EQ(names_of(run_well({"router", "5"}, pair)), "from_hosts 5, to_hosts 5, ");
  EXPECT_EQ(names_of(run_well({"torus", "3x4x1", "static", 2}, pair)),
            "from_hosts 24, to_hosts 24, dimension_0 24, dimension_1 24, ");
  EXPECT_EQ(names_of(run_well({"hyperx", "3x4", "static", 2, 2}, pair)),
            "from_hosts 24, to_hosts 24, dimension_0 48, dimension_1 72, ");
  EXPECT_EQ(names_of(run_well({"fattree", "2,3:4,1:5"}, pair)),
            "from_hosts 40, to_hosts 40, up_0 60, down_0 60, up_1 15, down_1 15, ");
  EXPECT_EQ(names_of(run_well({"dragonfly", "2:3:2:4"}, pair)),
            "from_hosts 24, to_hosts 24, local 24, global 24, ");
}

// Rank 0 sends 1,200 flits in 10 packets over two links of a ring, to rank 1 and no further.
TEST(Links, flits_are_counted_on_the_links_that_they_pass) {
  const RunResult result = run_well({"torus", "4x3"}, {"pair", "2", 19200});
  EXPECT_EQ(named(result, "from_hosts").flits, 1200U);
  EXPECT_EQ(named(result, "from_hosts").most_flits, 1200U);
  EXPECT_EQ(named(result, "dimension_0").flits, 1200U);
  EXPECT_EQ(named(result, "dimension_0").most_flits, 1200U);
  EXPECT_EQ(named(result, "dimension_1").flits, 0U);
  EXPECT_EQ(named(result, "to_hosts").flits, 1200U);
  EXPECT_EQ(named(result, "dimension_0").stalled, 0U);
}

// The packet is delivered with its head, 90,000 ps after it was sent; its link is busy for longer.
TEST(Links, the_span_ends_when_the_last_link_falls_silent) {
  const RunResult result = run_well({"router", "2"}, {"pair", "2", 2048});
  EXPECT_EQ(result.last_ps, 183'404U);
  EXPECT_EQ(result.span_ps, 183'404U - 90'000 + 128 * 1280);
  EXPECT_EQ(result.flit_ps, 1280U);
}

// Seven hosts send to one: its link is never idle, and of 16,000 B a FIFO the sum is bounded.
TEST(Links, an_incast_keeps_one_link_busy_and_stalls_all_senders) {
  const RunResult result = run_well({"router", "8"}, {"incast", "8", 200'000});
  const LinkClass& to_hosts = named(result, "to_hosts");
  const Time busy = to_hosts.most_flits * result.flit_ps;
  EXPECT_EQ(to_hosts.most_flits, 7U * 12'500);
  EXPECT_EQ(to_hosts.flits, to_hosts.most_flits);
  EXPECT_GT(static_cast<double>(busy), 0.99 * static_cast<double>(result.span_ps));
  EXPECT_EQ(to_hosts.stalled, 0U);
  const LinkClass& from_hosts = named(result, "from_hosts");
  // A sender is busy for a seventh of the span and waits for most of the rest.
  EXPECT_GT(from_hosts.stalled, 6 * result.span_ps / 7 * 6);
  EXPECT_LE(from_hosts.most_stalled, result.span_ps);
  EXPECT_GT(to_hosts.peak_flits, 1000U - 128);
  EXPECT_LE(to_hosts.peak_flits, 1000U);
}

// docs/netsim-router.md: with room for one packet a card looks at 1,280 + 128 x 1,280 = 165,120 and
// finds nothing to send by. The credit of the first packet, granted at 92,124, comes at 182,124;
// the card sends at 183,404.
TEST(Links, a_stall_is_from_the_look_in_vain_to_the_look_that_sends) {
  Settings settings = table_settings();
  settings.network = {"router", "2"};
  settings.buffer_bytes = 2048;
  settings.motif = {"pair", "2", 4096};
  const auto result = run(settings);
  ASSERT_TRUE(result);
  ASSERT_EQ(result->failure, "");
  EXPECT_EQ(named(*result, "from_hosts").stalled, 183'404U - 165'120);
  EXPECT_EQ(named(*result, "from_hosts").most_stalled, 183'404U - 165'120);
}

bool operator==(const LinkClass& a, const LinkClass& b) {
  return a.name == b.name && a.links == b.links && a.flits == b.flits &&
         a.most_flits == b.most_flits && a.stalled == b.stalled &&
         a.most_stalled == b.most_stalled && a.peak_flits == b.peak_flits;
}

TEST(Links, threads_change_no_figure_of_any_class) {
  const TopologySettings pairs[] = {{"torus", "3x3x3"},
                                    {"hyperx", "3x3", "adaptive", 3, 2},
                                    {"fattree", "3,2:3,2:3", "adaptive"},
                                    {"dragonfly", "2:3:2:4", "ugal"}};
  for (const TopologySettings& network : pairs) {
    const MotifSettings motif{"alltoall", "18", 20'000};
    const RunResult serial = run_well(network, motif, 1, 2048);
    Time stalled = 0;
    for (const LinkClass& its : serial.links) stalled += its.stalled;
    EXPECT_GT(stalled, 0U) << network.topology;
    for (const std::uint32_t threads : {2U, 3U, 4U}) {
      const RunResult result = run_well(network, motif, threads, 2048);
      EXPECT_EQ(result.span_ps, serial.span_ps);
      ASSERT_EQ(result.links.size(), serial.links.size());
      for (std::size_t i = 0; i < result.links.size(); ++i) {
        EXPECT_TRUE(result.links[i] == serial.links[i]) << serial.links[i].name << threads;
      }
    }
  }
}

}  // namespace
}  // namespace photon::netsim
