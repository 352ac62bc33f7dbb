#include "call_failed.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>

#include "fd.hpp"

namespace photonrun {
namespace {

const char* advice(int number) {
  switch (number) {
    case EPERM:
    case EACCES:
    case ENOSYS:
      return "; a sandbox (seccomp, a container's profile) refuses photonrun this system call: "
             "allow it (docs/containers.md; photon-info alone shows what else is refused)";
    case EAGAIN:
      return "; no more processes may be started: raise the limit (ulimit -u, or pids.max of the "
             "container), or start fewer ranks";
    case EMFILE: return "; no descriptor is left: raise the limit (ulimit -n)";
    case ENOMEM:
      return "; there is no more memory: raise the limit (ulimit -v, or the container's)";
    default: return "";
  }
}

}  // namespace

CallFailed::CallFailed(const char* call)
    : std::system_error(errno, std::generic_category(), call),
      text_(std::string(std::system_error::what()) + advice(code().value())) {}

void fill_random(std::span<std::byte> bytes) {
  // So few are neither interrupted nor cut short (getrandom(2)).
  const auto wanted = static_cast<ssize_t>(bytes.size());
  if (::getrandom(bytes.data(), bytes.size(), 0) == wanted) return;
  const Fd device(::open("/dev/urandom", O_RDONLY | O_CLOEXEC));
  if (!device || ::read(device.get(), bytes.data(), bytes.size()) != wanted)
    throw CallFailed("getrandom, and /dev/urandom");
}

}  // namespace photonrun
