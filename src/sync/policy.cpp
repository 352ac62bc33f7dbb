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
  // Each look takes the line away from whoever works with it, so each waits for twice as long.
  constexpr unsigned kSpinsBeforeYield = 8;
  if (spins >= kSpinsBeforeYield) {
    ::sched_yield();
    return;
  }
  for (unsigned i = 0; i < 1U << spins; ++i) relax();
}

}  // namespace photon::sync
