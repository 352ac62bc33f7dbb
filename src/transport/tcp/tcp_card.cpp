#include "transport/tcp/tcp_card.hpp"

#include <bit>
#include <cstring>
#include <utility>

#include "transport/network/card_head.hpp"

namespace photon::transport::tcp {

static_assert(std::endian::native == std::endian::little, "the wire format is little-endian");

std::span<const std::byte> encode(const TcpCard& card) noexcept {
  return std::as_bytes(std::span(&card, 1));
}

base::Result<TcpCard> decode_card(std::span<const std::byte> bytes) {
  if (auto checked = network::check_card_head({"tcp", kCardMagic, sizeof(TcpCard)}, bytes);
      !checked)
    return std::move(checked.error());
  TcpCard card;
  std::memcpy(&card, bytes.data(), sizeof card);
  if (card.why.back() != 0) return network::strange_card("tcp", bytes);
  return card;
}

}  // namespace photon::transport::tcp
