#include "transport/poll_sleepers.hpp"

#include <poll.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "base/resource_limits.hpp"

namespace photon::transport {

void poll_sleepers(std::span<Transport* const> sleepers, std::int64_t timeout_us) noexcept {
  constexpr std::size_t kEach = SleepOn::kMostFds;
  pollfd watched[kMostSleepers * kEach] = {};
  std::int64_t limit_us = timeout_us;
  nfds_t count = 0;
  for (Transport* sleeper : sleepers) {
    const SleepOn on = sleeper->sleep_on();
    for (const int fd : on.fds) watched[count++] = {fd, POLLIN, 0};
    if (on.limit_us >= 0) limit_us = limit_us < 0 ? on.limit_us : std::min(limit_us, on.limit_us);
  }
  const timespec limit = {static_cast<time_t>(limit_us / 1'000'000),
                          static_cast<long>(limit_us % 1'000'000 * 1'000)};
  int found = ::ppoll(watched, count, limit_us < 0 ? nullptr : &limit, nullptr);
  if (found < 0 && base::is_call_refused(errno)) {
    // In milliseconds, then, and not less than one.
    constexpr std::int64_t kMsUs = 1000;
    const std::int64_t limit_ms = std::min<std::int64_t>((limit_us + kMsUs - 1) / kMsUs, INT_MAX);
    found = ::poll(watched, count, limit_us < 0 ? -1 : static_cast<int>(limit_ms));
  }
  if (found <= 0) return;
  const pollfd* first = watched;
  for (Transport* sleeper : sleepers) {
    unsigned ready = 0;
    for (unsigned i = 0; i < kEach; ++i)
      if (first[i].revents != 0) ready |= 1U << i;
    if (ready != 0) sleeper->slept(ready);
    first += kEach;
  }
}

}  // namespace photon::transport
