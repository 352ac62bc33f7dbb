#include "packet.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace photonrun {
namespace {

constexpr std::size_t kControlFds = 2 * PH_LAUNCH_MAX_FDS;  // to see one that is too many
constexpr std::size_t kControlBytes = CMSG_SPACE(kControlFds * sizeof(int));

struct Control {
  alignas(cmsghdr) std::array<char, kControlBytes> bytes{};
};

void collect_fds(msghdr& message, std::vector<Fd>& fds) {
  for (cmsghdr* item = CMSG_FIRSTHDR(&message); item; item = CMSG_NXTHDR(&message, item)) {
    if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t data_bytes = item->cmsg_len - CMSG_LEN(0);
    for (std::size_t at = 0; at + sizeof(int) <= data_bytes; at += sizeof(int)) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(item) + at, sizeof fd);
      fds.emplace_back(fd);
    }
  }
}

bool is_again(int number) {
  // The last three pass as ranks receive: memory, and descriptors in flight.
  return number == EAGAIN || number == ENOBUFS || number == ENOMEM || number == ETOOMANYREFS;
}

}  // namespace

Io read_packet(int socket, Packet& packet) {
  std::array<std::byte, PH_LAUNCH_MAX_GATHER + 1> body;
  std::array<iovec, 2> parts{{{&packet.header, sizeof packet.header}, {body.data(), body.size()}}};
  Control control;
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  message.msg_control = control.bytes.data();
  const auto receive = [&] {
    message.msg_controllen = control.bytes.size();
    return ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  };
  ssize_t size = receive();
  // Told once, if the other end closed with packets of ours unread; what it sent stands behind it.
  if (size < 0 && errno == ECONNRESET) size = receive();
  // The kernel finds the queue empty, then the other end closed, and says that this is the end:
  // what was sent in between stands there. An empty packet with descriptors is none of ours.
  if (size == 0 && message.msg_controllen == 0) size = receive();
  if (size < 0) return is_again(errno) || errno == EINTR ? Io::again : Io::closed;
  collect_fds(message, packet.fds);
  if (size == 0) return Io::closed;
  const std::size_t size_bytes = static_cast<std::size_t>(size);
  const bool whole = (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0 &&
                     size_bytes >= sizeof packet.header && packet.header.magic == PH_LAUNCH_MAGIC &&
                     size_bytes - sizeof packet.header == packet.header.body_bytes &&
                     packet.header.body_bytes <= PH_LAUNCH_MAX_GATHER;
  if (!whole) return Io::malformed;
  packet.body = std::make_shared<Bytes>(body.begin(), body.begin() + packet.header.body_bytes);
  return Io::done;
}

Io write_packet(int socket, const Packet& packet) {
  std::array<iovec, 2> parts{{{const_cast<ph_launch_header*>(&packet.header), sizeof packet.header},
                              {const_cast<std::byte*>(packet.body->data()), packet.body->size()}}};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  Control control;
  if (!packet.fds.empty()) {
    message.msg_control = control.bytes.data();
    message.msg_controllen = CMSG_SPACE(packet.fds.size() * sizeof(int));
    cmsghdr* const rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(packet.fds.size() * sizeof(int));
    for (std::size_t i = 0; i < packet.fds.size(); ++i) {
      const int fd = packet.fds[i].get();
      std::memcpy(CMSG_DATA(rights) + i * sizeof fd, &fd, sizeof fd);
    }
  }
  if (::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) return Io::done;
  return is_again(errno) || errno == EINTR ? Io::again : Io::closed;
}

Packet make_packet(ph_launch_header header, std::span<const std::byte> body) {
  header.magic = PH_LAUNCH_MAGIC;
  header.version = PH_LAUNCH_VERSION;
  header.body_bytes = static_cast<std::uint32_t>(body.size());
  Packet packet{.header = header};
  packet.body = std::make_shared<Bytes>(body.begin(), body.end());
  return packet;
}

}  // namespace photonrun
