#include "host_connection.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace photonrun {
namespace {

constexpr std::size_t kBatchBytes = 64 * 1024;
constexpr int kReadsPerTurn = 16;

bool comes_later(int number) { return number == EAGAIN || number == EINTR; }

void set(int socket, int level, int option, int value) {
  (void)::setsockopt(socket, level, option, &value, sizeof value);
}

}  // namespace

void make_host_socket(int socket) {
  set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  // Nothing under way: 5 s of silence, then three probes 5 s apart.
  set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, 5);
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
  // Something under way. That it also ends a connection to a partner that takes nothing does not
  // matter: a photonrun reads whatever its ranks do.
  set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, 20'000);
}

HostConnection::HostConnection(Fd socket, std::string name)
    : socket_(std::move(socket)), name_(std::move(name)) {}

void HostConnection::queue(Frame frame) {
  if (!lost_ && !at_end_) queue_.push_back(std::move(frame));
}

void HostConnection::want(std::vector<pollfd>& entries) {
  flush();
  short events = at_end_ ? 0 : POLLIN;
  if (sent_bytes_ < sending_.size()) events |= POLLOUT;
  entries.push_back({.fd = lost_ || at_end_ ? -1 : socket_.get(), .events = events, .revents = 0});
}

void HostConnection::handle(const pollfd& entry) {
  if ((entry.revents & ~POLLOUT) != 0) read();
}

std::optional<Frame> HostConnection::next() {
  if (lost_) return std::nullopt;
  auto frame = reader_.next();
  if (!frame && reader_.is_broken()) lose("it sent what makes no sense");
  if (!frame && at_end_) lose(why_);
  return frame;
}

void HostConnection::lose(std::string why) {
  if (lost_) return;
  lost_ = true;
  why_ = std::move(why);
  socket_.reset();
  queue_.clear();
  sending_.clear();
  sent_bytes_ = 0;
}

void HostConnection::flush() {
  while (!lost_ && !at_end_) {
    if (sent_bytes_ == sending_.size()) {
      sending_.clear();
      sent_bytes_ = 0;
      for (; !queue_.empty() && sending_.size() < kBatchBytes; queue_.pop_front()) {
        append(queue_.front(), sending_);
      }
      if (sending_.empty()) return;
    }
    const ssize_t sent = ::send(socket_.get(), sending_.data() + sent_bytes_,
                                sending_.size() - sent_bytes_, MSG_DONTWAIT | MSG_NOSIGNAL);
    // An error is found by reading, after what the other side still said.
    if (sent < 0) return;
    sent_bytes_ += static_cast<std::size_t>(sent);
  }
}

void HostConnection::read() {
  std::array<std::byte, kBatchBytes> buffer;
  for (int turn = 0; turn < kReadsPerTurn && !at_end_ && !lost_; ++turn) {
    const ssize_t got = ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0 && comes_later(errno)) return;
    if (got > 0) {
      reader_.add(std::span(buffer).first(static_cast<std::size_t>(got)));
    } else {
      at_end_ = true;
      why_ = got == 0 ? "it hung up" : std::generic_category().message(errno);
    }
  }
}

// Closing over unread bytes would be a reset, which could overtake our last words.
void HostConnection::say_last() {
  if (is_at_end() || is_told_ || sent_bytes_ < sending_.size()) return;
  ::shutdown(socket_.get(), SHUT_WR);
  is_told_ = true;
}

void HostConnection::close_all(const std::vector<HostConnection*>& connections,
                               std::chrono::milliseconds patience) {
  using Clock = std::chrono::steady_clock;
  const auto is_at_end = [](const HostConnection* one) { return one->is_at_end(); };
  const auto deadline = Clock::now() + patience;
  while (!std::ranges::all_of(connections, is_at_end)) {
    std::vector<pollfd> entries;
    for (HostConnection* const one : connections) {
      one->want(entries);
      one->say_last();
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) break;
    if (::poll(entries.data(), entries.size(), static_cast<int>(left.count())) <= 0) continue;
    for (std::size_t i = 0; i < connections.size(); ++i) {
      connections[i]->handle(entries[i]);
      while (connections[i]->reader_.next()) {
      }
    }
  }
  for (HostConnection* const one : connections) one->lose("closed");
}

}  // namespace photonrun
