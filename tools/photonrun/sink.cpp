#include "sink.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <exception>

#include "brief_write.hpp"

namespace photonrun {
namespace {

constexpr auto kLastLineTime = std::chrono::seconds(1);
constexpr std::size_t kAtOnceBytes = 1 << 16;

// O_NONBLOCK belongs to what is open, which the ranks and our caller share; opened again it is ours
// alone. A poll before each write is not enough: another writer may take the room in between, and a
// terminal says that it is writable when it has room for one byte.
Fd open_again(int fd, const struct stat& about) {
  const bool is_terminal = S_ISCHR(about.st_mode) && ::isatty(fd) == 1 &&
                           about.st_rdev != makedev(5, 2);  // ptmx: opened again it is another one
  if (!S_ISFIFO(about.st_mode) && !is_terminal) return Fd();
  return Fd(::open(fmt::format("/proc/self/fd/{}", fd).c_str(),
                   O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
}

}  // namespace

Sink::Sink(int fd) : fd_(fd) {
  struct stat about {};
  if (::fstat(fd, &about) != 0) return;
  is_socket_ = S_ISSOCK(about.st_mode);
  is_file_ = S_ISREG(about.st_mode);
  own_ = open_again(fd, about);
}

void Sink::put(std::string_view text) {
  if (!is_dead()) pending_ += text;
}

bool Sink::is_hung_up() const { return error_ == EPIPE || error_ == ECONNRESET; }

void Sink::flush() {
  while (!pending_.empty()) {
    const ssize_t size = write_piece();
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) return;
    if (size <= 0) {
      error_ = size < 0 ? errno : EIO;  // 0: it takes nothing, and says not when it will
      pending_.clear();
      written_bytes_ = 0;
      return;
    }
    written_bytes_ += static_cast<std::size_t>(size);
    total_bytes_ += static_cast<std::size_t>(size);
    if (written_bytes_ < pending_.size()) continue;
    pending_.clear();
    written_bytes_ = 0;
  }
}

ssize_t Sink::write_piece() {
  const char* const text = pending_.data() + written_bytes_;
  const std::size_t left_bytes = pending_.size() - written_bytes_;
  if (is_socket_) {
    return ::send(fd_, text, std::min(left_bytes, kAtOnceBytes), MSG_DONTWAIT | MSG_NOSIGNAL);
  }
  if (own_ || is_file_) return ::write(target(), text, std::min(left_bytes, kAtOnceBytes));
  // A pipe of somebody else's is writable when a page of it is free (pipe(7)); but another writer
  // may take it first, and a terminal waits until it has room for all.
  pollfd entry{.fd = fd_, .events = POLLOUT, .revents = 0};
  if (::poll(&entry, 1, 0) == 0) {
    errno = EAGAIN;
    return -1;
  }
  return write_briefly(fd_, {text, std::min<std::size_t>(left_bytes, PIPE_BUF)});
}

void say_line(std::string_view text) noexcept {
  try {
    using Clock = std::chrono::steady_clock;
    const auto until = Clock::now() + kLastLineTime;
    Sink sink(STDERR_FILENO);
    sink.put(fmt::format("photonrun: {}\n", text));
    for (sink.flush(); !sink.is_empty(); sink.flush()) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
      pollfd entry{.fd = sink.fd(), .events = POLLOUT, .revents = 0};
      if (left <= 0 || ::poll(&entry, 1, static_cast<int>(left)) == 0) return;
    }
  } catch (const std::exception&) {  // no memory: then there are no words
  }
}

}  // namespace photonrun
