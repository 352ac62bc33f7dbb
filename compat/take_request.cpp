#include "compat/take_request.hpp"

#include <vector>

namespace photon::classic {

namespace {

// How long a wait for any looks at those that there were when it began: others may be posted.
constexpr std::int64_t kRoundUs = 1000;

// The operation of `request` is over. PH_ERR_NOT_FOUND: somebody else was first.
ph_status give_back(Session& session, photon_rid rid) {
  return session.requests().remove(rid) ? PH_OK : PH_ERR_NOT_FOUND;
}

// What a rid names that has no request of the context any more, or what the context said of it.
bool is_over(ph_status status, const ph_result& result) noexcept {
  return status == PH_OK || (status < 0 && status == result.status);
}

// What the program will not probe any more.
ph_status give_back_collective(Session& session, photon_rid rid) {
  return session.collectives().take(rid) ? PH_OK : PH_ERR_NOT_FOUND;
}

// One that nobody has joined would be waited for in vain.
ph_status take_collective(Session& session, photon_rid rid, std::int64_t timeout_us, Taken& taken) {
  const auto collective = session.collectives().find(rid);
  if (collective == nullptr) return PH_ERR_NOT_FOUND;
  if (!collective->has_begun()) return timeout_us == 0 ? PH_AGAIN : PH_ERR_ARGUMENT;
  if (timeout_us == 0)
    session.collectives().progress();
  else
    session.collectives().await(*collective);
  if (!collective->is_over()) return PH_AGAIN;
  taken.status = collective->status();
  return give_back_collective(session, rid);
}

// Peers depend on one that was joined.
ph_status cancel_collective(Session& session, photon_rid rid) {
  const auto collective = session.collectives().find(rid);
  if (collective == nullptr) return PH_ERR_NOT_FOUND;
  if (collective->has_begun() && !collective->is_over()) return PH_TIMEOUT;
  return give_back_collective(session, rid);
}

}  // namespace

ph_status take_request(Session& session, photon_rid rid, std::int64_t timeout_us, Taken& taken) {
  const auto found = session.requests().find(rid);
  if (!found) return PH_ERR_NOT_FOUND;
  taken = {*found, PH_OK};
  if (found->type == RequestType::collective)
    return take_collective(session, rid, timeout_us, taken);
  if (found->handle == PH_REQUEST_NONE) return give_back(session, rid);
  ph_request handle = found->handle;
  ph_result result{};
  result.status = PH_AGAIN;
  const ph_status status = timeout_us == 0
                               ? ph_test(session.context(), &handle, &result)
                               : ph_wait_request(session.context(), &handle, &result, timeout_us);
  if (handle != PH_REQUEST_NONE) return status;  // not over, not there, or the context is not
  taken.status = is_over(status, result) ? result.status : status;
  return give_back(session, rid);
}

photon_rid take_any(Session& session, RequestType type, Taken& taken) {
  for (;;) {
    const std::vector<photon_rid> rids = session.requests().all(type);
    if (rids.empty()) return 0;
    std::vector<ph_request> handles;
    for (const photon_rid rid : rids) {
      const auto request = session.requests().find(rid);
      handles.push_back(request ? request->handle : PH_REQUEST_NONE);
      if (request && request->handle == PH_REQUEST_NONE && give_back(session, rid) == PH_OK) {
        taken = {*request, PH_OK};
        return rid;
      }
    }
    ph_result result{};
    result.index = handles.size();
    const ph_status status =
        ph_wait_any(session.context(), {handles.data(), handles.size()}, &result, kRoundUs);
    if (status == PH_ERR_STATE || status == PH_ERR_FORKED) return 0;
    if (result.index >= rids.size() || handles[result.index] != PH_REQUEST_NONE) continue;
    const auto request = session.requests().find(rids[result.index]);
    if (!request || give_back(session, rids[result.index]) != PH_OK) continue;
    taken = {*request, result.status};
    return rids[result.index];
  }
}

ph_status cancel_request(Session& session, photon_rid rid) {
  const auto found = session.requests().find(rid);
  if (!found) return PH_ERR_NOT_FOUND;
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
