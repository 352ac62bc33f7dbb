// Posting where the only lack of room may be what nobody asks for any more.
// Owner: none.
#pragma once

#include "compat/session.hpp"

namespace photon::classic {

// Runs `post()`, once more if detached requests that were over made room. PH_AGAIN also for what is
// only a lack of memory for now.
template <class Post>
ph_status with_room(Session& session, Post post) {
  ph_context* context = session.context();
  ph_status status = post();
  if (status == PH_OK) [[likely]]
    return status;
  if (!BackPressure::is_refusal(context, status)) return status;
  if (session.detached().reap(context)) status = post();
  if (!BackPressure::is_refusal(context, status)) return status;
  session.back_pressure().note(context);
  return PH_AGAIN;
}

}  // namespace photon::classic
