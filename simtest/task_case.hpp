// A program of message-driven tasks that a seed stands for, and what a run of it has shown. Each
// rank is a process of one PE, and in some programs one of them dies. What a task does is drawn
// from its number alone, so the whole tree of tasks is known whatever the schedule. Owner: none.
// Threads: one.
#pragma once

#include <cstdint>
#include <string>

#include "transport/sim/sim_network.hpp"

namespace photon::simtest {

struct TaskCase {
  std::uint64_t seed = 1;
  base::SimProfile profile = base::SimProfile::stream;
  std::uint32_t ranks = 4;
  std::uint32_t tasks = 200;  // of all PEs together, about
  transport::sim::Fault fault;
  bool deaths = true;  // in a third of the programs
};

struct TaskResult {
  std::string finding;  // "": all promises were kept
  std::uint64_t tasks = 0;
  std::uint64_t sleeps = 0;
  std::uint64_t waited = 0;  // messages that found no room at first
  bool has_death = false;
  std::uint64_t simulated_ns = 0;
  std::uint64_t digest = 0;  // of which PE ran what in which order, and when
};

// The same for the same case, whatever the compiler.
TaskResult run_task_case(const TaskCase& one);

}  // namespace photon::simtest
