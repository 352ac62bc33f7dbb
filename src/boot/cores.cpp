#include "boot/cores.hpp"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace photon::boot {

namespace {

// The cores this process may use.
unsigned cores_allowed() noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<unsigned>(CPU_COUNT(&set));
  return std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace

unsigned threads_with_cores(const base::Config& config, const Boot& boot) noexcept {
  if (config.oversubscribed == base::Oversubscribed::yes) return 0;
  if (config.oversubscribed == base::Oversubscribed::no) return ~0U;
  // A rank pinned to one core shares the host's others with nobody it knows: ask the host.
  const unsigned cores = std::max(cores_allowed(), std::thread::hardware_concurrency());
  return cores / std::max(1U, boot.local_size());
}

}  // namespace photon::boot
