// The table of a rank's registrations where no other transport has one.
// Owner: who asked for it, and its lanes (shared_ptr).
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/result.hpp"
#include "transport/transport.hpp"

namespace photon::transport::network {

// Free entries; pages that nobody touches cost nothing. PH_ERR_SYSTEM.
base::Result<std::shared_ptr<RegionEntry[]>> free_entries(std::size_t count);
// Those of another transport, which outlives who uses these, if it has any; else free ones.
base::Result<std::shared_ptr<RegionEntry[]>> own_or_given(std::span<RegionEntry> given,
                                                          std::size_t count);

}  // namespace photon::transport::network
