#include "transport/tcp/tcp_endpoint_info.hpp"

#include <bit>
#include <cstring>
#include <utility>

#include "transport/network/info_head.hpp"

namespace photon::transport::tcp {

static_assert(std::endian::native == std::endian::little, "the wire format is little-endian");

std::span<const std::byte> encode(const TcpEndpointInfo& endpoint_info) noexcept {
  return std::as_bytes(std::span(&endpoint_info, 1));
}

base::Result<TcpEndpointInfo> decode_endpoint_info(std::span<const std::byte> bytes) {
  if (auto checked = network::check_info_head({"tcp", kInfoMagic, sizeof(TcpEndpointInfo)}, bytes);
      !checked)
    return std::move(checked.error());
  TcpEndpointInfo endpoint_info;
  std::memcpy(&endpoint_info, bytes.data(), sizeof endpoint_info);
  if (endpoint_info.why.back() != 0) return network::strange_info("tcp", bytes);
  return endpoint_info;
}

}  // namespace photon::transport::tcp
