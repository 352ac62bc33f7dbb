#include "transport/tcp/tcp_inlet.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/readable.hpp"

namespace photon::transport::tcp {

Inlet::Got Inlet::receive(int socket, Port& port, Buffer& buffer) {
  const bool direct = (stage_ == Stage::bulk || stage_ == Stage::payload) && to_ != nullptr;
  // Payload is only waited for with no rest. What passes through the buffer is copied once more:
  // where one large payload followed the other, the next one's head is read alone.
  const bool is_brief = is_large_ && filled_ == 0;
  const std::size_t most = is_brief ? kBriefBytes : buffer.size();
  iovec parts[2] = {{to_, left_}, {buffer.data() + filled_, most - filled_}};
  msghdr message{};
  message.msg_iov = direct ? parts : parts + 1;
  message.msg_iovlen = direct ? 2 : 1;
  const std::size_t room = parts[1].iov_len + (direct ? left_ : 0);
  const ssize_t got = direct ? ::recvmsg(socket, &message, MSG_DONTWAIT)
                             : ::recv(socket, parts[1].iov_base, parts[1].iov_len, MSG_DONTWAIT);
  if (got == 0) return Got::closed;
  if (got < 0) {
    if (errno == EAGAIN || errno == EWOULDBLOCK) return Got::nothing;
    if (errno == EFAULT && direct && stage_ == Stage::payload) {
      to_ = nullptr;
      port.cannot_place();
      return Got::some;
    }
    return errno == EINTR ? Got::some : Got::broken;
  }
  auto bytes = static_cast<std::uint64_t>(got);
  if (!direct) is_large_ = false;  // unless the next one is, too
  if (direct) {
    const std::uint64_t placed = std::min(bytes, left_);
    arrived(placed, port);
    bytes -= placed;
  }
  if (filled_ != 0) std::memcpy(buffer.data(), &rest_[0], filled_);  // room was left for it
  filled_ += bytes;
  if (!parse(port, buffer.data())) return Got::garbage;
  return static_cast<std::size_t>(got) == room ? Got::some : Got::last;
}

// Whatever can be taken; what is not whole is kept.
bool Inlet::parse(Port& port, const std::byte* bytes) {
  const std::span all(bytes, filled_);
  std::size_t used = 0;
  for (bool more = true; more && used < filled_;) {
    const std::size_t before = used;
    switch (stage_) {
      case Stage::head:
        if (!take_frame(port, all, used)) return false;
        break;
      case Stage::bulk:
      case Stage::payload: take_payload(port, all, used); break;
      case Stage::lines:
        if (!take_lines(port, all, used)) return false;
        break;
    }
    more = used != before;
  }
  filled_ -= used;
  if (filled_ > kMostRest) return false;
  if (filled_ != 0) std::memcpy(&rest_[0], bytes + used, filled_);
  return true;
}

bool Inlet::take_frame(Port& port, std::span<const std::byte> bytes, std::size_t& used) {
  const std::size_t there = filled_ - used;
  if (there < sizeof head_) return true;
  std::memcpy(&head_, bytes.data() + used, sizeof head_);
  if (!is_frame(head_.kind)) return false;
  const std::size_t whole = sizeof head_ + body_bytes(head_.kind);
  if (there < whole) return true;
  const std::byte* body = bytes.data() + used + sizeof head_;
  used += whole;
  return start(port, body);
}

bool Inlet::start(Port& port, const std::byte* body) {
  FragmentBody fragment;
  CreditBody credits;
  std::byte* to = nullptr;
  if (std::exchange(awaits_end_, false) != (head_.kind == FrameKind::end)) return false;
  switch (head_.kind) {
    case FrameKind::lines:
      if (!port.begin_lines(head_.lines, head_.bytes, to)) return false;
      lines_left_ = head_.lines;
      stage_ = Stage::lines;
      if (head_.bytes == 0) return true;
      stage_ = Stage::bulk;
      to_ = to;
      left_ = head_.bytes;
      return true;
    case FrameKind::credits:
      std::memcpy(&credits, body, sizeof credits);
      return port.take_credits(credits);
    case FrameKind::write:
      std::memcpy(&fragment, body, sizeof fragment);
      if (fragment.size_bytes == 0 || !port.begin_write(head_, fragment, to)) return false;
      begin_payload(to, fragment.size_bytes, port);
      return true;
    case FrameKind::read:
      std::memcpy(&fragment, body, sizeof fragment);
      return port.take_read(head_, fragment);
    case FrameKind::data:
      if (!port.begin_data(head_, to)) return false;
      begin_payload(to, head_.bytes, port);
      return true;
    case FrameKind::done: return port.take_done(head_);
    case FrameKind::end: return port.take_end(head_);
    case FrameKind::bye:
      if (!port.begin_bye(head_, to)) return false;
      if (head_.bytes != 0) begin_payload(to, head_.bytes, port);
      return true;
  }
  return false;
}

void Inlet::begin_payload(std::byte* to, std::uint64_t size_bytes, Port& port) {
  stage_ = Stage::payload;
  to_ = to;
  left_ = size_bytes;
  is_large_ = size_bytes >= kLargeBytes;
  if (left_ == 0) arrived(0, port);
}

void Inlet::take_payload(Port& port, std::span<const std::byte> bytes, std::size_t& used) {
  const std::uint64_t count = std::min<std::uint64_t>(left_, filled_ - used);
  // As the kernel says it of what it places itself: the place may be gone.
  const bool is_callers = stage_ == Stage::payload && head_.kind != FrameKind::bye;
  if (to_ != nullptr && is_callers && !base::is_writable({to_, count})) {
    to_ = nullptr;
    port.cannot_place();
  }
  if (to_ != nullptr) std::memcpy(to_, bytes.data() + used, count);
  used += count;
  arrived(count, port);
}

void Inlet::arrived(std::uint64_t bytes, Port& port) {
  left_ -= bytes;
  if (to_ != nullptr) to_ += bytes;
  if (left_ != 0) return;
  to_ = nullptr;
  if (stage_ == Stage::bulk) {
    stage_ = Stage::lines;
    return;
  }
  stage_ = Stage::head;
  if (head_.kind == FrameKind::bye) return port.end_words();
  awaits_end_ = true;
}

bool Inlet::take_lines(Port& port, std::span<const std::byte> bytes, std::size_t& used) {
  const auto there =
      static_cast<std::uint32_t>(std::min<std::size_t>(lines_left_, (filled_ - used) / kLineBytes));
  if (there == 0) return true;
  const std::uint32_t taken = port.take_lines(bytes.subspan(used, std::size_t{there} * kLineBytes));
  used += std::size_t{taken} * kLineBytes;
  // A frame holds whole records; and the longest one fits into the buffer.
  if (taken != there && there == lines_left_) return false;
  lines_left_ -= taken;
  if (lines_left_ == 0) stage_ = Stage::head;
  return true;
}

}  // namespace photon::transport::tcp
