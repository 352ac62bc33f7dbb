#include "boot/side_frame.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "boot/limits.hpp"

namespace photon::boot {

bool SideFrameWriter::push(SideFrameKind kind, std::span<const std::byte> body) {
  if (kind == SideFrameKind::message && waiting_.size() >= kMaxQueuedMessages) return false;
  const SideFrameHead head{kind, static_cast<std::uint32_t>(body.size())};
  const auto first = bytes_of(head);
  std::vector<std::byte> whole(first.begin(), first.end());
  whole.insert(whole.end(), body.begin(), body.end());
  waiting_.push_back(std::move(whole));
  return true;
}

Sent SideFrameWriter::flush(int socket) {
  while (!waiting_.empty()) {
    const auto rest = std::span(waiting_.front()).subspan(sent_bytes_);
    const ssize_t sent = ::send(socket, rest.data(), rest.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM)) return Sent::full;
    if (sent < 0) {
      waiting_.clear();
      sent_bytes_ = 0;
      return Sent::gone;
    }
    sent_bytes_ += static_cast<std::size_t>(sent);
    if (sent_bytes_ < waiting_.front().size()) continue;
    waiting_.pop_front();
    sent_bytes_ = 0;
  }
  return Sent::taken;
}

SideFrameReader::Step SideFrameReader::next(int socket) {
  if (!has_head_) {
    const Step whole = fill(socket, std::as_writable_bytes(std::span(&head_, 1)));
    if (whole != Step::message) return whole;
    const bool is_bye = head_.kind == SideFrameKind::bye && head_.size_bytes == 0;
    const bool is_message =
        head_.kind == SideFrameKind::message && head_.size_bytes <= kMaxMessageBytes;
    if (is_bye) return Step::bye;
    if (!is_message) return Step::garbage;
    body_.resize(head_.size_bytes);
    has_head_ = true;
  }
  const Step whole = fill(socket, body_);
  if (whole == Step::message) has_head_ = false;
  return whole;
}

// message stands for "all of it is here".
SideFrameReader::Step SideFrameReader::fill(int socket, std::span<std::byte> room) {
  while (filled_ < room.size()) {
    const ssize_t got = ::recv(socket, room.data() + filled_, room.size() - filled_, MSG_DONTWAIT);
    if (got > 0) {
      filled_ += static_cast<std::size_t>(got);
      continue;
    }
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Step::waits;
    return Step::ended;
  }
  filled_ = 0;
  return Step::message;
}

}  // namespace photon::boot
