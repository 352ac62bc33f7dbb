// write() where it may block and O_NONBLOCK is not ours to set: it is interrupted after a moment.
// Invariant: SIGALRM and the process's timer are afterwards what they were. Owner: Sink; for a
// process of one thread.
#pragma once

#include <sys/types.h>

#include <string_view>

namespace photonrun {

// As write(), at the longest for some 10 ms; EAGAIN: it took nothing in that time.
ssize_t write_briefly(int fd, std::string_view text) noexcept;

}  // namespace photonrun
