// The check of an access against a table of registrations: by an initiator that sees it, by the
// target, by a simulated NIC.
// Owner: none.
#pragma once

#include <photon/memory.h>

#include <cstdint>
#include <span>

#include "transport/transport.hpp"

namespace photon::transport {

// Does `key` grant `access` to [address, address + size) in this table? PH_OK or which check
// failed. `regions` has a power of two of entries.
[[gnu::always_inline]] inline ph_status check_access(std::span<const RegionEntry> regions,
                                                     ph_target target, std::uint64_t size_bytes,
                                                     std::uint32_t access) noexcept {
  sync::RegionView view;
  if (target.key == 0 || !regions[target.key & (regions.size() - 1)].read(target.key, view))
      [[unlikely]]
    return PH_ERR_KEY;
  // No sum that could overflow; below the region the offset is larger than any region.
  const std::uint64_t offset = target.address - view.address;
  if (size_bytes > view.size_bytes || offset > view.size_bytes - size_bytes) [[unlikely]]
    return PH_ERR_RANGE;
  return (view.access & access) == access ? PH_OK : PH_ERR_ACCESS;
}

// The same where only whether matters.
[[gnu::always_inline]] inline bool is_granted(std::span<const RegionEntry> regions,
                                              ph_target target, std::uint64_t size_bytes,
                                              std::uint32_t access) noexcept {
  return target.key != 0 && regions[target.key & (regions.size() - 1)].grants(
                                target.key, target.address, size_bytes, access);
}

}  // namespace photon::transport
