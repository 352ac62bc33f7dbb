// Posting where the only lack of room may be what nobody asks for any more.
// Owner: none.
#pragma once

#include "compat/session.hpp"

namespace photon::classic {

// Runs `post()`, once more if strays that were over made room.
template <class Post>
ph_status with_room(Session& session, Post post) {
  const ph_status status = post();
  if (status != PH_AGAIN) [[likely]]
    return status;
  return session.strays().reap(session.context()) ? post() : status;
}

}  // namespace photon::classic
