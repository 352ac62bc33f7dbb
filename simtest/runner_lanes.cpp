// Lanes of a program: opened, used, closed, and called wrongly.
#include <algorithm>

#include "simtest/runner_job.hpp"

namespace photon::simtest {

namespace {

constexpr std::uint32_t kForgedNumber = 0x7fff'0000;  // no program's

}  // namespace

std::uint32_t Runner::lane_for(ph_rank rank, const Step& step) const {
  const bool is_about_lanes = step.verb >= Verb::lane_open;
  return !is_about_lanes && is_open(rank, step.lane) ? step.lane : 0;
}

// What it must say is known: all open, or used before.
void Runner::open_lane(ph_rank rank, std::uint32_t lane) {
  std::vector<LaneSeat>& lanes = seats_[rank].lanes;
  LaneSeat& seat = lanes[lane];
  const auto open_count =
      static_cast<std::uint64_t>(std::count_if(lanes.begin(), lanes.end(), [](const LaneSeat& one) {
        return one.state == LaneSeat::State::open;
      }));
  ph_status right = seat.state == LaneSeat::State::unused ? PH_OK : PH_ERR_STATE;
  if (open_count == option_of(program_, "max_lanes")) right = PH_ERR_MEMORY;
  const std::uint32_t number = program_.lanes[lane - 1];
  ph_context* handle = world_.context(rank);
  const ph_status status = ph_lane_open(world_.context(rank), number, &handle);
  if (!expect(rank, "lane_open", status, right)) return;
  oracle_.note({rank, lane}, "open = " + std::to_string(status));
  const bool is_right = status == PH_OK ? ph_lane_of(handle) == number && ph_rank_of(handle) == rank
                                        : handle == nullptr;
  if (!is_right)
    return oracle_.report("status", "rank " + std::to_string(rank) + ": lane_open of " +
                                        name_of_lane(lane) + " gave a wrong handle");
  if (status != PH_OK) return;
  seat.handle = handle;
  seat.state = LaneSeat::State::open;
  const Visit visit(seats_[rank], lane);
  if (program_.echoes) listen(rank, true);
  if (program_.ams) enroll_ams(rank);
}

// Before a wait for others: they may wait for what only an open lane takes.
void Runner::open_unused(ph_rank rank) {
  for (std::uint32_t lane = 1; lane < program_.lanes_count() && !oracle_.failed(); ++lane)
    if (seats_[rank].lanes[lane].state == LaneSeat::State::unused) open_lane(rank, lane);
}

// One at a time: who closes a lane serves no other one meanwhile, and two could wait for each other
// in different ones.
void Runner::close_lane(ph_rank rank, std::uint32_t lane) {
  if (!is_open(rank, lane)) return;
  const Endpoint end{rank, lane};
  const bool gave_back = seats_[rank].gives_back;
  await_loans(end);
  std::uint64_t quiet_ns = 100;
  while (closing_ != PH_ANY_RANK && !oracle_.failed()) take_or_pause(rank, quiet_ns);
  closing_ = rank;  // before anything that lets others run
  seats_[rank].gives_back = gave_back;
  take_before_leaving(rank);
  if (oracle_.failed()) return;
  LaneSeat& seat = seats_[rank].lanes[lane];
  lending_.gone(end);
  echoes_.gone(end, false);
  ams_.gone(end, false);
  quiets_.gone(end);
  mail_.gone(end);
  mail_gets_.gone(end);
  oracle_.leaving(end);
  ++leaving_count_;
  const ph_status status = ph_lane_close(seat.handle);
  --leaving_count_;
  closing_ = PH_ANY_RANK;
  seat = closed_lane();
  oracle_.left(end, status,
               lending_.explains(end, status) || mail_.explains(end, status) ||
                   ams_.explains(end, status) || mail_gets_.explains(end, status));
  mail_.boxes().left(end);
  // Refusals of messages to mailboxes may come after the words of a time-out.
  const bool is_late = status == PH_TIMEOUT && program_.mailboxes;
  if (status == PH_OK || is_late || oracle_.failed()) return;
  ph_error error{};
  ph_last_error(world_.context(rank), &error);
  if (error.status != status)
    oracle_.report("status", "rank " + std::to_string(rank) + ": lane_close said " +
                                 std::to_string(status) + ", the context's last error is " +
                                 std::to_string(error.status));
}

// Half of them before ph_finalize(), when all is done and seen; of the others that has left the
// handles.
void Runner::close_rest(ph_rank rank, bool is_finalized) {
  for (std::uint32_t lane = 1; lane < program_.lanes_count(); ++lane) {
    if (!is_open(rank, lane) || (!is_finalized && (rank + lane) % 2 == 0)) continue;
    LaneSeat& seat = seats_[rank].lanes[lane];
    if (is_finalized)
      expect(rank, "a call on a lane that is over", ph_notify(seat.handle, rank, 1), PH_ERR_STATE);
    const ph_status status = ph_lane_close(seat.handle);
    if (status != PH_ERR_PEER || !oracle_.may_be_gone(PH_ANY_RANK, status))
      expect(rank, "lane_close", status);  // else something was lost with a dead peer
    seat = closed_lane();
  }
}

void Runner::misuse(ph_rank rank, const Step& step) {
  ph_context* const home = world_.context(rank);
  const LaneSeat& seat = seats_[rank].lanes[step.lane];
  const bool is_open_here = seat.state == LaneSeat::State::open;
  ph_context* opened = home;
  std::uint64_t mine = 1, all = 0;
  ph_status status = PH_ERR_ARGUMENT;
  switch (step.order % 8) {
    case 0: status = ph_lane_open(home, 0, &opened); break;
    case 1: status = ph_lane_open(home, kForgedNumber, nullptr); break;
    case 2: status = ph_lane_close(home); break;
    case 3:
      return static_cast<void>(expect(rank, "lane_close", ph_lane_close(nullptr), PH_ERR_STATE));
    case 4:
      if (is_open_here) status = ph_lane_open(seat.handle, kForgedNumber, &opened);
      break;
    case 5:
      if (is_open_here) status = ph_finalize(seat.handle);
      break;
    case 6:
      if (is_open_here) status = ph_barrier(seat.handle);
      break;
    default:
      if (is_open_here) status = ph_allgather(seat.handle, &mine, &all, sizeof mine);
  }
  if (opened != home && opened != nullptr) status = PH_OK;
  expect(rank, text_of(step).c_str(), status, PH_ERR_ARGUMENT);
}

// At all its lanes: how much has come.
std::size_t Runner::look(ph_rank rank) {
  // Who leaves waits for what was asked of it; and so do we all at the end.
  const bool is_asked = leaving_count_ != 0 || draining_ == program_.ranks;
  if (is_asked && seats_[rank].gives_back) close_mailboxes(rank);
  std::size_t count = 0;
  for_each_open(rank, [&] {
    count += take(rank, anything(rank), kMostFound) + harvest(rank) + harvest_lending(rank) +
             harvest_mail(rank) + harvest_quiesces(rank);
    if (program_.echoes) count += take_answers(rank, kMostFound);
  });
  count += pump_joints(rank);
  tell_later(rank);
  return count;
}

void Runner::take_everywhere(ph_rank rank) {
  for_each_open(rank, [&] { static_cast<void>(take(rank, anything(rank), kMostFound)); });
}

// Of each lane. In turns, where there are several: who flushes one lane serves no other meanwhile.
bool Runner::flush_last(ph_rank rank) {
  constexpr std::int64_t kLimitUs = 10'000'000;
  constexpr std::int64_t kTurnUs = 1000;
  const std::int64_t limit_us = program_.lanes.empty() ? kLimitUs : kTurnUs;
  for (std::uint32_t lane = 0; lane < program_.lanes_count() && !oracle_.failed(); ++lane) {
    if (!is_open(rank, lane)) continue;
    const Visit visit(seats_[rank], lane);
    std::int64_t left_us = kLimitUs;
    while (flush(rank, PH_ANY_RANK, limit_us) == PH_TIMEOUT && !oracle_.failed()) {
      left_us -= limit_us;
      if (left_us <= 0) {
        oracle_.report("stuck", "rank " + std::to_string(rank) + ": the last flush does not end");
        return false;
      }
      static_cast<void>(look(rank));
    }
  }
  return !oracle_.failed();
}

}  // namespace photon::simtest
