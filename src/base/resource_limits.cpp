#include "base/resource_limits.hpp"

#include <sys/resource.h>

#include <cerrno>

namespace photon::base {

namespace {

std::uint64_t limit_of(__rlimit_resource what) noexcept {
  rlimit found{};
  if (::getrlimit(what, &found) != 0 || found.rlim_cur == RLIM_INFINITY) return kNoLimit;
  return found.rlim_cur;
}

}  // namespace

std::uint64_t descriptors_limit() noexcept { return limit_of(RLIMIT_NOFILE); }

std::uint64_t locked_memory_limit_bytes() noexcept { return limit_of(RLIMIT_MEMLOCK); }

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
  constexpr std::uint64_t kKib = 1024;
  return "; this process may lock " + std::to_string(limit_bytes / kKib) +
         " KiB of memory (RLIMIT_MEMLOCK), which network cards need: raise the limit (ulimit -l)";
}

}  // namespace photon::base
