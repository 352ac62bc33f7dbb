// Ranks of a program that die, or lose each other, and what the others do because of it.
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
  joints_.want_all(rank);
  std::uint64_t quiet_ns = 100;
  while (!oracle_.failed()) take_or_pause(rank, quiet_ns);
}

// It counts as drained and flushed, like one that left.
void Runner::died(ph_rank rank) {
  seats_[rank].ended = true;
  if (closing_ == rank) closing_ = PH_ANY_RANK;
  oracle_.died(rank);
  lending_.gone(rank);
  echoes_.gone(rank, true);
  ams_.gone(rank, true);
  quiets_.gone(rank);
  mail_.gone(rank);
  mail_gets_.gone(rank);
  joints_.gone(rank);
  mail_.boxes().died(rank);
  maps_.gone(rank);
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

// Where memory is shared there is no link between the two that could carry nothing.
void Runner::lose_link(const Step& step) {
  using Kind = transport::sim::Loss::Kind;
  ++losses_ahead_;
  const bool is_cut_off = step.is_cut_off || shares_memory_;
  world_.lose_link({is_cut_off ? Kind::cut_off : Kind::unreachable, step.query_peer, step.peer,
                    is_cut_off || !step.is_one_way, step.notice_ns},
                   world_.now_ns() + step.time_ns);
}

void Runner::link_lost(const transport::sim::Loss& loss) {
  --losses_ahead_;
  oracle_.link_lost(loss.from, loss.to);
  echoes_.link_lost(loss.from, loss.to);
  ams_.link_lost(loss.from, loss.to);
  mail_.link_lost(loss.from, loss.to);
}

// A wait for one that cannot send any more ends when that is known, however long its limit is.
void Runner::await_lost(ph_rank rank) {
  constexpr std::int64_t kLimitUs = 20'000;
  for (ph_rank peer = 0; peer < program_.ranks && !oracle_.failed(); ++peer) {
    if (world_.loss_known_ns(peer, rank) == transport::sim::SimNetwork::kNever) continue;
    const ph_query query{peer, PH_REMOTE, seats_[rank].id_room.data()};
    ph_status status = PH_OK;
    while (status == PH_OK && !oracle_.failed()) {
      status = wait_once(rank, query, kLimitUs);
      if (status == PH_OK) static_cast<void>(take(rank, query, kMostFound));
    }
  }
}

// Where peers were lost it may be the one that tells of it.
void Runner::finalize(ph_rank rank) {
  maps_.load_all(rank);
  maps_.gone(rank);
  if (oracle_.failed()) return;
  const ph_status status = ph_finalize(context(rank));
  if (status == PH_OK) history_.add(world_.now_ns(), rank, "finalized");
  ph_error error{};
  ph_last_error(context(rank), &error);
  oracle_.finalized(rank, status, error);
  if (status == PH_OK) echoes_.finalized(rank);
  if (status == PH_OK) ams_.finalized(rank);
  if (status == PH_OK) mail_.finalized(rank);
}

void Runner::check_named(ph_rank rank, ph_rank peer, ph_status status) {
  if ((status != PH_ERR_PEER && status != PH_ERR_PROTOCOL) || oracle_.failed()) return;
  ph_error error{};
  ph_last_error(context(rank), &error);
  if (is_same(error, lane_seat(rank).handlers_error)) return;  // it came after that of the call
  oracle_.named(here(rank), peer, error);
}

}  // namespace photon::simtest
