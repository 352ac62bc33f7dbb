#include "transport/ofi/ofi_endpoint_info.hpp"

#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "boot/boot.hpp"
#include "transport/network/info_head.hpp"

namespace photon::transport::ofi {

static_assert(std::endian::native == std::endian::little, "the wire format is little-endian");
static_assert(sizeof(OfiEndpointInfo) <= boot::kMaxMessageBytes);

base::Result<OfiEndpointInfo> make_endpoint_info(const network::SharedSettings& settings,
                                                 const Endpoint& endpoint) {
  const auto& [provider, address, message_bytes, moves] = endpoint;
  OfiEndpointInfo endpoint_info;
  if (address.size() > endpoint_info.address.size() ||
      provider.size() >= endpoint_info.provider.size())
    return base::Error{PH_ERR_CONFIG, 0,
                       "ofi: the address of provider " + std::string(provider) + " has " +
                           std::to_string(address.size()) + " bytes; at most " +
                           std::to_string(endpoint_info.address.size()) + " can be told to peers"};
  endpoint_info.settings = settings;
  endpoint_info.message_bytes = message_bytes;
  endpoint_info.moves_memory = moves;
  endpoint_info.address_bytes = address.size();
  std::copy(provider.begin(), provider.end(), endpoint_info.provider.begin());
  std::copy(address.begin(), address.end(), endpoint_info.address.begin());
  return endpoint_info;
}

std::span<const std::byte> encode(const OfiEndpointInfo& endpoint_info) noexcept {
  return std::as_bytes(std::span(&endpoint_info, 1));
}

base::Result<OfiEndpointInfo> decode_endpoint_info(std::span<const std::byte> bytes) {
  if (auto checked = network::check_info_head({"ofi", kInfoMagic, sizeof(OfiEndpointInfo)}, bytes);
      !checked)
    return std::move(checked.error());
  OfiEndpointInfo endpoint_info;
  std::memcpy(&endpoint_info, bytes.data(), sizeof endpoint_info);
  const bool is_endpoint_info = endpoint_info.what <= OfiEndpointInfo::What::so_far &&
                                endpoint_info.provider.back() == 0 && endpoint_info.why.back() == 0;
  if (!is_endpoint_info || endpoint_info.address_bytes > endpoint_info.address.size())
    return network::strange_info("ofi", bytes);
  return endpoint_info;
}

base::Result<> check_agreement(const OfiEndpointInfo& mine, const OfiEndpointInfo& theirs) {
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
