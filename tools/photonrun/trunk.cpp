#include "trunk.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace photonrun {
namespace {

constexpr std::size_t kBatchBytes = 64 * 1024;
constexpr int kReadsPerTurn = 16;

bool is_again(int number) { return number == EAGAIN || number == EINTR; }

void set(int socket, int level, int option, int value) {
  (void)::setsockopt(socket, level, option, &value, sizeof value);
}

}  // namespace

void make_trunk_socket(int socket) {
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

Trunk::Trunk(Fd socket, std::string name) : socket_(std::move(socket)), name_(std::move(name)) {}

void Trunk::queue(Frame frame) {
  if (!lost_ && !at_end_) queue_.push_back(std::move(frame));
}

void Trunk::want(std::vector<pollfd>& entries) {
  flush();
  short events = at_end_ ? 0 : POLLIN;
  if (sent_bytes_ < sending_.size()) events |= POLLOUT;
  entries.push_back({.fd = lost_ || at_end_ ? -1 : socket_.get(), .events = events, .revents = 0});
}

void Trunk::handle(const pollfd& entry) {
  if ((entry.revents & ~POLLOUT) != 0) read();
}

std::optional<Frame> Trunk::next() {
  if (lost_) return std::nullopt;
  auto frame = reader_.next();
  if (!frame && reader_.is_broken()) lose("it sent what makes no sense");
  if (!frame && at_end_) lose(why_);
  return frame;
}

void Trunk::lose(std::string why) {
  if (lost_) return;
  lost_ = true;
  why_ = std::move(why);
  socket_.reset();
  queue_.clear();
  sending_.clear();
  sent_bytes_ = 0;
}

void Trunk::flush() {
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

void Trunk::read() {
  std::array<std::byte, kBatchBytes> buffer;
  for (int turn = 0; turn < kReadsPerTurn && !at_end_ && !lost_; ++turn) {
    const ssize_t got = ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0 && is_again(errno)) return;
    if (got > 0) {
      reader_.add(std::span(buffer).first(static_cast<std::size_t>(got)));
    } else {
      at_end_ = true;
      why_ = got == 0 ? "it hung up" : std::generic_category().message(errno);
    }
  }
}

void Trunk::close(std::chrono::milliseconds patience) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + patience;
  bool told = false;
  while (!lost_ && !at_end_) {
    std::vector<pollfd> entries;
    want(entries);
    if (!told && sent_bytes_ == sending_.size()) {
      // Closing over unread bytes would be a reset, which could overtake our last words.
      ::shutdown(socket_.get(), SHUT_WR);
      told = true;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) break;
    if (::poll(entries.data(), entries.size(), static_cast<int>(left.count())) > 0) {
      handle(entries.front());
    }
    while (reader_.next()) {
    }
  }
  lose("closed");
}

}  // namespace photonrun
