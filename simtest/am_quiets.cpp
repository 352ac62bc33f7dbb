#include "simtest/am_quiets.hpp"

namespace photon::simtest {

void AmQuiets::begin(const Endpoint& at) {
  Quiet& quiet = of(at);
  quiet.is_under_way = true;
  ++quiet.begun;
  oracle_.note(at, "quiesce " + std::to_string(quiet.begun));
}

void AmQuiets::not_begun(const Endpoint& at) {
  Quiet& quiet = of(at);
  quiet.is_under_way = false;
  --quiet.begun;
}

void AmQuiets::ended(const Endpoint& at, ph_status status, const ph_error& error) {
  if (oracle_.failed()) return;
  Quiet& quiet = of(at);
  oracle_.note(at,
               "end of quiesce " + std::to_string(quiet.begun) + " = " + std::to_string(status));
  quiet.is_under_way = quiet.is_requested = false;
  quiet.request = PH_REQUEST_NONE;
  if (status != PH_OK) return check_error(at, status, error);
  const std::string what = "rank " + std::to_string(at.rank) + ", " + name_of_lane(at.lane) +
                           ": quiesce " + std::to_string(quiet.begun) + " ended";
  if (quiet.is_broken) return oracle_.report("status", what + ", though one before it had failed");
  if (const AmMessage* left = model_.left_of(at.lane, quiet.begun); left != nullptr)
    oracle_.report("early", what + ", and this was sent before and is not over: " + left->text());
}

// It names who is lacking. Who has left the lane, and who lives but is lost to somebody, counts.
void AmQuiets::check_error(const Endpoint& at, ph_status status, const ph_error& error) {
  of(at).is_broken = true;
  const std::string what = "rank " + std::to_string(at.rank) + ": a quiesce said " +
                           std::to_string(status) + " and names rank " + std::to_string(error.rank);
  const ph_rank named = error.rank;
  if (error.status != status || named >= ranks_)
    return oracle_.report("status", what + " with other words: " + error.text);
  bool is_lacking = oracle_.may_be_gone({named, at.lane}, status);
  for (ph_rank other = 0; other < ranks_; ++other)
    is_lacking = is_lacking || oracle_.may_be_lost(other, named, status);
  if (!is_lacking) oracle_.report("status", what + ", which takes part");
}

void AmQuiets::gone(const Endpoint& end) {
  for (std::uint32_t lane = 0; lane < lanes_; ++lane)
    if (end.lane == 0 || end.lane == lane) of({end.rank, lane}).is_gone = true;
}

bool AmQuiets::is_wanted(const Endpoint& at) noexcept {
  const Quiet& quiet = of(at);
  if (quiet.is_gone || quiet.is_broken || quiet.is_requested) return false;
  if (quiet.is_under_way) return true;
  for (ph_rank other = 0; other < ranks_; ++other)
    if (of({other, at.lane}).begun > quiet.begun) return true;
  return false;
}

bool AmQuiets::is_settled() noexcept {
  for (ph_rank rank = 0; rank < ranks_; ++rank)
    for (std::uint32_t lane = 0; lane < lanes_; ++lane)
      if (is_wanted({rank, lane}) || (of({rank, lane}).is_requested && !of({rank, lane}).is_gone))
        return false;
  return true;
}

void AmQuiets::report_pending() {
  for (ph_rank rank = 0; rank < ranks_; ++rank)
    for (std::uint32_t lane = 0; lane < lanes_; ++lane)
      if (is_wanted({rank, lane}) || (of({rank, lane}).is_requested && !of({rank, lane}).is_gone))
        return oracle_.report("lost", "rank " + std::to_string(rank) + ", " + name_of_lane(lane) +
                                          ": quiesce " + std::to_string(of({rank, lane}).begun) +
                                          " does not end");
}

}  // namespace photon::simtest
