// Operations by name: test, wait, cancel. What is waited for is one request of the context, so
// nobody takes another's completion.
#include <photon/request.h>

#include "compat/entry.hpp"
#include "compat/take_request.hpp"

using photon::classic::cancel_request;
using photon::classic::Request;
using photon::classic::RequestType;
using photon::classic::Said;
using photon::classic::Session;
using photon::classic::take_any;
using photon::classic::take_request;
using photon::classic::Taken;
using photon::classic::with_session;

namespace {

// photon_test() has statuses of its own.
constexpr int kFailed = -1;
constexpr int kUnknown = 1;

void fill(photonStatus status, photon_rid rid, const Taken& taken) noexcept {
  if (status == nullptr) return;
  *status = {};
  status->src_addr.global.proc_id = taken.request.peer;
  status->request = rid;
  status->size = taken.request.size_bytes;
  status->tag = taken.request.tag;
  status->count = 1;
  status->error = taken.status == PH_OK ? 0 : 1;
}

// An operation that ended with an error. Its words are gone with it.
Said ended(const Taken& taken) {
  return taken.status == PH_OK ? Said(PHOTON_OK) : Said(ph_status_text(taken.status));
}

int wait_any_of(const char* call, RequestType type, int* ret_proc, photon_rid* ret_req) {
  return with_session(call, [&](Session& session) -> Said {
    Taken taken;
    const photon_rid rid = take_any(session, type, taken);
    if (ret_proc != nullptr) *ret_proc = rid == 0 ? -1 : static_cast<int>(taken.request.peer);
    if (ret_req != nullptr) *ret_req = rid;
    return rid == 0 ? Said(PHOTON_ERROR) : ended(taken);
  });
}

}  // namespace

extern "C" {

int photon_test(photon_rid request, int* flag, int* type, photonStatus status) {
  if (flag != nullptr) *flag = -1;
  return with_session("photon_test", [&](Session& session) -> Said {
    if (flag == nullptr) return kFailed;
    Taken taken;
    const ph_status found = take_request(session, request, 0, taken);
    if (found == PH_ERR_NOT_FOUND) return kUnknown;
    const RequestType named = taken.request.type;
    if (type != nullptr)
      *type = static_cast<int>(named == RequestType::collective ? RequestType::event : named);
    *flag = found == PH_OK ? 1 : 0;
    if (found != PH_OK) return found > 0 ? 0 : kFailed;
    fill(status, request, taken);
    return taken.status == PH_OK ? 0 : kFailed;
  });
}

int photon_wait(photon_rid request) {
  return with_session("photon_wait", [&](Session& session) -> Said {
    Taken taken;
    const ph_status found = take_request(session, request, PH_FOREVER, taken);
    if (found == PH_ERR_NOT_FOUND) return Said("the rid names nothing that is under way");
    if (found != PH_OK) return Said(ph_status_text(found));
    return ended(taken);
  });
}

int photon_wait_any(int* ret_proc, photon_rid* ret_req) {
  return wait_any_of("photon_wait_any", RequestType::event, ret_proc, ret_req);
}

int photon_wait_any_ledger(int* ret_proc, photon_rid* ret_req) {
  return wait_any_of("photon_wait_any_ledger", RequestType::ledger, ret_proc, ret_req);
}

int photon_cancel(photon_rid request, int) {
  return with_session("photon_cancel", [&](Session& session) -> Said {
    const ph_status status = cancel_request(session, request);
    if (status == PH_OK) return PHOTON_OK;
    return status == PH_AGAIN ? PHOTON_ERROR_RESOURCE : PHOTON_ERROR;
  });
}

}  // extern "C"
