// Owns one file descriptor. photonrun links nothing of the library, so it has its own.
// Invariant: closed exactly once. Owner: whoever holds the object.
#pragma once

#include <unistd.h>

#include <utility>

namespace photonrun {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) noexcept : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    reset(std::exchange(other.fd_, -1));
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }

  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  void reset(int fd = -1) noexcept {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
  }

 private:
  int fd_ = -1;
};

struct Pipe {
  Fd read;
  Fd write;
};

// Both ends close-on-exec. Throws std::system_error.
Pipe make_pipe();

// Opens /dev/null at 0, 1, 2 where the caller left one closed, so that no descriptor of ours lands
// there and is taken for somebody's output. Writing there fails, as it would without us.
void occupy_standard_fds();

// It was opened for writing.
bool is_writable(int fd);

// Replaces our standard input by /dev/null once rank 0 has it: when rank 0 closes it, whoever
// writes there is to hear of it.
void release_input();

}  // namespace photonrun
