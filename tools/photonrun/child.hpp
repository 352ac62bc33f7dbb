// What a process that we start does between fork and exec, and how we hear of it.
// Owner: none, functions only.
#pragma once

#include <sys/types.h>

namespace photonrun {

// How a child ends that has not become its program, as a shell's does.
inline constexpr int kNotFoundStatus = 127;
inline constexpr int kNotStartedStatus = 126;

// In the child: it is killed when `parent`, which forked it, ends, even by SIGKILL.
void die_with(pid_t parent);

// 0 if the program runs, since exec closed the pipe without a word; else the errno of exec that the
// child wrote to it.
int await_exec(int report);

}  // namespace photonrun
