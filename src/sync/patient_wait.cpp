#include "sync/patient_wait.hpp"

#include <algorithm>
#include <thread>

#include "sync/policy.hpp"

namespace photon::sync {

std::chrono::microseconds PatientWait::nap_after(unsigned looks) noexcept {
  constexpr unsigned kDoublings = 5;  // from the shortest past the longest
  if (looks < kLooksAwake) return std::chrono::microseconds(0);
  const unsigned doublings = std::min((looks - kLooksAwake) / kNapsAlike, kDoublings);
  return std::min(kShortest * (1 << doublings), kLongest);
}

void PatientWait::operator()(unsigned looks) const noexcept {
  const auto nap = nap_after(looks);
  if (nap.count() == 0)
    HardwarePolicy::pause(looks);
  else
    std::this_thread::sleep_for(nap);
}

}  // namespace photon::sync
