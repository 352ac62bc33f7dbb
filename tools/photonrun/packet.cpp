#include "packet.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace photonrun {

namespace system = photon::system;

Io read_packet(int socket, Packet& packet) {
  std::array<std::byte, sizeof packet.header + PH_LAUNCH_MAX_GATHER + 1> buffer;
  auto arrival = system::try_receive(socket, buffer);
  if (!arrival) return system::will_pass(errno) ? Io::again : Io::closed;
  if (arrival->size_bytes == 0) return Io::closed;
  packet.fds = std::move(arrival->fds);
  const std::span<const std::byte> bytes = std::span(buffer).first(arrival->size_bytes);
  const bool has_header = !arrival->truncated && bytes.size() >= sizeof packet.header;
  if (!has_header) return Io::malformed;
  std::memcpy(&packet.header, bytes.data(), sizeof packet.header);
  const std::span<const std::byte> body = bytes.subspan(sizeof packet.header);
  const bool is_whole = packet.header.magic == PH_LAUNCH_MAGIC &&
                        body.size() == packet.header.body_bytes &&
                        body.size() <= PH_LAUNCH_MAX_GATHER;
  if (!is_whole) return Io::malformed;
  packet.body = std::make_shared<Bytes>(body.begin(), body.end());
  return Io::done;
}

Io write_packet(int socket, const Packet& packet) {
  const std::vector<int> fds = system::numbers(packet.fds);
  switch (system::try_send(socket,
                           {.header = bytes_of(packet.header), .body = *packet.body, .fds = fds})) {
    case system::Sent::taken: return Io::done;
    case system::Sent::full: return Io::again;
    default: return Io::closed;
  }
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
