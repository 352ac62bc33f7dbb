// Posting an operation under a rid.
// Owner: none.
#pragma once

#include "compat/entry.hpp"
#include "compat/with_room.hpp"

namespace photon::classic {

// Posts by `post(args)` and names what was posted. The rid is there before the operation, so that
// nothing can fail after it went; `rid` null: nobody asks.
template <class Args, class Post>
Said post_named(Session& session, const Request& request, photon_rid* rid, Args& args, Post post) {
  args.size = sizeof args;
  if (rid == nullptr) {
    args.flags |= PH_NO_LCE;
    return with_room(session, [&] { return post(args); });
  }
  ph_request handle = PH_REQUEST_NONE;
  args.request = &handle;
  const photon_rid name = session.requests().reserve();
  const ph_status status = with_room(session, [&] { return post(args); });
  if (status != PH_OK) {
    session.requests().remove(name);
    return status;
  }
  Request named = request;
  named.handle = handle;
  session.requests().change(name, named);
  *rid = name;
  return PHOTON_OK;
}

}  // namespace photon::classic
