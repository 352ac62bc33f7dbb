// A lane with a thread of this library: how the thread begins, and a number of the settings.
// Owner: none. Threads: the one that begins it.
#pragma once

#include <photon/photon.h>

#include <cstdint>
#include <functional>
#include <thread>

namespace photon::mpi {

// The thread does `body`. The program's signals are left to the program's threads, but for those
// that this thread raises by a fault of its own. False: no thread can be had, and `why` says so.
bool start_thread(std::thread& thread, std::function<void()> body, ph_error& why);

// The value of a setting that is a number; 0: there is no such setting.
std::uint64_t setting_of(ph_context* context, const char* name) noexcept;

}  // namespace photon::mpi
