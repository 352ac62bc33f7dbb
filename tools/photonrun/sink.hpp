// Our standard output or error, written to without ever waiting for its reader: what does not fit
// stays in memory, in order.
// Invariant: what was put is written whole unless the sink dies. Owner: Output.
//
//   open -a write fails-> dead (what waits is dropped, and error() says why)
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "fd.hpp"

namespace photonrun {

class Sink {
 public:
  explicit Sink(int fd);

  void put(std::string_view text);
  // Writes what its reader takes now.
  void flush();
  // To wait at for POLLOUT; -1: nothing waits to be written.
  int fd() const { return is_empty() ? -1 : target(); }

  bool has_room() const { return pending_.size() < kMaxPendingBytes; }
  bool is_empty() const { return pending_.empty(); }
  bool is_dead() const { return error_ != 0; }
  // The errno of the write that failed, which lost something; 0: none did.
  int error() const { return error_; }
  // It is dead because its reader has left.
  bool is_hung_up() const;
  std::size_t pending_bytes() const { return pending_.size() - written_bytes_; }
  // In all: whether its reader reads.
  std::size_t written_bytes() const { return total_bytes_; }

 private:
  static constexpr std::size_t kMaxPendingBytes = 1 << 20;  // then the ranks have to wait

  int target() const { return own_ ? own_.get() : fd_; }
  ssize_t write_piece();

  int fd_;
  Fd own_;  // the same pipe or terminal, opened again: only we do not block there
  bool is_socket_ = false;
  bool is_file_ = false;
  int error_ = 0;
  std::string pending_;
  std::size_t written_bytes_ = 0;  // of pending_
  std::size_t total_bytes_ = 0;
};

// "photonrun: text" as one line of standard error, for who has no Output: waits a second for a
// reader, not for ever.
void say_line(std::string_view text) noexcept;

}  // namespace photonrun
