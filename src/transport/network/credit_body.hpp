// What a rank has given back of its receiving rings, as it travels; and the unit of ring lines.
// Little-endian; nothing is padded. Owner: none (plain values).
#pragma once

#include <cstdint>
#include <type_traits>

namespace photon::transport::network {

struct CreditBody {
  std::uint64_t lines = 0;
  std::uint64_t ledger = 0;
  std::uint64_t bulk = 0;

  bool operator==(const CreditBody&) const = default;
};
static_assert(sizeof(CreditBody) == 24);
static_assert(std::has_unique_object_representations_v<CreditBody>, "no padding travels");

inline constexpr std::uint32_t kLineBytes = 64;

}  // namespace photon::transport::network
