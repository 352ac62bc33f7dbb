// The launcher's descriptors: pipes, and what becomes of the standard ones. Owner: whoever holds
// an Fd.
#pragma once

#include "system/unique_fd.hpp"

namespace photonrun {

using Fd = photon::system::UniqueFd;

struct Pipe {
  Fd read;
  Fd write;
};

// Both ends close-on-exec. Throws std::system_error.
Pipe make_pipe();

// Opens /dev/null at 0, 1, 2 where the caller left one closed, so that no descriptor of ours lands
// there and is taken for somebody's output. Writing there fails, as it would without us.
void occupy_standard_fds();

// It was opened for writing.
bool is_writable(int fd);

// Replaces our standard input by /dev/null once rank 0 has it: when rank 0 closes it, whoever
// writes there is to hear of it.
void release_input();

}  // namespace photonrun
