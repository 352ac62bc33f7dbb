#include "child.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace photonrun {

void die_with(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kNotStartedStatus);  // it died before the call
}

int await_exec(int report) {
  int number = 0;
  ssize_t size;
  do {
    size = ::read(report, &number, sizeof number);
  } while (size < 0 && errno == EINTR);
  return size == sizeof number ? number : 0;
}

}  // namespace photonrun
