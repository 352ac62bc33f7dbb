#include "system/unix_packet.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace photon::system {
namespace {

constexpr std::size_t kControlBytes =
    CMSG_SPACE(kMostFds * sizeof(int)) + CMSG_SPACE(sizeof(ucred));

struct Control {
  alignas(cmsghdr) std::array<char, kControlBytes> bytes{};
};

void attach(msghdr& message, Control& control, std::span<const int> fds) {
  if (fds.empty()) return;
  message.msg_control = control.bytes.data();
  message.msg_controllen = CMSG_SPACE(fds.size_bytes());
  cmsghdr* const rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(fds.size_bytes());
  std::memcpy(CMSG_DATA(rights), fds.data(), fds.size_bytes());
}

void collect(msghdr& message, Arrival& arrival) {
  for (cmsghdr* item = CMSG_FIRSTHDR(&message); item; item = CMSG_NXTHDR(&message, item)) {
    if (item->cmsg_level != SOL_SOCKET) continue;
    const std::size_t data_bytes = item->cmsg_len - CMSG_LEN(0);
    if (item->cmsg_type == SCM_RIGHTS) {
      for (std::size_t at = 0; at + sizeof(int) <= data_bytes; at += sizeof(int)) {
        int fd;
        std::memcpy(&fd, CMSG_DATA(item) + at, sizeof fd);
        arrival.fds.emplace_back(fd);
      }
    } else if (item->cmsg_type == SCM_CREDENTIALS && data_bytes >= sizeof(ucred)) {
      arrival.sender.emplace();
      std::memcpy(&*arrival.sender, CMSG_DATA(item), sizeof(ucred));
    }
  }
}

}  // namespace

bool will_pass(int number) noexcept {
  return number == EAGAIN || number == ENOBUFS || number == ENOMEM || number == ETOOMANYREFS;
}

Sent try_send(int socket, const Packet& packet) noexcept {
  if (packet.fds.size() > kMostFds) {
    errno = EINVAL;
    return Sent::failed;
  }
  std::array<iovec, 2> parts{{
      {const_cast<std::byte*>(packet.header.data()), packet.header.size()},
      {const_cast<std::byte*>(packet.body.data()), packet.body.size()},
  }};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  Control control;
  attach(message, control, packet.fds);
  while (::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
    if (errno == EINTR) continue;
    if (will_pass(errno)) return Sent::full;
    switch (errno) {
      case ECONNREFUSED:
      case ECONNRESET:
      case EPIPE:
      case ENOTCONN: return Sent::gone;
      default: return Sent::failed;
    }
  }
  return Sent::taken;
}

std::optional<Arrival> try_receive(int socket, std::span<std::byte> buffer) {
  iovec part{buffer.data(), buffer.size()};
  Control control;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  ssize_t size;
  bool reset = false;
  bool ended = false;
  // ECONNRESET is told once, if the other end closed with packets of ours unread, and before the
  // packets that it sent. And the kernel says that this is the end when it has found the queue
  // empty and the other end closed, one after the other: what was sent in between stands there.
  do {
    message.msg_controllen = control.bytes.size();
    size = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while ((size < 0 && (errno == EINTR || (errno == ECONNRESET && !std::exchange(reset, true)))) ||
           (size == 0 && message.msg_controllen == 0 && !std::exchange(ended, true)));
  if (size < 0) {
    if (errno == ECONNRESET) return Arrival{};
    return std::nullopt;
  }
  Arrival arrival;
  collect(message, arrival);
  arrival.size_bytes = static_cast<std::size_t>(size);
  // Where no credentials come, the kernel fills their place with descriptors, too.
  arrival.truncated =
      (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0 || arrival.fds.size() > kMostFds;
  arrival.lost_descriptors = (message.msg_flags & MSG_CTRUNC) != 0;
  return arrival;
}

std::vector<int> numbers(std::span<const UniqueFd> fds) {
  std::vector<int> result;
  for (const UniqueFd& fd : fds) result.push_back(fd.get());
  return result;
}

}  // namespace photon::system
