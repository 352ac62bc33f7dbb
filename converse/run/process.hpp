// What the PEs of a process share.
// Invariant: but for what the lock guards, all of it is set before the PEs start.
// Owner: ConverseInit(); it stays until the process has ended, for the threads of PEs that wait for
// this use it. Threads: PEs.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "converse/base/pe.hpp"

namespace photon::converse {

struct Process {
  ph_context* context = nullptr;
  char** argv = nullptr;  // a copy of the list, which nobody changes
  CmiStartFn start = nullptr;
  bool user_schedules = false;
  bool init_returns = false;
  std::vector<std::uint32_t> host_of;  // by process: numbers from 0 on, in the order of processes

  std::mutex lock;
  std::vector<bool> has_left;     // by rank: has called ConverseExit()
  std::optional<int> ended_with;  // the job is over, as far as a PE of this process has heard
  std::uint32_t halted = 0;       // PEs that do nothing any more
  std::condition_variable has_halted;
};

// From when CmiWallTimer() counts: ConverseInit(), or a call before it.
std::chrono::steady_clock::time_point start_of_clock() noexcept;

}  // namespace photon::converse
