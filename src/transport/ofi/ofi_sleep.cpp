// Going to sleep and waking up. What ends a sleep is a descriptor that stays readable until poll()
// has looked, or the clock where the provider has none; so nothing is missed for long.
#include <algorithm>

#include "transport/ofi/ofi_transport_impl.hpp"

namespace photon::transport::ofi {

namespace {

// While attend() has deadlines to keep, or the provider may need driving or the side channel holds
// back what we sent.
constexpr std::int64_t kUnsettledSleepUs = 2'000;
constexpr std::int64_t kUnsentSleepUs = 1'000;
// Between two looks at a provider without a descriptor; and at one with: what such a descriptor
// leaves out depends on the provider, and costs this much instead of a hang.
constexpr std::int64_t kNapUs = 200;
constexpr std::int64_t kLookUs = 20'000;

std::int64_t sooner(std::int64_t a_us, std::int64_t b_us) noexcept {
  return a_us < 0 ? b_us : std::min(a_us, b_us);
}

}  // namespace

void OfiTransport::arm() noexcept {
  const network::Entered entered(lock_);
  wake_.arm();
  side_channel_.look_soon();
  if (!news_.is_empty() || !cut_off_.empty() || parts_.receives->has_arrived()) wake_.ring();
  std::int64_t longest_us = -1;
  if (!side_channel_.is_idle() || is_undrained_ || under_way_ != 0 || !waiting_.empty() ||
      !stalled_.empty() || parts_.receives->is_short())
    longest_us = kUnsentSleepUs;
  else if (unsettled_ != 0)
    longest_us = kUnsettledSleepUs;
  const bool is_deaf = is_wait_broken_ || parts_.fabric->traits().wait_fd < 0;
  longest_sleep_us_.set(sooner(longest_us, is_deaf ? kNapUs : kLookUs));
}

// The provider says whether its descriptor can be waited for: it may hold something that the
// descriptor does not tell.
SleepOn OfiTransport::sleep_on() noexcept {
  const network::Visit visit(lock_);
  const auto side_channel = side_channel_.sleep_on(longest_sleep_us_.get());
  std::int64_t limit_us = side_channel.limit_us;
  int wait_fd = is_broken_ || is_wait_broken_ ? -1 : parts_.fabric->traits().wait_fd;
  const auto may = wait_fd < 0 ? Fabric::MayWait::yes : parts_.fabric->may_wait();
  if (may == Fabric::MayWait::not_now) limit_us = 0;
  if (may == Fabric::MayWait::failed) {
    PHOTON_LOG(log_, warn,
               "ofi: the provider's descriptor cannot be waited for, so a sleep is %d us: %s",
               static_cast<int>(kNapUs), parts_.fabric->words().c_str());
    is_wait_broken_ = true;
    limit_us = sooner(limit_us, kNapUs);
    wait_fd = -1;
  }
  return {.fds = {wake_.fd(), wait_fd, side_channel.fd}, .limit_us = limit_us};
}

}  // namespace photon::transport::ofi
