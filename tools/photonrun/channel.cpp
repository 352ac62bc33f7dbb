#include "channel.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace photonrun {

Fd LocalChannel::make_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0) {
    throw std::system_error(errno, std::generic_category(), "socketpair");
  }
  socket_.reset(ends[0]);
  return Fd(ends[1]);
}

void LocalChannel::adopt(Fd socket) {
  if (state_ != State::over) socket_ = std::move(socket);
}

void LocalChannel::join(Packet welcome, Fd pidfd) {
  state_ = State::joined;
  pidfd_ = std::move(pidfd);
  queue_.push_front(std::move(welcome));
  flush();
}

void LocalChannel::queue(Packet packet) {
  if (state_ == State::over) return;
  queued_fds_count_ += packet.fds.size();
  queue_.push_back(std::move(packet));
  flush();
}

void LocalChannel::flush() {
  while (wants_output()) {
    const Io sent = write_packet(socket_.get(), queue_.front());
    if (sent == Io::again) return;
    if (sent != Io::done) {
      queue_.clear();
      queued_fds_count_ = 0;
      return;
    }
    queued_fds_count_ -= queue_.front().fds.size();
    if (queue_.front().from_trunk) ++taken_count_;
    queue_.pop_front();
  }
}

void LocalChannel::finish(std::optional<Packet> last_word) {
  if (last_word && socket_) (void)write_packet(socket_.get(), *last_word);
  state_ = State::over;
  socket_.reset();
  pidfd_.reset();
  queue_.clear();
  queued_fds_count_ = 0;
  stalled.reset();
}

bool LocalChannel::has_queued(ph_launch_type type) const {
  return std::ranges::any_of(queue_,
                             [type](const Packet& packet) { return packet.header.type == type; });
}

}  // namespace photonrun
