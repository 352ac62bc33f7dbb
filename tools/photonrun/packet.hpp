// One packet of the launcher protocol, read and written without blocking.
// Invariant: a packet that was read is exactly header and body; its descriptors are owned.
// Owner: Channel.
#pragma once

#include <photon/launch.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "fd.hpp"
#include "system/unix_packet.hpp"

namespace photonrun {

using photon::system::bytes_of;

using Bytes = std::vector<std::byte>;

struct Packet {
  ph_launch_header header{};
  std::shared_ptr<const Bytes> body;  // shared: a gather's result goes to every rank
  std::vector<Fd> fds;
  bool from_host = false;  // its sender's host waits to hear that the rank has taken it
};

enum class Io { done, again, closed, malformed };

Io read_packet(int socket, Packet& packet);
Io write_packet(int socket, const Packet& packet);

// Fills in what is the same in all packets.
Packet make_packet(ph_launch_header header, std::span<const std::byte> body = {});

}  // namespace photonrun
