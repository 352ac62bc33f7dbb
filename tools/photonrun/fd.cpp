#include "fd.hpp"

#include <fcntl.h>

#include <cerrno>

#include "call_failed.hpp"

namespace photonrun {

Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) < 0) {
    throw CallFailed("pipe2");
  }
  return {Fd(ends[0]), Fd(ends[1])};
}

void occupy_standard_fds() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0) (void)::open("/dev/null", O_RDONLY);  // the lowest free: fd
  }
}

bool is_writable(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

void release_input() {
  const Fd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (nothing) ::dup2(nothing.get(), STDIN_FILENO);
}

}  // namespace photonrun
