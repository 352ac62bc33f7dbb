#include "compat/reusable.hpp"

namespace photon::classic {

ph_status Reusable::make_room(ph_context* context, ph_rank rank, Round& round) {
  constexpr std::size_t kCopies = 64;
  constexpr std::uint64_t kBytes = std::uint64_t{1} << 20;
  constexpr std::int64_t kPatienceUs = 1'000'000;
  round.copies.reserve(kCopies);
  if (round.copies.size() < kCopies && round.bytes < kBytes) return PH_OK;
  const ph_status status = ph_flush(context, rank, kPatienceUs);
  // Of a peer that has ended nothing is under way.
  if (status != PH_OK && status != PH_ERR_PEER && status != PH_ERR_DEPARTED) return status;
  round.copies.clear();
  round.bytes = 0;
  return PH_OK;
}

}  // namespace photon::classic
