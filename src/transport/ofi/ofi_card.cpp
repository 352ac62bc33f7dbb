#include "transport/ofi/ofi_card.hpp"

#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "boot/boot.hpp"
#include "transport/network/card_head.hpp"

namespace photon::transport::ofi {

static_assert(std::endian::native == std::endian::little, "the wire format is little-endian");
static_assert(sizeof(OfiCard) <= boot::kMaxMessageBytes);

base::Result<OfiCard> make_card(const network::SharedSettings& settings, const Endpoint& endpoint) {
  const auto& [provider, address, message_bytes, moves] = endpoint;
  OfiCard card;
  if (address.size() > card.address.size() || provider.size() >= card.provider.size())
    return base::Error{PH_ERR_CONFIG, 0,
                       "ofi: the address of provider " + std::string(provider) + " has " +
                           std::to_string(address.size()) + " bytes; at most " +
                           std::to_string(card.address.size()) + " can be told to peers"};
  card.settings = settings;
  card.message_bytes = message_bytes;
  card.moves_memory = moves;
  card.address_bytes = address.size();
  std::copy(provider.begin(), provider.end(), card.provider.begin());
  std::copy(address.begin(), address.end(), card.address.begin());
  return card;
}

std::span<const std::byte> encode(const OfiCard& card) noexcept {
  return std::as_bytes(std::span(&card, 1));
}

base::Result<OfiCard> decode_card(std::span<const std::byte> bytes) {
  if (auto checked = network::check_card_head({"ofi", kCardMagic, sizeof(OfiCard)}, bytes);
      !checked)
    return std::move(checked.error());
  OfiCard card;
  std::memcpy(&card, bytes.data(), sizeof card);
  const bool is_card =
      card.what <= OfiCard::What::so_far && card.provider.back() == 0 && card.why.back() == 0;
  if (!is_card || card.address_bytes > card.address.size())
    return network::strange_card("ofi", bytes);
  return card;
}

base::Result<> check_agreement(const OfiCard& mine, const OfiCard& theirs) {
  if (mine.provider_name() != theirs.provider_name())
    return base::Error{PH_ERR_BOOTSTRAP, 0,
                       "all ranks must use the same provider of libfabric; here it is " +
                           std::string(mine.provider_name()) + ", there " +
                           std::string(theirs.provider_name()) + " (setting ofi_provider)"};
  // Each rank sends messages as long as its own provider takes; what is longer than the other's
  // buffers could not be received.
  if (mine.message_bytes != theirs.message_bytes)
    return base::Error{PH_ERR_BOOTSTRAP, 0,
                       "provider " + std::string(mine.provider_name()) +
                           " must carry messages of one size at all ranks; here it is " +
                           std::to_string(mine.message_bytes) + " bytes, there " +
                           std::to_string(theirs.message_bytes) +
                           " (use one version and configuration of libfabric)"};
  // Who has no RMA endpoint cannot answer who asks for it.
  if (mine.moves_memory != theirs.moves_memory) {
    const auto does = [](std::uint64_t moves) -> std::string {
      if (moves == 0) return "it does not";
      if (moves == 1) return "it does, and tells its target nothing";
      return "it does, and tells its target " + std::to_string(moves - 1) + " bytes";
    };
    return base::Error{PH_ERR_BOOTSTRAP, 0,
                       "provider " + std::string(mine.provider_name()) +
                           " must move memory in one way at all ranks; here " +
                           does(mine.moves_memory) + ", there " + does(theirs.moves_memory) +
                           " (setting ofi_direct_least_bytes, which is 0 at all ranks or at none; "
                           "or another libfabric)"};
  }
  return network::check_settings(mine.settings, theirs.settings);
}

}  // namespace photon::transport::ofi
