// The rows: a table on stdout as they come, and a JSON file at the end. Only rank 0 prints; the
// others hold a silent report, so that questions need not ask.
// Owner: main.
#pragma once

#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "run_facts.hpp"
#include "statistics.hpp"

namespace photon::perf {

// The two-line ping-pong right before and after a row: cores of virtual machines have two states.
struct MachineState {
  double ping_before_ns;
  double ping_after_ns;
  std::string name;  // near, far, sharing a core
  bool is_steady;    // the same before and after
};

struct Row {
  std::string question;
  std::string transport;
  std::string mode;     // how it travelled, or the case measured; empty: null
  std::string memory;   // empty: null
  std::string buffers;  // fresh, same; empty: null
  std::uint64_t size_bytes = 0;
  std::uint64_t iterations = 0;
  std::optional<Latency> latency;
  std::optional<double> rate_per_s;
  std::optional<double> bandwidth_mbps;  // 10^6 bytes a second
  std::optional<double> limit;           // in the unit of the row's own figure
  std::optional<double> limit_ratio;     // ours over the limit
  std::string limit_name;                // what the limit is; empty: null
  std::optional<MachineState> machine;
  std::string note;  // for the reader of the table only
};

class Report {
 public:
  // A `json_path` that is not empty is opened at once: that it cannot be written should be known
  // before an hour of measurements, not after. Throws Failure.
  Report(bool speaks, const std::string& json_path);

  void add(Row row);
  void say(std::string_view line) const;  // a remark under the rows

  // The array of objects of docs/benchmarks.md.
  std::string json(const RunFacts& facts) const;
  // The same into the file, if one was asked for. Throws Failure if it cannot be written.
  void write_json(const RunFacts& facts);

 private:
  bool speaks_;
  std::string json_path_;
  std::ofstream json_;
  std::vector<Row> rows_;
};

}  // namespace photon::perf
