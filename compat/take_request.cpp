#include "compat/take_request.hpp"

#include <thread>
#include <vector>

#include "compat/matched_buffer.hpp"

namespace photon::classic {

namespace {

// How long a wait for any looks at those that there were when it began: others may be posted.
constexpr std::int64_t kOneWaitUs = 1000;

// The operation of `request` is over. PH_ERR_NOT_FOUND: somebody else was first.
ph_status give_back(Session& session, photon_rid rid) {
  return session.requests().remove(rid) ? PH_OK : PH_ERR_NOT_FOUND;
}

// What a rid names that has no request of the context any more, or what the context said of it.
bool is_over(ph_status status, const ph_result& result) noexcept {
  return status == PH_OK || (status < 0 && status == result.status);
}

// One look at the handle, or a wait for it. `result.status` is PH_AGAIN where nothing was said.
ph_status look_at(Session& session, ph_request& handle, ph_result& result,
                  std::int64_t timeout_us) {
  result = {};
  result.status = PH_AGAIN;
  if (timeout_us == 0) return ph_test(session.context(), &handle, &result);
  return ph_wait_request(session.context(), &handle, &result, timeout_us);
}

// The program knows how its transfers ended. The rid goes with the FIN, or now if that was sent.
// PH_ERR_NOT_FOUND: it went meanwhile, by a FIN that said so or by photon_cancel().
ph_status tell(Session& session, photon_rid rid, Taken& taken) {
  MatchedBuffer& matched = *taken.request.matched;
  if (!session.requests().find(rid)) return PH_ERR_NOT_FOUND;
  taken.status = matched.tell();
  return matched.is_finished() ? give_back(session, rid) : PH_OK;
}

// All transfers of a buffer that was met.
ph_status take_transfers(Session& session, photon_rid rid, std::int64_t timeout_us, Taken& taken) {
  MatchedBuffer& matched = *taken.request.matched;
  for (ph_request named = matched.pending(); named != PH_REQUEST_NONE; named = matched.pending()) {
    ph_request handle = named;
    ph_result result{};
    const ph_status status = look_at(session, handle, result, timeout_us);
    if (handle == PH_REQUEST_NONE) {
      matched.ended(named, is_over(status, result) ? result.status : status);
      continue;
    }
    if (status != PH_ERR_NOT_FOUND) return status;
    // Another thread has it in hand, and is about to say so.
    if (timeout_us == 0) return PH_AGAIN;
    std::this_thread::yield();
  }
  return tell(session, rid, taken);
}

// What ph_wait_any() has found to be over, of the request that `taken` names and as it says. False:
// there is nothing to tell yet, or somebody else did.
bool settle(Session& session, photon_rid rid, ph_request named, Taken& taken) {
  const auto& matched = taken.request.matched;
  if (matched == nullptr) return give_back(session, rid) == PH_OK;
  matched->ended(named, taken.status);  // also if the rid is gone: others may wait for it
  return matched->has_news() && tell(session, rid, taken) == PH_OK;
}

// The peer's buffer goes back to it; what is under way ends by itself. While the peer cannot be
// told the rid stays.
ph_status leave_matched(Session& session, photon_rid rid, MatchedBuffer& matched) {
  session.detached().reap(session.context());
  const ph_status status = matched.finish(session.context());
  return matched.is_finished() ? let_go(session, rid, matched) : status;
}

// What the program will not probe any more.
ph_status give_back_collective(Session& session, photon_rid rid) {
  return session.collectives().take(rid) ? PH_OK : PH_ERR_NOT_FOUND;
}

// One that nobody has joined would be waited for in vain.
ph_status take_collective(Session& session, photon_rid rid, std::int64_t timeout_us, Taken& taken) {
  const auto collective = session.collectives().find(rid);
  if (collective == nullptr) return PH_ERR_NOT_FOUND;
  auto& all = session.collectives();
  if (!all.has_joined(*collective)) return timeout_us == 0 ? PH_AGAIN : PH_ERR_ARGUMENT;
  if (timeout_us == 0) {
    all.progress();
    if (!all.is_over(*collective)) return PH_AGAIN;
  }
  taken.status = all.await(*collective);
  return give_back_collective(session, rid);
}

// Peers depend on one that was joined.
ph_status cancel_collective(Session& session, photon_rid rid) {
  const auto collective = session.collectives().find(rid);
  if (collective == nullptr) return PH_ERR_NOT_FOUND;
  auto& all = session.collectives();
  if (all.has_joined(*collective) && !all.is_over(*collective)) return PH_TIMEOUT;
  return give_back_collective(session, rid);
}

}  // namespace

ph_status let_go(Session& session, photon_rid rid, MatchedBuffer& matched) {
  return matched.leave(session.detached(), session.requests(), rid) ? PH_OK : PH_ERR_NOT_FOUND;
}

ph_status take_request(Session& session, photon_rid rid, std::int64_t timeout_us, Taken& taken) {
  const auto found = session.requests().find(rid);
  if (!found) return PH_ERR_NOT_FOUND;
  taken = {*found, PH_OK};
  if (found->matched != nullptr) return take_transfers(session, rid, timeout_us, taken);
  if (found->type == RequestType::collective)
    return take_collective(session, rid, timeout_us, taken);
  if (found->handle == PH_REQUEST_NONE) return give_back(session, rid);
  ph_request handle = found->handle;
  ph_result result{};
  const ph_status status = look_at(session, handle, result, timeout_us);
  if (handle != PH_REQUEST_NONE) return status;  // not over, not there, or the context is not
  taken.status = is_over(status, result) ? result.status : status;
  return give_back(session, rid);
}

photon_rid take_any(Session& session, RequestType type, Taken& taken) {
  for (;;) {
    std::vector<photon_rid> rids;
    std::vector<Request> requests;
    std::vector<ph_request> named;
    for (const photon_rid rid : session.requests().all(type)) {
      const auto request = session.requests().find(rid);
      if (!request) continue;
      const bool is_met = request->matched != nullptr;
      const ph_request handle = is_met ? request->matched->pending() : request->handle;
      if (handle != PH_REQUEST_NONE) {
        rids.push_back(rid);
        requests.push_back(*request);
        named.push_back(handle);
      } else if (!is_met || request->matched->has_news()) {
        if (take_request(session, rid, 0, taken) == PH_OK) return rid;
      }
    }
    if (rids.empty()) return 0;
    std::vector<ph_request> handles = named;
    ph_result result{};
    result.index = handles.size();
    const ph_status status =
        ph_wait_any(session.context(), {handles.data(), handles.size()}, &result, kOneWaitUs);
    if (status == PH_ERR_STATE || status == PH_ERR_FORKED) return 0;
    const std::size_t i = result.index;
    if (i >= rids.size() || handles[i] != PH_REQUEST_NONE) continue;
    taken = {requests[i], result.status};
    if (settle(session, rids[i], named[i], taken)) return rids[i];
  }
}

ph_status cancel_request(Session& session, photon_rid rid) {
  const auto found = session.requests().find(rid);
  if (!found) return PH_ERR_NOT_FOUND;
  if (found->matched != nullptr) return leave_matched(session, rid, *found->matched);
  if (found->type == RequestType::collective) return cancel_collective(session, rid);
  ph_request handle = found->handle;
  if (handle == PH_REQUEST_NONE) return give_back(session, rid);
  ph_outcome outcome = PH_TOO_LATE;
  const ph_status status = ph_cancel(session.context(), &handle, &outcome);
  if (status != PH_OK) return status;
  if (outcome == PH_TOO_LATE) return PH_TIMEOUT;
  if (outcome == PH_ALREADY_DONE) {
    ph_result result{};
    static_cast<void>(ph_test(session.context(), &handle, &result));
  }
  return give_back(session, rid);
}

}  // namespace photon::classic
