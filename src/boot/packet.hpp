// Packets between ranks, and to and from the launcher, with errors of the library's: who calls it
// says what it was about. Owner: none, functions only.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "system/unix_packet.hpp"

namespace photon::boot {

using system::Arrival;
using system::bytes_of;
using system::numbers;
using system::Packet;
using system::Sent;

// The socket is connected. Never Sent::failed: that is an error.
base::Result<Sent> send_packet(int socket, const Packet& packet);

// The next packet, or nothing. A reset by the other end reads as closed.
base::Result<std::optional<Arrival>> receive_packet(int socket, std::span<std::byte> buffer);

// Duplicates for a queue; on failure none is kept.
base::Result<std::vector<base::UniqueFd>> duplicate(std::span<const int> fds);

}  // namespace photon::boot
