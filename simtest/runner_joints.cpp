// Steps of collective operations.
#include <algorithm>

#include "simtest/runner_job.hpp"

namespace photon::simtest {

void Runner::join_in(ph_rank rank, const Step& step) {
  const auto line = static_cast<std::uint32_t>(step.operand);
  tell_later(rank);
  if (step.verb == Verb::coll_run) {
    run_joint(rank, step);
    if (oracle_.failed()) return;
  }
  joints_.want(rank, line, step.order);
  static_cast<void>(joints_.pump(rank));
  if (step.verb == Verb::coll_await) await_joint(rank, step);
}

void Runner::run_joint(ph_rank rank, const Step& step) {
  const auto limit_us = static_cast<std::int64_t>(step.time_ns / 1000);
  Oracle::Wait wait{"coll_run", world_.now_ns(), limit_us};
  const std::uint64_t away_before_ns = away_ns(rank);
  const ph_status status = joints_.run(rank, step);
  wait.stood_still_ns = away_ns(rank) - away_before_ns;
  if (status == PH_TIMEOUT) oracle_.waited(rank, wait, status);
}

// By its request, or until it has been told of otherwise.
void Runner::await_joint(ph_rank rank, const Step& step) {
  const auto limit_us = static_cast<std::int64_t>(step.time_ns / 1000);
  if (ph_request* const request = joints_.request_of(rank, step); request != nullptr) {
    Oracle::Wait wait{"a wait for a collective", world_.now_ns(), limit_us};
    const std::uint64_t away_before_ns = away_ns(rank);
    ph_result result{};
    const ph_status status = ph_wait_request(context(rank), request, &result, limit_us);
    wait.stood_still_ns = away_ns(rank) - away_before_ns;
    if (status == PH_TIMEOUT) return oracle_.waited(rank, wait, status);
    return joints_.tested(rank, request, result);
  }
  const std::uint64_t until_ns = world_.now_ns() + step.time_ns;
  std::uint64_t quiet_ns = 100;
  while (!oracle_.failed() && world_.now_ns() < until_ns && !joints_.is_over(rank, step))
    take_or_pause(rank, quiet_ns);
}

std::size_t Runner::pump_joints(ph_rank rank) {
  const Visit visit(seats_[rank], 0);
  tell_later(rank);
  return joints_.pump(rank);
}

}  // namespace photon::simtest
