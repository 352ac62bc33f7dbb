// Requests that their caller keeps (request.h): handed over at posting, asked for, taken,
// cancelled.
//
//   kept, under way -- conclude --> kept, over -- take --> not kept: freed once nobody else has it
//   kept, under way -- cancel, nothing has gone --> freed
#include <algorithm>
#include <string>

#include "engine/quiet_turn.hpp"
#include "engine/services.hpp"

namespace photon::engine {

ph_status Engine::unknown_request(const char* call, ph_request handle) {
  return fail(PH_ERR_NOT_FOUND, PH_ANY_RANK,
              std::string(call) + ": request " + std::to_string(handle) +
                  " is not under way: it was taken before, or is none of this context");
}

ph_status Engine::test(ph_request& handle, ph_result& result) {
  result = {PH_OK, PH_ANY_RANK, 0, 0};
  if (handle == PH_REQUEST_NONE) return PH_OK;
  Request* request = requests_.find_kept(handle);
  if (request == nullptr) return unknown_request("test", handle);
  if (!request->local_done) progress(nullptr);
  if (!request->local_done) {
    ++empty_turns_;
    return PH_AGAIN;
  }
  news_came();
  return take(*request, handle, result);
}

// What most waits for an answer are, without giving up the lane. False: wait_one() goes on.
bool Engine::try_wait_one(ph_request& handle, ph_result& result, ph_status& status) noexcept {
  constexpr unsigned kTurns = 256;  // shorter than what others would notice
  Request* request = requests_.find_kept(handle);
  if (request == nullptr || oversubscribed_ || services_->forbids_waits()) return false;
  for (unsigned turns = 0; !request->local_done; ++turns)
    if (turns == kTurns || !quiet_turn()) return false;
  news_came();
  status = take(*request, handle, result);
  return true;
}

ph_status Engine::wait_one(LaneGuard& guard, ph_request& handle, ph_result& result,
                           std::int64_t timeout_us) {
  if (handle == PH_REQUEST_NONE) return test(handle, result);
  // Another thread may take it meanwhile.
  const auto done = [&] {
    const Request* request = requests_.find_kept(handle);
    return request == nullptr || request->local_done;
  };
  if (const auto status = wait_until(guard, done, timeout_us); status != PH_OK) return status;
  Request* request = requests_.find_kept(handle);
  return request == nullptr ? unknown_request("wait", handle) : take(*request, handle, result);
}

// PH_OK: each entry is none, or kept, and one at least is. Else the place of the culprit is in
// results[0].index.
ph_status Engine::check_list(RequestSweep& sweep) {
  std::size_t found = 0;
  const std::span handles(sweep.list.items, sweep.list.count);
  for (std::size_t i = 0; i < handles.size(); ++i) {
    if (handles[i] == PH_REQUEST_NONE) continue;
    if (requests_.find_kept(handles[i]) == nullptr) {
      sweep.results[0] = {PH_ERR_NOT_FOUND, PH_ANY_RANK, 0, i};
      return unknown_request("wait", handles[i]);
    }
    ++found;
  }
  if (found != 0) return PH_OK;
  if (sweep.capacity != 0) sweep.results[0] = {PH_ERR_NOT_FOUND, PH_ANY_RANK, 0, handles.size()};
  return fail(PH_ERR_NOT_FOUND, PH_ANY_RANK, "wait: the list holds no request that is under way");
}

ph_status Engine::wait_some(LaneGuard& guard, RequestSweep& sweep, std::int64_t timeout_us) {
  if (const auto status = check_list(sweep); status != PH_OK) return status;
  const std::span handles(sweep.list.items, sweep.list.count);
  // What another thread has taken meanwhile is noticed too, also if it was the last.
  const auto done = [&] {
    const auto is_over = [this](ph_request handle) {
      const Request* request = requests_.find_kept(handle);
      return handle != PH_REQUEST_NONE && (request == nullptr || request->local_done);
    };
    const auto is_none = [](ph_request handle) { return handle == PH_REQUEST_NONE; };
    return std::any_of(handles.begin(), handles.end(), is_over) ||
           std::all_of(handles.begin(), handles.end(), is_none);
  };
  if (const auto status = wait_until(guard, done, timeout_us); status != PH_OK) return status;
  for (std::size_t i = 0; i < handles.size() && sweep.done < sweep.capacity; ++i) {
    Request* request = requests_.find_kept(handles[i]);
    if (request == nullptr || !request->local_done) continue;
    ph_result& result = sweep.results[sweep.done++];
    static_cast<void>(take(*request, handles[i], result));
    result.index = i;
  }
  return sweep.done != 0 ? PH_OK : check_list(sweep);
}

// It waits in its queues, and neither bytes nor id have left, nor was anybody asked.
bool Engine::nothing_has_gone(const Request& request) const noexcept {
  if (request.id_merged || request.in_acks || request.serving || request.posted) return false;
  if (request.chunked || request.data_done || request.done_bytes != 0) return false;
  return request.in_work || request.in_ids;
}

// Its service knows. One that was taken back in time is over without a completion.
ph_status Engine::cancel_promise(Request& request, ph_request& handle, ph_outcome& outcome) {
  outcome = services_->cancel(request);
  if (outcome != PH_CANCELLED) return PH_OK;
  request.promised_by = wire::Owner::application;
  conclude(request, PH_OK);
  ph_result result;
  static_cast<void>(take(request, handle, result));
  return PH_OK;
}

ph_status Engine::cancel(ph_request& handle, ph_outcome& outcome) {
  Request* request = requests_.find_kept(handle);
  if (request == nullptr) return unknown_request("cancel", handle);
  outcome = request->local_done ? PH_ALREADY_DONE : PH_TOO_LATE;
  if (request->kind == Request::Kind::promise && !request->local_done)
    return cancel_promise(*request, handle, outcome);
  if (request->local_done || !nothing_has_gone(*request)) return PH_OK;
  Peer& peer = *request->peer;
  if (request->in_work) static_cast<void>(peer.work.remove(*request));
  if (request->in_ids) {
    Request* before = peer.ids.remove(*request);
    if (peer.ahead == request) peer.ahead = before;
  }
  unpin_own(*request);
  mark_busy(peer);  // others may have waited behind it
  conclude(*request, PH_OK);
  ph_result result;
  static_cast<void>(take(*request, handle, result));
  outcome = PH_CANCELLED;
  return PH_OK;
}

}  // namespace photon::engine
