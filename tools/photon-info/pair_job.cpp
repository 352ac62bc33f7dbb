#include "pair_job.hpp"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <system_error>

namespace photon_info {
namespace {

bool send_all(int socket, const std::byte* data, std::size_t size_bytes) {
  while (size_bytes > 0) {
    const ssize_t sent = ::send(socket, data, size_bytes, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    data += sent;
    size_bytes -= static_cast<std::size_t>(sent);
  }
  return true;
}

bool receive_all(int socket, std::byte* data, std::size_t size_bytes) {
  while (size_bytes > 0) {
    const ssize_t received = ::recv(socket, data, size_bytes, MSG_WAITALL);
    if (received < 0 && errno == EINTR) continue;
    if (received <= 0) return false;  // the other one has ended
    data += received;
    size_bytes -= static_cast<std::size_t>(received);
  }
  return true;
}

}  // namespace

PairJob::PairJob() {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw std::system_error(errno, std::generic_category(), "socketpair");
  child_ = ::fork();
  if (child_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
  socket_ = ends[is_child() ? 1 : 0];
  ::close(ends[is_child() ? 0 : 1]);
  bootstrap_ = {this, is_child() ? 1u : 0u, 2, &allgather, &barrier};
}

PairJob::~PairJob() {
  ::close(socket_);
  if (!is_child()) ::waitpid(child_, nullptr, 0);
}

// Both send at once: fits the socket's buffer, as what is exchanged at set-up is small.
int PairJob::allgather(void* user, const void* mine, void* all, std::size_t size_bytes) {
  const PairJob& job = *static_cast<PairJob*>(user);
  const auto* own = static_cast<const std::byte*>(mine);
  auto* const rows = static_cast<std::byte*>(all);
  const ph_rank self = job.bootstrap_.rank;
  if (size_bytes > 0) std::memmove(rows + self * size_bytes, own, size_bytes);
  if (!send_all(job.socket_, rows + self * size_bytes, size_bytes)) return -1;
  return receive_all(job.socket_, rows + (1 - self) * size_bytes, size_bytes) ? 0 : -1;
}

int PairJob::barrier(void* user) {
  const std::uint8_t token = 0;
  std::uint8_t tokens[2] = {};
  return allgather(user, &token, tokens, sizeof token);
}

}  // namespace photon_info
