// Carries out a program on a simulated job, under the oracle's eyes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/parts/source_cache.hpp"
#include "simtest/oracle.hpp"
#include "simtest/program.hpp"
#include "transport/sim/sim_network.hpp"

namespace photon::simtest {

struct Result {
  std::optional<Finding> finding;
  std::uint64_t digest = 0;  // of the history
  std::uint64_t events = 0;
  std::uint64_t simulated_ns = 0;
  std::uint64_t recalls = 0;            // of messages that had begun to land
  std::string history;                  // if it was to be kept
  engine::SourceCache::Counts sources;  // of all ranks, if none left early
};

// The same for the same arguments, whatever the compiler. `seed` is the schedule's and the
// network's.
Result run_program(const Program& program, std::uint64_t seed,
                   const transport::sim::SimNetwork::Settings& network, bool keep_history);

}  // namespace photon::simtest
