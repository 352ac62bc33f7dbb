#include "sync/policy.hpp"

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "sync/streamed_copy.hpp"

namespace photon::sync {

namespace {

long membarrier(int command) noexcept { return ::syscall(SYS_membarrier, command, 0U, 0); }

// Until the stores that a core had retired before are in its cache, and some times longer.
void await_store_buffers() noexcept {
  constexpr std::uint64_t kTicks = 10'000;  // 3 to 5 us
  const std::uint64_t begun = core_ticks();
  while (core_ticks() - begun < kTicks) HardwarePolicy::relax();
}

}  // namespace

bool register_heavy_barrier() noexcept {
  const long supported = membarrier(MEMBARRIER_CMD_QUERY);
  constexpr long kNeeded =
      MEMBARRIER_CMD_GLOBAL_EXPEDITED | MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED |
      MEMBARRIER_CMD_PRIVATE_EXPEDITED | MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED;
  if (supported < 0 || (supported & kNeeded) != kNeeded) return false;
  return membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0 &&
         membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
}

// The system call itself is a full barrier here; it reaches every core that runs a thread of ours.
void issue_process_barrier() noexcept { membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED); }

// The global one reaches every core that runs a registered process, which is every process of the
// job that did not ask for fences instead; but for a core on which a thread of that process has
// ended and another one of it has run since, which Linux forgets (docs/sleeping.md).
void issue_heavy_barrier() noexcept {
  issue_process_barrier();
  membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
  await_store_buffers();
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
