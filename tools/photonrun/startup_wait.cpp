#include "startup_wait.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "call_failed.hpp"

namespace photonrun {

bool StartupWait::wait(std::vector<pollfd>& entries, Clock::time_point until) const {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
  const std::size_t theirs = entries.size();
  entries.push_back({.fd = signals_.fd(), .events = POLLIN, .revents = 0});
  entries.push_back({.fd = lifeline_, .events = POLLIN, .revents = 0});
  entries.push_back({.fd = commands_ ? commands_->fd() : -1, .events = POLLIN, .revents = 0});
  output_.want(entries);
  const int limit_ms = static_cast<int>(std::clamp<long long>(left, 0, 3'600'000));
  const int ready = ::poll(entries.data(), entries.size(), limit_ms);
  if (ready < 0 && errno != EINTR) throw CallFailed("poll");
  const bool abandoned = entries[theirs + 1].revents != 0;
  const bool has_commands = entries[theirs + 2].revents != 0;
  if (ready > 0) output_.handle(entries);
  entries.resize(theirs);
  if (abandoned) throw Interrupted{128 + SIGKILL};
  if (has_commands) commands_->handle();
  while (const auto event = signals_.next()) {
    if (!ends_job(event->number)) continue;
    say(fmt::format("ended by {}", signal_text(event->number)));
    throw Interrupted{128 + event->number};
  }
  return std::ranges::any_of(entries, [](const pollfd& entry) { return entry.revents != 0; });
}

bool StartupWait::wait_for(int fd, short events, Clock::time_point until) const {
  std::vector<pollfd> entries{{.fd = fd, .events = events, .revents = 0}};
  while (!wait(entries, until)) {
    if (Clock::now() >= until) return false;
  }
  return true;
}

}  // namespace photonrun
