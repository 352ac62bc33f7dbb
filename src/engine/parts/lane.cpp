#include "engine/parts/lane.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <thread>

namespace photon::engine {

base::Result<std::unique_ptr<Lane>> Lane::create(bool may_bias) {
  void* page =
      ::mmap(nullptr, sizeof(Lane), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return base::system_error("cannot map the page of a lane");
  const bool is_wiped = ::madvise(page, sizeof(Lane), MADV_WIPEONFORK) == 0;
  return std::unique_ptr<Lane>(new (page)
                                   Lane(may_bias && is_wiped, is_wiped ? pid_t{0} : ::getpid()));
}

bool Lane::is_other_process() const noexcept { return owner_ != ::getpid(); }

void Lane::operator delete(void* page) noexcept { ::munmap(page, sizeof(Lane)); }

ph_status Lane::enter_slow(Held& held, bool must_be_open) noexcept {
  if (forked()) return PH_ERR_FORKED;
  held = lock_.lock(self());
  if (open_ || !must_be_open) return PH_OK;
  lock_.unlock(held);
  return PH_ERR_STATE;
}

ph_status Lane::visit_patiently(Held& held) noexcept {
  constexpr unsigned kLooks = 1000;
  constexpr std::chrono::microseconds kLongestPause{1000};
  // A collective holds its lane for as long as the slowest rank takes, so we look ever less often.
  // There is nothing to be woken by: leaving a lane tells nobody, which is what makes it cheap. The
  // pause is the backoff of our looks and orders nothing; try_visiting() alone does.
  for (std::chrono::microseconds pause{50};; pause = std::min(2 * pause, kLongestPause)) {
    if (forked()) return PH_ERR_FORKED;
    if (lock_.try_visiting(self(), kLooks, held)) return PH_OK;
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace photon::engine
