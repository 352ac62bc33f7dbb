// What one rank tells another over the side channel at first contact: the address of its endpoint,
// whose provider that is, and what both must agree on. Version and magic number stand first and
// never move.
//
// Invariant: a decoded endpoint info has a valid magic number and version, and an address that is
// no longer than it may be; that its settings and provider are ours is a second question
// (check_agreement), because a rank with others is answered. Owner: none (plain values and pure
// functions).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "base/result.hpp"
#include "transport/network/shared_settings.hpp"
#include "transport/ofi/ofi_message.hpp"
#include "wire/record.hpp"

namespace photon::transport::ofi {

inline constexpr std::uint64_t kInfoMagic = 0x64'72'61'63'69'66'6f'70ULL;  // "poficard"

struct OfiEndpointInfo {
  enum class What : std::uint32_t {
    ask,      // say hello to me
    answer,   // to one that does not agree with ours, so that its rank sees what differs
    gone,     // you are over for me, and `why`: I take nothing of yours, and nothing more comes
    how_far,  // how many of my messages do you have?
    so_far,   // so many: `heard`
  };
  std::uint64_t magic = kInfoMagic;
  std::uint32_t version = wire::kVersion;
  What what = What::ask;
  network::SharedSettings settings;  // must be equal
  std::uint64_t message_bytes = 0;   // of the longest message; must be equal
  std::uint64_t moves_memory = 0;    // see moves_memory(); must be equal
  std::uint64_t address_bytes = 0;
  std::uint64_t heard = 0;          // so_far: messages
  std::array<char, 64> provider{};  // ends with a zero; must be equal
  std::array<std::byte, kMostAddressBytes> address{};
  std::array<char, 256> why{};  // gone: words; ends with a zero

  std::string_view provider_name() const noexcept { return provider.data(); }
  void set_why(std::string_view words) noexcept {
    std::copy_n(words.begin(), std::min(words.size(), why.size() - 1), why.begin());
  }
  std::span<const std::byte> address_span() const noexcept {
    return {address.data(), address_bytes};
  }
};
static_assert(std::has_unique_object_representations_v<OfiEndpointInfo>, "no padding travels");

// Of an endpoint info: not at all; by RMA endpoints; and so many bytes more are told to the target
// of a write.
constexpr std::uint64_t moves_memory(bool has_rma_endpoints, std::size_t data_bytes) noexcept {
  return has_rma_endpoints ? 1 + data_bytes : 0;
}

// An endpoint as its peers have to know it.
struct Endpoint {
  std::string_view provider;
  std::span<const std::byte> address;
  std::size_t message_bytes = 0;
  std::uint64_t moves_memory = 0;  // as in the endpoint info
};
// PH_ERR_CONFIG: the provider's address is longer than an endpoint info can tell.
base::Result<OfiEndpointInfo> make_endpoint_info(const network::SharedSettings& settings,
                                                 const Endpoint& endpoint);
std::span<const std::byte> encode(const OfiEndpointInfo& endpoint_info) noexcept;
// PH_ERR_BOOTSTRAP: another version, or transport. PH_ERR_PROTOCOL: no endpoint info at all.
base::Result<OfiEndpointInfo> decode_endpoint_info(std::span<const std::byte> bytes);
// PH_ERR_BOOTSTRAP names what differs, and both values.
base::Result<> check_agreement(const OfiEndpointInfo& mine, const OfiEndpointInfo& theirs);

}  // namespace photon::transport::ofi
