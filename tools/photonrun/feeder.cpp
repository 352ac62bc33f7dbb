#include "feeder.hpp"

#include <poll.h>

#include <cerrno>
#include <csignal>
#include <string_view>

#include "child.hpp"

namespace photonrun {
namespace {

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::write(fd, text.data(), text.size());
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;  // 0: as an error, or we would try for ever
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

[[noreturn]] void feed(int target) {
  char buffer[1 << 16];
  for (;;) {
    const ssize_t size = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) {  // as whoever gave it to us has set it
      pollfd entry{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
      (void)::poll(&entry, 1, -1);
      continue;
    }
    if (size <= 0 || !write_all(target, {buffer, static_cast<std::size_t>(size)})) ::_exit(0);
  }
}

// The pipes of other hosts' processes came along with fork(): open here they would not end
// there.
void close_all_but(int kept) {
  const auto at = static_cast<unsigned>(kept);
  if (at > 3) ::close_range(3, at - 1, 0);
  ::close_range(at + 1, ~0U, 0);
}

}  // namespace

void start_feeder(Fd target, const Signals& signals, pid_t terminal_group) {
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid != 0) return;  // without it rank 0 finds its input at its end
  die_with(parent);
  ::setpgid(0, terminal_group);
  signals.restore();
  // In the background of a terminal to read would stop the whole group, whether rank 0 wants input
  // or not; so it fails there, and rank 0 finds the end of its input.
  (void)std::signal(SIGTTIN, SIG_IGN);
  close_all_but(target.get());
  feed(target.get());
}

}  // namespace photonrun
