// Requests of a program: kept when posted, taken by test, await or on the way, cancelled.
#include <algorithm>
#include <cstring>

#include "simtest/runner_job.hpp"

namespace photon::simtest {

void Runner::keep(Operation& op) {
  if (op.request == PH_REQUEST_NONE) return took(op, PH_OK);
  lane_seat(op.initiator).requests.push_back(&op);
}

// To the oracle it is the same as the local completion that it stands for.
void Runner::took(Operation& op, ph_status status) {
  std::erase(lane_seat(op.initiator).requests, &op);
  const std::uint32_t size = op.step->local_id_bytes;
  std::vector<std::byte> id(std::max(8u, size));
  write_id(op.number, PH_LOCAL, std::span(id).first(size));
  ph_completion one{};
  std::memcpy(&one.id, id.data(), sizeof one.id);
  one.long_id = size > 8 ? id.data() : nullptr;
  one.id_size_bytes = size;
  one.kind = PH_LOCAL;
  one.peer = op.target();
  one.status = status;
  oracle_.completed(here(op.initiator), anything(op.initiator), one);
}

Operation* Runner::pick(ph_rank rank, const Step& step) {
  const auto& requests = lane_seat(rank).requests;
  return requests.empty() ? nullptr : requests[step.offset % requests.size()];
}

void Runner::check_result(const Operation& op, const ph_result& result) {
  const std::uint64_t moved = result.status == PH_OK ? op.size_bytes() : 0;
  if (op.request != PH_REQUEST_NONE || result.peer != op.target() || result.size_bytes != moved)
    oracle_.report("unexpected", "the request of " + op.text() + " ended with " +
                                     std::to_string(result.size_bytes) + " bytes of peer " +
                                     std::to_string(result.peer));
}

void Runner::test(ph_rank rank, const Step& step) {
  Operation* op = pick(rank, step);
  if (op == nullptr) return;
  ph_result result{};
  const ph_status status = ph_test(context(rank), &op->request, &result);
  if (status == PH_AGAIN) return;
  check_result(*op, result);
  took(*op, status);
}

// Those that are over; PH_TIMEOUT: none was.
ph_status Runner::await_list(ph_rank rank, bool all, std::int64_t limit_us, std::size_t& count) {
  const std::vector<Operation*> asked = lane_seat(rank).requests;
  std::vector<ph_request> handles;
  handles.reserve(asked.size());
  for (const Operation* op : asked) handles.push_back(op->request);
  std::vector<ph_result> results(asked.size() + 1);
  const ph_request_list list{handles.data(), handles.size()};
  ph_status status = PH_OK;
  if (all) {
    status = ph_wait_some(context(rank), list, results.data(), &count, limit_us);
  } else {
    status = ph_wait_any(context(rank), list, results.data(), limit_us);
    count = status == PH_TIMEOUT || status == PH_ERR_NOT_FOUND ? 0 : 1;
    if (count == 1 && status == results[0].status) status = PH_OK;
  }
  for (std::size_t i = 0; i < count && !oracle_.failed(); ++i) {
    Operation& op = *asked[results[i].index];
    op.request = handles[results[i].index];
    check_result(op, results[i]);
    took(op, results[i].status);
  }
  return status;
}

void Runner::await(ph_rank rank, const Step& step) {
  Operation* op = pick(rank, step);
  if (op == nullptr) return;
  const auto limit_us = static_cast<std::int64_t>(step.time_ns / 1000);
  Oracle::Wait wait{"a wait for requests", world_.now_ns(), limit_us};
  const std::uint64_t away_before_ns = away_ns(rank);
  ph_status status = PH_OK;
  if (step.kinds == PH_LOCAL) {
    ph_result result{};
    status = ph_wait_request(context(rank), &op->request, &result, limit_us);
    if (status != PH_TIMEOUT) {
      check_result(*op, result);
      took(*op, status);
      status = PH_OK;
    }
  } else {
    std::size_t count = 0;
    status = await_list(rank, step.kinds == PH_EITHER, limit_us, count);
    if ((count == 0) != (status == PH_TIMEOUT))
      oracle_.report("status", "rank " + std::to_string(rank) + ": a wait that took " +
                                   std::to_string(count) + " requests said " +
                                   std::to_string(status));
  }
  wait.stood_still_ns = away_ns(rank) - away_before_ns;
  oracle_.waited(rank, wait, status);
}

// What is over by now, without waiting.
std::size_t Runner::harvest(ph_rank rank) {
  if (lane_seat(rank).requests.empty()) return 0;
  tell_later(rank);
  std::size_t count = 0;
  const ph_status status = await_list(rank, true, 0, count);
  if (status != PH_TIMEOUT) expect(rank, "wait_some", status);
  return count;
}

// What is said to be over must be there to be taken.
void Runner::cancel(ph_rank rank, const Step& step) {
  Operation* op = pick(rank, step);
  if (op == nullptr) return;
  ph_outcome outcome{};
  if (!expect(rank, "cancel", ph_cancel(context(rank), &op->request, &outcome))) return;
  if ((outcome == PH_CANCELLED) != (op->request == PH_REQUEST_NONE))
    return oracle_.report("unexpected", "cancel of " + op->text() + " said " +
                                            std::to_string(outcome) + " and left the request " +
                                            std::to_string(op->request));
  if (outcome == PH_CANCELLED) {
    std::erase(lane_seat(rank).requests, op);
    return oracle_.cancelled(*op);
  }
  if (outcome != PH_ALREADY_DONE) return;
  const ph_status status = ph_test(context(rank), &op->request, nullptr);
  if (status == PH_AGAIN)
    return oracle_.report("lost", op->text() + " was said to be over, and is not to be had");
  took(*op, status);
}

}  // namespace photon::simtest
