#include "base/resource_limits.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>

namespace photon::base {

namespace {

std::uint64_t limit_of(__rlimit_resource what) noexcept {
  rlimit found{};
  if (::getrlimit(what, &found) != 0 || found.rlim_cur == RLIM_INFINITY) return kNoLimit;
  return found.rlim_cur;
}

constexpr std::uint64_t kKib = 1024;

}  // namespace

std::uint64_t descriptors_limit() noexcept { return limit_of(RLIMIT_NOFILE); }

std::uint64_t locked_memory_limit_bytes() noexcept { return limit_of(RLIMIT_MEMLOCK); }

std::uint64_t file_size_limit_bytes() noexcept { return limit_of(RLIMIT_FSIZE); }

std::uint64_t memory_limit_bytes() noexcept {
  return std::min(limit_of(RLIMIT_AS), limit_of(RLIMIT_DATA));
}

std::string descriptors_advice(int number, std::uint64_t limit) {
  if (number == ENFILE)
    return "; the whole system has no descriptor left: raise its limit (sysctl fs.file-max)";
  if (number != EMFILE) return {};
  return "; this process may have " + std::to_string(limit) +
         " descriptors (RLIMIT_NOFILE), and all are in use: raise the limit (ulimit -n)";
}

// What drivers and providers say of a page that may not be locked: the kernel's own word is ENOMEM,
// and EPERM where the limit is 0; EAGAIN is mlock(2)'s.
std::string locked_memory_advice(int number, std::uint64_t limit_bytes) {
  const bool is_limits = number == ENOMEM || number == EPERM || number == EAGAIN;
  if (!is_limits || limit_bytes == kNoLimit) return {};
  return "; this process may lock " + std::to_string(limit_bytes / kKib) +
         " KiB of memory (RLIMIT_MEMLOCK), which NICs need: raise the limit (ulimit -l)";
}

std::string memory_advice(int number, std::uint64_t limit_bytes) {
  if (number != ENOMEM) return {};
  const std::string why =
      limit_bytes == kNoLimit
          ? "; the system, or the memory cgroup of this process, has no more: raise its limit"
          : "; this process may have " + std::to_string(limit_bytes / kKib / kKib) +
                " MiB of memory (the lesser of RLIMIT_AS and RLIMIT_DATA): raise the limit "
                "(ulimit -v, ulimit -d)";
  return why +
         ", or take less: for each peer PHOTON_BULK_BYTES and PHOTON_RING_LINES, for each rank "
         "PHOTON_ARENA_BYTES; photon-info shows them";
}

std::string file_size_advice(int number, std::uint64_t limit_bytes) {
  if (number != EFBIG || limit_bytes == kNoLimit) return {};
  return "; this process may make files of " + std::to_string(limit_bytes / kKib) +
         " KiB (RLIMIT_FSIZE), and shared memory is one to the kernel: raise the limit (ulimit "
         "-f), or take PHOTON_TRANSPORT=tcp";
}

std::string ports_advice() {
  return "; all ports that the kernel may choose are used up: widen net.ipv4.ip_local_port_range "
         "(sysctl; each network namespace has its own), or start fewer ranks: each listens at one "
         "port, and takes one more for each peer that it connects to";
}

bool is_call_refused(int number) noexcept {
  return number == EPERM || number == EACCES || number == ENOSYS;
}

std::string refused_call_advice(int number) {
  if (!is_call_refused(number)) return {};
  return "; a sandbox (seccomp, a container's profile), a missing right or an old kernel refuses "
         "this system call: allow it (docs/containers.md says what needs it; photon-info shows "
         "what else)";
}

}  // namespace photon::base
