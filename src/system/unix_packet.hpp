// Packets with descriptors over AF_UNIX sockets, without blocking.
// Invariant: descriptors received are owned from the first instruction on and are close-on-exec.
// Owner: none, functions only.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "system/unique_fd.hpp"

namespace photon::system {

// More than any packet of ours carries.
inline constexpr std::size_t kMostFds = 8;

struct Packet {
  std::span<const std::byte> header;
  std::span<const std::byte> body;
  std::span<const int> fds;  // at most kMostFds
};

// full: nothing was sent, try again later. gone: nobody listens at the other end. failed: errno.
enum class Sent { taken, full, gone, failed };

// The socket is connected.
Sent try_send(int socket, const Packet& packet) noexcept;

struct Arrival {
  std::size_t size_bytes = 0;  // 0 on a SOCK_SEQPACKET socket: the other end closed
  // Bytes or descriptors did not fit and are lost, or there are more than kMostFds descriptors.
  bool truncated = false;
  bool lost_descriptors = false;  // among what is lost: this process may have no more
  std::vector<UniqueFd> fds;      // up to twice kMostFds, where credentials leave room for them
  std::optional<ucred> sender;    // where the socket has SO_PASSCRED
};

// The next packet. A reset by the other end reads as closed. Nothing, and errno: EAGAIN if none is
// there, else what failed.
std::optional<Arrival> try_receive(int socket, std::span<std::byte> buffer);

// Of an errno: the queue is full, or the system is short of memory or of descriptors under way,
// which passes as others receive.
bool will_pass(int number) noexcept;

std::vector<int> numbers(std::span<const UniqueFd> fds);

// What of an object goes over a socket.
template <class T>
std::span<const std::byte> bytes_of(const T& object) {
  return std::as_bytes(std::span{&object, 1});
}

}  // namespace photon::system
