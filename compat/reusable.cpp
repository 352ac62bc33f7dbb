#include "compat/reusable.hpp"

#include <algorithm>

namespace photon::classic {

std::uint64_t Reusable::slots_count() const noexcept {
  constexpr std::uint64_t kRoundBytes = std::uint64_t{1} << 20;
  return std::clamp<std::uint64_t>(kRoundBytes / slot_bytes(), 2, 64);
}

ph_status Reusable::make_room(ph_context* context, ph_rank rank, Round& round) {
  if (round.slots == nullptr)
    round.slots = std::make_unique_for_overwrite<std::byte[]>(slots_count() * slot_bytes());
  if (round.used < slots_count()) return PH_OK;
  const ph_status status = ph_flush(context, rank, INT64_MAX);
  // Of a peer that has ended nothing is under way.
  if (status != PH_OK && status != PH_ERR_PEER && status != PH_ERR_DEPARTED) return status;
  round.used = 0;
  return PH_OK;
}

}  // namespace photon::classic
