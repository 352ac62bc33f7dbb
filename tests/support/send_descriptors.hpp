// A packet with as many descriptors as a stranger may send: try_send() refuses more than kMostFds.
// Owner: none, a function only.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

namespace photon::test {

// Whether it was sent whole. The socket is connected; each of the descriptors is `fd`.
inline bool send_descriptors(int socket, std::span<const std::byte> bytes, int fd,
                             std::size_t count) {
  const std::vector<int> fds(count, fd);
  const std::size_t fds_bytes = count * sizeof(int);
  std::vector<cmsghdr> control(CMSG_SPACE(fds_bytes) / sizeof(cmsghdr) + 1);  // aligned
  iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = CMSG_SPACE(fds_bytes);
  cmsghdr* const rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(fds_bytes);
  std::memcpy(CMSG_DATA(rights), fds.data(), fds_bytes);
  return ::sendmsg(socket, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

}  // namespace photon::test
