#include "compat/bounce_buffers.hpp"

namespace photon::classic {

ph_status BounceBuffers::make_room(ph_context* context, ph_rank rank, Round& round) {
  constexpr std::int64_t kPatienceUs = 100'000;
  constexpr std::int64_t kLastPatienceUs = 2'000'000;
  constexpr std::uint64_t kMostBytes = 64 * kBytes;  // and as many copies more than in a round
  if (round.copies.size() < round.most_copies && round.bytes < round.most_bytes) {
    round.copies.reserve(round.most_copies);
    return PH_OK;
  }
  const bool is_largest = round.most_bytes >= kMostBytes;
  const ph_status status = ph_flush(context, rank, is_largest ? kLastPatienceUs : kPatienceUs);
  if (status == PH_TIMEOUT && is_largest) return PH_AGAIN;
  if (status == PH_TIMEOUT) {
    round.copies.reserve(2 * round.most_copies);
    round.most_copies *= 2;
    round.most_bytes *= 2;
    return PH_OK;
  }
  // Of a peer that has ended nothing is under way.
  if (status != PH_OK && status != PH_ERR_PEER && status != PH_ERR_DEPARTED) return status;
  round.copies.clear();
  round.bytes = 0;
  round.most_copies = kCopies;
  round.most_bytes = kBytes;
  round.copies.shrink_to_fit();
  round.copies.reserve(kCopies);
  return PH_OK;
}

}  // namespace photon::classic
