#include "pinning.hpp"

namespace photon::perf {

Processors::Processors() noexcept {
  CPU_ZERO(&allowed_);
  if (sched_getaffinity(0, sizeof allowed_, &allowed_) == 0) {
    count_ = static_cast<std::uint32_t>(CPU_COUNT(&allowed_));
  }
}

void Processors::bind(std::uint32_t index) const noexcept {
  if (count_ <= 1) return;
  auto skip = index % count_;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (!CPU_ISSET(processor, &allowed_) || skip-- != 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    sched_setaffinity(0, sizeof one, &one);  // refused: unpinned figures, which the reader sees
    return;
  }
}

}  // namespace photon::perf
