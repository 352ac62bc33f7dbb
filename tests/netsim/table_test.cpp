// The validation table, and what theory says of idle and of saturated networks.
#include "netsim/run/table.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "netsim/run/analytic.hpp"
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

TEST(Table, an_idle_network_has_the_latency_of_the_formula) {
  for (const TableRow& row : idle_rows(500, 2)) {
    const auto result = run(row.settings);
    ASSERT_TRUE(result) << row.name << ": " << result.error();
    ASSERT_EQ(result->failure, "") << row.name;
    ASSERT_EQ(result->last_ps, row.expected_ps) << row.name;
  }
}

TEST(Table, a_saturated_network_takes_the_time_of_its_most_loaded_link) {
  for (const TableRow& row : saturation_rows()) {
    const auto result = run(row.settings);
    ASSERT_TRUE(result) << row.name << ": " << result.error();
    EXPECT_EQ(result->failure, "") << row.name;
    const auto expected = static_cast<double>(row.expected_ps);
    EXPECT_NEAR(static_cast<double>(result->last_ps), expected, kSaturationError * expected)
        << row.name;
    std::uint64_t most = 0;
    for (const LinkClass& its : result->links) most = std::max(most, its.most_flits);
    EXPECT_NEAR(static_cast<double>(most * result->flit_ps), expected, 1e-3 * expected) << row.name;
  }
}

}  // namespace
}  // namespace photon::netsim
