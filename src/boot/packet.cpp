#include "boot/packet.hpp"

#include <fcntl.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace photon::boot {
namespace {

// More than any packet of ours carries, so that a sender with too many is seen, not cut.
constexpr std::size_t kControlFds = 8;
constexpr std::size_t kControlBytes =
    CMSG_SPACE(kControlFds * sizeof(int)) + CMSG_SPACE(sizeof(ucred));

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

base::Result<Sent> send_packet(int socket, const Packet& packet) {
  if (packet.fds.size() > kControlFds) {
    return base::Error{.status = PH_ERR_ARGUMENT, .what = "a packet with too many descriptors"};
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
    switch (errno) {
      case EINTR: continue;
      // ENOBUFS, ENOMEM, ETOOMANYREFS (descriptors of this user in flight) pass as others receive.
      case EAGAIN:
      case ENOBUFS:
      case ENOMEM:
      case ETOOMANYREFS: return Sent::full;
      case ECONNREFUSED:
      case ECONNRESET:
      case EPIPE:
      case ENOTCONN: return Sent::gone;
      default: return base::system_error("sendmsg to another rank or the launcher");
    }
  }
  return Sent::taken;
}

base::Result<std::optional<Arrival>> receive_packet(int socket, std::span<std::byte> buffer) {
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
    if (errno == EAGAIN) return std::optional<Arrival>{};
    if (errno == ECONNRESET) return std::optional<Arrival>{Arrival{}};
    return base::system_error("recvmsg from another rank or the launcher");
  }
  Arrival arrival;
  collect(message, arrival);
  arrival.size_bytes = static_cast<std::size_t>(size);
  arrival.truncated = (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0;
  arrival.lost_descriptors = (message.msg_flags & MSG_CTRUNC) != 0;
  return std::optional<Arrival>{std::move(arrival)};
}

base::Result<std::vector<base::UniqueFd>> duplicate(std::span<const int> fds) {
  std::vector<base::UniqueFd> copies;
  for (const int fd : fds) {
    copies.emplace_back(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
    if (!copies.back()) return base::system_error("duplicating a descriptor to send it later");
  }
  return copies;
}

std::vector<int> numbers(std::span<const base::UniqueFd> fds) {
  std::vector<int> result;
  for (const base::UniqueFd& fd : fds) result.push_back(fd.get());
  return result;
}

}  // namespace photon::boot
