// Runs of the scheduler (converse/base/runs.hpp), as programs ask for them.
// Owner: none (functions). Threads: that of the PE.
#pragma once

#include "converse/base/runs.hpp"

namespace photon::converse {

void start_schedule(Pe& pe);

// Ends the innermost run of libphoton_task if the scheduler around it is to end. After each
// message.
void heed_exits(Pe& pe) noexcept;

// Runs messages as ph_task_run() does, until CsdExitScheduler(). Returns how many.
std::uint64_t run_messages(Pe& pe, const char* call, std::int64_t count);

}  // namespace photon::converse
