#include "boot/packet.hpp"

#include <fcntl.h>

#include <cerrno>

namespace photon::boot {

base::Result<Sent> send_packet(int socket, const Packet& packet) {
  if (packet.fds.size() > system::kMostFds) {
    return base::Error{.status = PH_ERR_ARGUMENT, .what = "a packet with too many descriptors"};
  }
  const Sent sent = system::try_send(socket, packet);
  if (sent == Sent::failed) return base::system_error("sendmsg to another rank or the launcher");
  return sent;
}

base::Result<std::optional<Arrival>> receive_packet(int socket, std::span<std::byte> buffer) {
  auto arrival = system::try_receive(socket, buffer);
  if (!arrival && errno != EAGAIN)
    return base::system_error("recvmsg from another rank or the launcher");
  return arrival;
}

base::Result<std::vector<base::UniqueFd>> duplicate(std::span<const int> fds) {
  std::vector<base::UniqueFd> copies;
  for (const int fd : fds) {
    copies.emplace_back(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
    if (!copies.back()) return base::system_error("duplicating a descriptor to send it later");
  }
  return copies;
}

}  // namespace photon::boot
