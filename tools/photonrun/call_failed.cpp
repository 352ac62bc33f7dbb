#include "call_failed.hpp"

#include <cerrno>

#include "system/random.hpp"

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
  if (!photon::system::fill_random(bytes)) throw CallFailed("getrandom, and /dev/urandom");
}

}  // namespace photonrun
