// Ending what a rid names: when its operation is over, it is taken, by one thread.
// Owner: none.
#pragma once

#include "compat/session.hpp"

namespace photon::classic {

struct Taken {
  Request request;
  ph_status status = PH_OK;  // that the operation ended with
};

// PH_OK: it was over and is gone (a met buffer stays until its FIN); `taken` says how. PH_TIMEOUT,
// PH_AGAIN: not yet, after timeout_us (0: one look). PH_ERR_NOT_FOUND: no such rid, or another
// thread took it. Others: the context's.
ph_status take_request(Session& session, photon_rid rid, std::int64_t timeout_us, Taken& taken);

// Waits for the first to be over of all there are of this type; 0: there are none, or the context
// will end none any more.
photon_rid take_any(Session& session, RequestType type, Taken& taken);

// A met buffer's rid goes though transfers are under way: PH_OK, or PH_ERR_NOT_FOUND.
ph_status let_go(Session& session, photon_rid rid, MatchedBuffer& matched);

// PH_OK: nothing of it has gone or it is over; its rid is gone. PH_TIMEOUT: it is on its way.
// PH_AGAIN: there is no room to tell the peer; nothing was done.
ph_status cancel_request(Session& session, photon_rid rid);

}  // namespace photon::classic
