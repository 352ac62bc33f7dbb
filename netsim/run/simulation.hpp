// A simulation: a network, a card on each host, a motif on the ranks, and the loop that runs them.
//
//   make_simulation -> ready -run-> done, or failed (then `failure` says why)
//
// Invariant: the result is a function of the settings without the number of threads. Owner: the
// caller, who uses it from one thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "netsim/net/links.hpp"
#include "netsim/run/watcher.hpp"
#include "netsim/run/worker.hpp"

namespace photon::netsim {

struct RunResult {
  std::string failure;  // empty: all checks held
  std::string note;     // what was not as the settings say: rounded rates, threads
  Time last_ps = 0;     // when the last rank finished
  double mean_ps = 0;   // of all ranks' ends
  std::uint64_t packets = 0;
  std::uint64_t hops = 0;  // packets that left a router's output port
  std::uint64_t out_of_order = 0;
  std::uint64_t posted_bytes = 0;
  std::uint64_t control_bytes = 0;     // of control packets
  std::uint64_t bytes_from_cards = 0;  // payload of all packets
  std::uint64_t bytes_to_cards = 0;
  std::uint64_t flits_from_cards = 0;  // on the links of hosts
  std::uint64_t flits_to_cards = 0;
  Time span_ps = 0;  // until the last rank had finished and the last link fell silent
  Time flit_ps = 0;  // of a flit on a link
  std::vector<LinkClass> links;
  std::uint64_t peak_held_bytes = 0;  // of one card
  std::uint64_t peak_card_bytes = 0;  // of memory of one card
  Histogram latency_ns;      // of messages between nodes, from posting to the receiver's taking
  std::uint64_t events = 0;  // how much work it was: the one number that depends on the threads
  std::vector<Time> finished_ps;  // rank
};

class Simulation {
 public:
  // Before run(): keeps more checks on, which take time and memory but change nothing. Little's law
  // is measured on every FIFO by two instruments, and the flits on the links of hosts are counted
  // once more; the run fails where they disagree.
  void audit();
  RunResult run(Watcher* watcher = nullptr);

 private:
  friend Result<std::unique_ptr<Simulation>> make_simulation(const Settings& settings);
  Simulation(std::unique_ptr<Common> common, std::string note, std::uint32_t parts);

  void run_serially(Watcher* watcher);
  std::string why_it_failed(const RunResult& result);
  std::string what_disagrees(const RunResult& result) const;

  std::unique_ptr<Common> common_;
  std::string note_;
  std::vector<std::unique_ptr<Worker>> workers_;
  bool is_audited_ = false;
};

// Ready to run, or what is wrong with the settings.
Result<std::unique_ptr<Simulation>> make_simulation(const Settings& settings);
// Both in one; a failure of the settings is the error, one of the run is in the result.
Result<RunResult> run(const Settings& settings);

}  // namespace photon::netsim
