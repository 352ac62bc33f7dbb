#include "engine/parts/event_descriptor.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <utility>

namespace photon::engine {

namespace {

constexpr std::uint32_t kDoorbell = EventDescriptor::kWatched;
constexpr std::uint32_t kClock = kDoorbell + 1;

}  // namespace

base::Result<std::unique_ptr<EventDescriptor>> EventDescriptor::create() {
  base::UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll) return base::system_error("event_fd: epoll_create1");
  base::UniqueFd doorbell(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!doorbell) return base::system_error("event_fd: eventfd");
  base::UniqueFd clock(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!clock) return base::system_error("event_fd: timerfd_create");
  std::unique_ptr<EventDescriptor> made(
      new EventDescriptor(std::move(epoll), std::move(doorbell), std::move(clock)));
  if (!made->add(made->doorbell_.get(), kDoorbell) || !made->add(made->clock_.get(), kClock))
    return base::system_error("event_fd: epoll_ctl");
  made->ring();
  return made;
}

EventDescriptor::EventDescriptor(base::UniqueFd epoll, base::UniqueFd doorbell,
                                 base::UniqueFd clock) noexcept
    : epoll_(std::move(epoll)), doorbell_(std::move(doorbell)), clock_(std::move(clock)) {
  watched_.fill(-1);
}

bool EventDescriptor::add(int fd, std::uint32_t tag) noexcept {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u32 = tag;
  return ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

base::Result<> EventDescriptor::watch(const Fds& fds) noexcept {
  for (std::uint32_t i = 0; i < fds.size(); ++i) {
    if (watched_[i] == fds[i]) continue;
    if (watched_[i] >= 0)
      static_cast<void>(::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, watched_[i], nullptr));
    watched_[i] = -1;
    if (fds[i] >= 0 && !add(fds[i], i)) return base::system_error("event_arm: epoll_ctl");
    watched_[i] = fds[i];
  }
  return {};
}

unsigned EventDescriptor::ready() const noexcept {
  std::array<epoll_event, kWatched + 2> events;
  const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
  unsigned bits = 0;
  for (int i = 0; i < count; ++i)
    if (events[i].data.u32 < kWatched) bits |= 1U << events[i].data.u32;
  return bits;
}

// Neither write nor read can fail: the counter is 0 or 1.
void EventDescriptor::ring() noexcept {
  const std::uint64_t one = 1;
  if (!std::exchange(is_kicked_, true) && ::write(doorbell_.get(), &one, sizeof one) < 0) return;
}

void EventDescriptor::quiet(std::int64_t limit_us) noexcept {
  std::uint64_t ignored = 0;
  if (std::exchange(is_kicked_, false) && ::read(doorbell_.get(), &ignored, sizeof ignored) < 0)
    return;
  if (!std::exchange(has_limit_, limit_us >= 0) && limit_us < 0) return;
  constexpr std::int64_t kSecondUs = 1'000'000;
  itimerspec when{};  // zero: never
  if (limit_us >= 0) when.it_value = {limit_us / kSecondUs, limit_us % kSecondUs * 1000 + 1};
  static_cast<void>(::timerfd_settime(clock_.get(), 0, &when, nullptr));
}

}  // namespace photon::engine
