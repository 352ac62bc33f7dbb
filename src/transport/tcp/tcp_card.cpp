#include "transport/tcp/tcp_card.hpp"

#include <bit>
#include <cstring>
#include <string>

namespace photon::transport::tcp {

static_assert(std::endian::native == std::endian::little, "the wire format is little-endian");

std::span<const std::byte> encode(const TcpCard& card) noexcept {
  return std::as_bytes(std::span(&card, 1));
}

base::Result<TcpCard> decode_card(std::span<const std::byte> bytes) {
  TcpCard card;
  std::uint64_t magic = 0;
  std::uint32_t version = 0;
  if (bytes.size() >= sizeof magic + sizeof version) {
    std::memcpy(&magic, bytes.data(), sizeof magic);
    std::memcpy(&version, bytes.data() + sizeof magic, sizeof version);
  }
  if (magic != kCardMagic) return carried::strange_card("tcp", bytes);
  if (version != wire::kVersion)
    return base::Error{
        PH_ERR_BOOTSTRAP, 0,
        "it speaks version " + std::to_string(version) + " of the wire format, this rank version " +
            std::to_string(wire::kVersion) + "; run all ranks with one version of the library"};
  if (bytes.size() != sizeof card) return carried::strange_card("tcp", bytes);
  std::memcpy(&card, bytes.data(), sizeof card);
  if (card.why.back() != 0) return carried::strange_card("tcp", bytes);
  return card;
}

}  // namespace photon::transport::tcp
