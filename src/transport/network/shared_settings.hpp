// The settings that shape what two ranks carry to each other, as they travel in the endpoint infos
// of a first contact: both have to have the same. Owner: none (plain values and pure functions).
#pragma once

#include <cstdint>
#include <type_traits>

#include "base/config.hpp"
#include "base/result.hpp"

namespace photon::transport::network {

struct SharedSettings {
  std::uint64_t ranks_count = 0;
  std::uint64_t ring_lines = 0;
  std::uint64_t bulk_bytes = 0;
  std::uint64_t bulk_chunk = 0;
  std::uint64_t ledger_slots = 0;
  std::uint64_t max_cid_size = 0;
};
static_assert(std::has_unique_object_representations_v<SharedSettings>, "no padding travels");

SharedSettings shared_settings(const base::Config& config, std::uint32_t ranks_count);
// PH_ERR_BOOTSTRAP names the first setting that differs, and both values.
base::Result<> check_settings(const SharedSettings& mine, const SharedSettings& theirs);

}  // namespace photon::transport::network
