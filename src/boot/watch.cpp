#include "boot/watch.hpp"

namespace photon::boot {

base::Result<Watch> Watch::create() {
  base::UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll) return base::system_error("epoll_create1 for messages between ranks");
  return Watch(std::move(epoll));
}

base::Result<> Watch::add(int fd, std::uint32_t events, std::uint64_t tag) {
  return control(EPOLL_CTL_ADD, fd, events, tag);
}

base::Result<> Watch::change(int fd, std::uint32_t events, std::uint64_t tag) {
  return control(EPOLL_CTL_MOD, fd, events, tag);
}

void Watch::remove(int fd) { (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr); }

std::span<const Ready> Watch::ready() {
  std::array<epoll_event, 16> events;
  const int count = ::epoll_wait(epoll_.get(), events.data(), events.size(), 0);
  for (int i = 0; i < count; ++i) ready_[i] = {events[i].data.u64, events[i].events};
  return {ready_.data(), static_cast<std::size_t>(count > 0 ? count : 0)};
}

base::Result<> Watch::control(int operation, int fd, std::uint32_t events, std::uint64_t tag) {
  epoll_event event{.events = events, .data = {.u64 = tag}};
  if (::epoll_ctl(epoll_.get(), operation, fd, &event) < 0) {
    return base::system_error("epoll_ctl for messages between ranks");
  }
  return {};
}

}  // namespace photon::boot
