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

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace photon::boot {

// full: nothing was sent, try again later. gone: nobody listens at the other end.
enum class Sent { taken, full, gone };

struct Packet {
  std::span<const std::byte> header;
  std::span<const std::byte> body;
  std::span<const int> fds;
};

// The socket is connected.
base::Result<Sent> send_packet(int socket, const Packet& packet);

struct Arrival {
  std::size_t size_bytes = 0;     // 0 on a SOCK_SEQPACKET socket: the other end closed
  bool truncated = false;         // bytes or descriptors did not fit and are lost
  bool lost_descriptors = false;  // among them descriptors: this process may have no more
  std::vector<base::UniqueFd> fds;
  std::optional<ucred> sender;  // where the socket has SO_PASSCRED
};

// The next packet, or nothing. A reset by the other end reads as closed.
base::Result<std::optional<Arrival>> receive_packet(int socket, std::span<std::byte> buffer);

// Duplicates for a queue; on failure none is kept.
base::Result<std::vector<base::UniqueFd>> duplicate(std::span<const int> fds);

std::vector<int> numbers(std::span<const base::UniqueFd> fds);

template <class T>
std::span<const std::byte> bytes_of(const T& object) {
  return std::as_bytes(std::span{&object, 1});
}

}  // namespace photon::boot
