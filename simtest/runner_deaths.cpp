// Ranks of a program that die, and what the others do because of it.
#include <algorithm>

#include "simtest/runner_job.hpp"

namespace photon::simtest {

void Runner::die(ph_rank rank, const Step& step) {
  world_.die(rank, {world_.now_ns() + step.time_ns, step.notice_ns, step.restart_ns});
}

void Runner::await_death(ph_rank rank) {
  seats_[rank].phase = "the wait for its death";
  seats_[rank].gives_back = true;
  open_unused(rank);
  std::uint64_t quiet_ns = 100;
  while (!oracle_.failed()) take_or_pause(rank, quiet_ns);
}

// It counts as drained and flushed, like one that left.
void Runner::died(ph_rank rank) {
  seats_[rank].ended = true;
  if (closing_ == rank) closing_ = PH_ANY_RANK;
  oracle_.died(rank);
  lending_.gone(rank);
  ++draining_;
  ++flushed_;
}

// What the dead had on its way comes or is lost by now, and all have heard of it. The last look
// begins when nothing is on its way any more: what a look finds may be told of by the next one.
void Runner::take_all(ph_rank rank) {
  std::uint64_t quiet_ns = 100;
  for (bool was_quiet = false; !oracle_.failed() && (!was_quiet || quiet_ns == 100);) {
    was_quiet = world_.is_quiet();
    take_or_pause(rank, quiet_ns);
  }
}

void Runner::check_named(ph_rank rank, ph_rank peer, ph_status status) {
  if (status != PH_ERR_PEER || oracle_.failed()) return;
  ph_error error{};
  ph_last_error(context(rank), &error);
  oracle_.named(rank, peer, error);
}

}  // namespace photon::simtest
