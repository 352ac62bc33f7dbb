// How the endpoint infos of a first contact begin: with the name of their transport, as a magic
// number, and the version of the wire format. These two stand first in every version, so that a
// rank of another version or transport is told what differs. Owner: none (pure functions).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.hpp"

namespace photon::transport::network {

struct InfoKind {
  const char* transport = nullptr;
  std::uint64_t magic = 0;
  std::size_t size_bytes = 0;
};

// Whether these may be the bytes of such an endpoint info; what stands behind its head is not
// looked at. PH_ERR_BOOTSTRAP: another version, or transport. PH_ERR_PROTOCOL: no endpoint info at
// all.
base::Result<> check_info_head(const InfoKind& kind, std::span<const std::byte> bytes);

// What is wrong with a first contact that is no endpoint info of transport `mine`. Endpoint infos
// begin with 'p', the name of their transport in three letters, and "card"; so one of another
// transport is told by its name: PH_ERR_BOOTSTRAP. Else PH_ERR_PROTOCOL.
base::Error strange_info(const char* mine, std::span<const std::byte> bytes);

}  // namespace photon::transport::network
