#include "sync/policy.hpp"

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace photon::sync {

namespace {

long membarrier(int command) noexcept { return ::syscall(SYS_membarrier, command, 0U, 0); }

}  // namespace

bool register_heavy_barrier() noexcept {
  const long supported = membarrier(MEMBARRIER_CMD_QUERY);
  constexpr long kNeeded =
      MEMBARRIER_CMD_GLOBAL_EXPEDITED | MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED;
  if (supported < 0 || (supported & kNeeded) != kNeeded) return false;
  return membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0;
}

void issue_heavy_barrier() noexcept {
  // The system call itself is a full barrier here; it reaches every core that runs a registered
  // process, which is every process of the job that did not ask for fences instead.
  membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}

void HardwarePolicy::pause(unsigned spins) noexcept {
  constexpr unsigned kSpinsBeforeYield = 128;
  if (spins < kSpinsBeforeYield)
    relax();
  else
    ::sched_yield();
}

}  // namespace photon::sync
