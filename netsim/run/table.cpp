#include "netsim/run/table.hpp"

namespace photon::netsim {
namespace {

// One message from rank 0 to rank 1.
TableRow message(const char* name, TopologySettings network, std::uint32_t bytes, Time expected) {
  TableRow row{name, table_settings(), expected};
  row.settings.network = std::move(network);
  row.settings.motif = {"pair", "2", bytes, 1, 1};
  return row;
}

TableRow exchange(const char* name, TopologySettings network, std::uint32_t steps, Time expected) {
  TableRow row{name, table_settings(), expected};
  row.settings.network = std::move(network);
  row.settings.motif = {"exchange", "4x4x4", 19200, steps, 1};
  return row;
}

}  // namespace

Settings table_settings() {
  Settings settings;
  settings.link_GBps = 12.5;
  settings.crossbar_GBps = 18.75;
  settings.buffer_bytes = 16000;
  return settings;
}

std::vector<TableRow> validation_table() {
  return {
      message("one router, 0 to 1, 64 B", {"router", "2"}, 64, 183404),
      message("one router, 0 to 1, 2,048 B", {"router", "2"}, 2048, 183404),
      message("one router, 0 to 1, 19,200 B", {"router", "2"}, 19200, 1657964),
      message("torus 4x4x4, 0 to 1, 2,048 B", {"torus", "4x4x4"}, 2048, 325002),
      exchange("torus 4x4x4, exchange, 1 step", {"torus", "4x4x4"}, 1, 9479562),
      exchange("HyperX 4x4, width 1, 4 hosts, 10 steps", {"hyperx", "4x4", "static", 4}, 10,
               127567082),
      exchange("fat tree 8,8:8, 10 steps", {"fattree", "8,8:8"}, 10, 115864428),
      exchange("dragonfly 4:4:1:4, 10 steps", {"dragonfly", "4:4:1:4"}, 10, 255770076),
  };
}

}  // namespace photon::netsim
