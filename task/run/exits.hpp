// The end of all runs of the job, which any PE may call (docs/tasks.md, "Start, meetings, end").
//
//   called: send_exit() --> a message to each sibling and to each other process
//   arrived: a copy to each PE of the process (pe.cpp) --> take_exit(), when it has its turn
//
// Argument that every PE hears of it: the caller tells each process itself, and a process passes it
// on where it arrives. So nobody needs another PE to run, which may have ended its runs already.
// Owner: none (functions of the PE that sends or has the message).
#pragma once

#include <photon/task.h>

#include <cstdint>

#include "task/run/pe.hpp"

namespace photon::task {

// To all but the own PE. PH_ERR_MEMORY: nothing was sent.
ph_status send_exit(Pe& pe, std::int32_t status) noexcept;
// A message of Kind::exit ends all runs of the PE.
bool take_exit(Pe& pe, Message& message) noexcept;

}  // namespace photon::task
