// check: every row of the validation table, equal to a picosecond, and beside it what theory says:
// idle networks, equal too, and saturated ones.
#include <algorithm>
#include <cstdio>

#include "netsim/command/command.hpp"
#include "netsim/run/analytic.hpp"
#include "netsim/run/simulation.hpp"

namespace photon::netsim::command {
namespace {

constexpr std::uint32_t kIdleRows = 500;

struct Outcome {
  Time last_ps = 0;
  double error = 0;  // relative
  std::string failure;
};

Outcome outcome_of(const TableRow& row) {
  const auto result = photon::netsim::run(row.settings);
  if (!result) return {0, 1, result.error()};
  const auto expected = static_cast<double>(row.expected_ps);
  const double error = (static_cast<double>(result->last_ps) - expected) / expected;
  return {result->last_ps, std::max(error, -error), result->failure};
}

// Prints the row; true if it holds.
bool holds(const TableRow& row, double allowed) {
  const Outcome outcome = outcome_of(row);
  const bool is_well = outcome.failure.empty() && outcome.error <= allowed;
  char words[64] = "equal";
  if (!is_well) {
    std::snprintf(words, sizeof words, "DIFFERS by %.3f%% ", 100 * outcome.error);
  } else if (allowed > 0) {
    std::snprintf(words, sizeof words, "within %.2f%%", 100 * outcome.error);
  }
  std::printf("%-40s %14.3f %14.3f %s%s\n", row.name.c_str(),
              static_cast<double>(outcome.last_ps) / 1e3,
              static_cast<double>(row.expected_ps) / 1e3, words, outcome.failure.c_str());
  return is_well;
}

// Prints those that differ; how many do.
int idle_networks() {
  int wrong = 0;
  for (const TableRow& row : idle_rows(kIdleRows, 1)) {
    const Outcome outcome = outcome_of(row);
    if (outcome.failure.empty() && outcome.last_ps == row.expected_ps) continue;
    holds(row, 0);
    ++wrong;
  }
  std::printf("%u idle networks with random parameters: %s\n", kIdleRows,
              wrong == 0 ? "equal to the formula" : "some DIFFER");
  return wrong;
}

}  // namespace

int check() {
  int wrong = 0;
  std::printf("%-40s %14s %14s\n", "case", "ns", "expected");
  for (const TableRow& row : validation_table()) wrong += holds(row, 0) ? 0 : 1;
  wrong += idle_networks();
  for (const TableRow& row : saturation_rows()) wrong += holds(row, kSaturationError) ? 0 : 1;
  std::printf("%s\n", wrong == 0 ? "all is as expected" : "the model is not what it should be");
  return wrong == 0 ? 0 : 1;
}

}  // namespace photon::netsim::command
