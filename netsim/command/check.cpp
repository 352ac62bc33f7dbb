// check: every row of the validation table, equal to a picosecond.
#include <cstdio>

#include "netsim/command/command.hpp"
#include "netsim/run/simulation.hpp"
#include "netsim/run/table.hpp"

namespace photon::netsim::command {

int check() {
  int wrong = 0;
  std::printf("%-40s %14s %14s\n", "case", "ns", "expected");
  for (const TableRow& row : validation_table()) {
    const auto result = photon::netsim::run(row.settings);
    const std::string failure = result ? result->failure : result.error();
    const Time last = result ? result->last_ps : 0;
    const bool is_equal = failure.empty() && last == row.expected_ps;
    wrong += is_equal ? 0 : 1;
    std::printf("%-40s %14.3f %14.3f %s%s\n", row.name.c_str(), static_cast<double>(last) / 1e3,
                static_cast<double>(row.expected_ps) / 1e3, is_equal ? "equal" : "DIFFERS ",
                failure.c_str());
  }
  std::printf("%s\n", wrong == 0 ? "all equal" : "the model is not that of the table");
  return wrong == 0 ? 0 : 1;
}

}  // namespace photon::netsim::command
