// The validation table: what SST's router gives for the same traffic, in picoseconds.
#pragma once

#include <span>
#include <string>

#include "netsim/run/settings.hpp"

namespace photon::netsim {

struct TableRow {
  std::string name;
  Settings settings;
  Time expected_ps;
};

// link 12.5, crossbar 18.75 GB/s, flits of 16 B, L 40, I and O 50 ns, 16,000 B a VC.
Settings table_settings();
std::vector<TableRow> validation_table();

}  // namespace photon::netsim
