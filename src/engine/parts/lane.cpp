#include "engine/parts/lane.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

#include "sync/patient_wait.hpp"

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
  if (forked()) return PH_ERR_FORKED;
  held = lock_.lock_visiting(self(), sync::PatientWait());
  return PH_OK;
}

}  // namespace photon::engine
