// What every classic call does first and last.
// Owner: none.
#pragma once

#include <photon.h>
#include <photon/types.h>

#include <new>

#include "compat/seat.hpp"
#include "compat/session.hpp"

namespace photon::classic {

// The calling thread's session; null before photon_init() and after photon_finalize().
[[gnu::always_inline]] inline Session* current() noexcept { return current_seat->running.get(); }

// A status of ours for one of the context's. Positive ones lose nothing, so they can be retried.
inline int status_of(ph_status status) noexcept {
  if (status == PH_OK) [[likely]]
    return PHOTON_OK;
  if (status > 0) return PHOTON_ERROR_RESOURCE;
  return status == PH_ERR_STATE ? PHOTON_ERROR_NOINIT : PHOTON_ERROR;
}

// Runs `call(session)`, an int, if there is a session. No exception crosses the boundary: the only
// one that is thrown here is bad_alloc.
template <class Call>
inline int with_session(Call call) noexcept {
  Session* session = current();
  if (session == nullptr) return PHOTON_ERROR_NOINIT;
  try {
    return call(*session);
  } catch (const std::bad_alloc&) {
    return PHOTON_ERROR;
  }
}

}  // namespace photon::classic
