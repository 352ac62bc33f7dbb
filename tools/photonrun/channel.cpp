#include "channel.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "call_failed.hpp"

namespace photonrun {

Fd LocalChannel::make_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0) {
    throw CallFailed("socketpair");
  }
  socket_.reset(ends[0]);
  return Fd(ends[1]);
}

Fd LocalChannel::copy_pidfd() const {
  return Fd(pidfd_ ? ::fcntl(pidfd_.get(), F_DUPFD_CLOEXEC, 0) : -1);
}

void LocalChannel::adopt(Fd socket, Fd pidfd) {
  if (state_ == State::over) return;
  socket_ = std::move(socket);
  pidfd_ = std::move(pidfd);
}

void LocalChannel::join(Packet welcome, Fd pidfd) {
  state_ = State::joined;
  if (pidfd) pidfd_ = std::move(pidfd);
  queue_.push_front(std::move(welcome));
  flush();
}

void LocalChannel::queue(Packet packet) {
  if (state_ == State::over) return;
  held_.count += packet.fds.size();
  queue_.push_back(std::move(packet));
  flush();
}

void LocalChannel::flush() {
  while (wants_output()) {
    const Io sent = write_packet(socket_.get(), queue_.front());
    if (sent == Io::again) return;
    if (sent != Io::done) {
      return forget_queue();
    }
    held_.count -= queue_.front().fds.size();
    if (queue_.front().from_host) ++taken_count_;
    queue_.pop_front();
  }
}

void LocalChannel::finish(std::optional<Packet> last_word) {
  if (last_word && socket_) (void)write_packet(socket_.get(), *last_word);
  state_ = State::over;
  socket_.reset();
  pidfd_.reset();
  forget_queue();
  stalled.reset();
}

void LocalChannel::forget_queue() {
  for (const Packet& packet : queue_) held_.count -= packet.fds.size();
  queue_.clear();
}

bool LocalChannel::has_queued(ph_launch_type type) const {
  return std::ranges::any_of(queue_,
                             [type](const Packet& packet) { return packet.header.type == type; });
}

}  // namespace photonrun
