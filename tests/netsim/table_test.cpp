// The validation table, and what the formula of an idle network gives for random parameters.
#include "netsim/run/table.hpp"

#include <gtest/gtest.h>

#include "netsim/clock/random.hpp"
#include "netsim/run/simulation.hpp"

namespace photon::netsim {
namespace {

TEST(Table, every_row_is_equal_to_the_picosecond) {
  for (TableRow& row : validation_table()) {
    for (row.settings.threads = 1; row.settings.threads <= 3; ++row.settings.threads) {
      const auto result = run(row.settings);
      ASSERT_TRUE(result) << row.name << ": " << result.error();
      EXPECT_EQ(result->failure, "") << row.name;
      EXPECT_EQ(result->last_ps, row.expected_ps) << row.name;
    }
  }
}

// The arrival of one packet that passes so many routers, none of which is busy.
Time idle_latency(const Parameters& p, std::uint32_t routers) {
  Time now = p.flit_ps + p.link_ps + p.input_ps;
  for (std::uint32_t router = 1; router <= routers; ++router) {
    const Time edge = (now / p.crossbar_ps + 1) * p.crossbar_ps;
    now = edge + p.flit_ps + p.output_ps + p.link_ps + (router < routers ? p.input_ps : 0);
  }
  return now;
}

TEST(Table, an_idle_network_has_the_latency_of_the_formula) {
  Random random(1, 0);
  for (int i = 0; i < 300; ++i) {
    Settings settings;
    settings.link_GBps = 0.5 + random.below(10'000) / 10.0;
    settings.crossbar_GBps = settings.link_GBps * (1 + random.below(200) / 100.0);
    settings.flit_bytes = 1 + random.below(256);
    settings.packet_bytes = 1 + random.below(4096);
    settings.link_ns = random.below(100'000) / 1000.0;
    settings.input_ns = random.below(100'000) / 1000.0;
    settings.output_ns = random.below(100'000) / 1000.0;
    settings.motif = {"pair", "2", 1 + random.below(settings.packet_bytes), 1, 1};
    std::uint32_t routers = 1;
    switch (random.below(4)) {
      case 0: settings.network = {"router", "3"}; break;
      case 1:
        settings.network = {"torus", "3"};
        routers = 2;
        break;
      case 2:
        settings.network = {"fattree", "1,2:2"};
        routers = 3;
        break;
      default:
        settings.network = {"dragonfly", "1:1:1:3"};
        routers = 2;
        break;
    }
    const auto rounded = parameters_of(settings, 1);
    ASSERT_TRUE(rounded) << rounded.error();
    const auto result = run(settings);
    ASSERT_TRUE(result) << result.error();
    ASSERT_EQ(result->failure, "");
    ASSERT_EQ(result->last_ps, idle_latency(rounded->parameters, routers)) << i;
  }
}

}  // namespace
}  // namespace photon::netsim
