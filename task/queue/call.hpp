// A function of the program that the loop of a PE calls beside tasks: of a timer, or of a
// condition. Invariant: the function is not null while it stands in a list or heap that is run.
// Owner: whoever holds it; plain data.
#pragma once

#include <photon/task.h>

namespace photon::task {

// Names of timers and of functions of conditions have so many bits; the calls of the program put
// the rank of the PE above them.
inline constexpr unsigned kNameWidth = 56;

struct Call {
  void (*function)(ph_task_pe* pe, void* user);
  void* user;
};

}  // namespace photon::task
