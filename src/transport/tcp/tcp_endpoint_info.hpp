// What one rank tells another over the side channel at first contact: where it listens and what
// both must agree on; or that it could not reach the other. Version and magic number stand first
// and never move.
//
// Invariant: a decoded EndpointInfo has a valid magic number and version; that its settings equal
// ours is a second question (network::check_settings), because a rank with other settings is
// answered. Owner: none (values and pure functions).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

#include "base/result.hpp"
#include "boot/tries.hpp"
#include "transport/network/shared_settings.hpp"
#include "wire/record.hpp"

namespace photon::transport::tcp {

using boot::Address;
using boot::SocketAddress;

inline constexpr std::uint64_t kInfoMagic = 0x64'72'61'63'70'63'74'70ULL;  // "ptcpcard"

struct TcpEndpointInfo {
  enum class What : std::uint32_t {
    here,         // I listen there: connect to me
    unreachable,  // I tried to connect to you there; `troubles` say why in vain
    gone,         // you are over for me, and `why`: nothing you sent arrives any more
  };
  std::uint64_t magic = kInfoMagic;
  std::uint32_t version = wire::kVersion;
  What what = What::here;
  network::SharedSettings settings;  // must be equal
  boot::Addresses addresses;
  boot::Tries::Troubles troubles{};
  std::array<char, 128> why{};  // gone: words; ends with a zero
};
static_assert(std::is_trivially_copyable_v<TcpEndpointInfo>);
static_assert(std::has_unique_object_representations_v<TcpEndpointInfo>, "no padding travels");

std::span<const std::byte> encode(const TcpEndpointInfo& endpoint_info) noexcept;
// PH_ERR_BOOTSTRAP: another version, or transport. PH_ERR_PROTOCOL: no endpoint info at all.
base::Result<TcpEndpointInfo> decode_endpoint_info(std::span<const std::byte> bytes);

}  // namespace photon::transport::tcp
