// What every classic call does first and last.
// Owner: none.
#pragma once

#include <photon.h>
#include <photon/rma.h>
#include <photon/types.h>

#include <cstdint>
#include <new>

#include "compat/process_session.hpp"
#include "compat/session.hpp"

namespace photon::classic {

// The calling thread's session; null before photon_init() and after photon_finalize().
[[gnu::always_inline]] inline Session* current() noexcept { return current_process->running.get(); }

// A status of ours for one of the context's. Positive ones lose nothing, so they can be retried.
inline int status_of(ph_status status) noexcept {
  if (status == PH_OK) [[likely]]
    return PHOTON_OK;
  if (status > 0) return PHOTON_ERROR_RESOURCE;
  return status == PH_ERR_STATE ? PHOTON_ERROR_NOINIT : PHOTON_ERROR;
}

// What our calls are told of a classic call's flags.
inline std::uint32_t flags_of(int flags) noexcept {
  std::uint32_t result = 0;
  if ((flags & PHOTON_REQ_PWC_NO_LCE) != 0) result |= PH_NO_LCE;
  if ((flags & PHOTON_REQ_PWC_NO_RCE) != 0) result |= PH_NO_RCE;
  return result;
}

// What a call returns, and the words that go with it, if any: an answer that programs expect, as a
// miss or "not yet", is no failure and has none.
struct Said {
  int status = PHOTON_OK;
  const char* why = nullptr;
  ph_status cause = PH_OK;  // not PH_OK: the context has the words

  Said(int said) noexcept : status(said) {}                                // NOLINT: as it is
  Said(ph_status said) noexcept : status(status_of(said)), cause(said) {}  // NOLINT: the same
  explicit Said(const char* words) noexcept : status(PHOTON_ERROR), why(words) {}
};

// Runs `call(session)`, a Said, if there is a session; a failure leaves words on stderr. No
// exception crosses the boundary: the only one that is thrown here is bad_alloc.
template <class Call>
inline int with_session(const char* name, Call call) noexcept {
  Session* session = current();
  if (session == nullptr) return without_session(name);
  try {
    const Said said = call(*session);
    if (said.status == PHOTON_ERROR) [[unlikely]] {
      if (said.why != nullptr) session->complain(name, said.why);
      if (said.cause != PH_OK) session->complain(name, said.cause);
    }
    return said.status;
  } catch (const std::bad_alloc&) {
    session->complain(name, "out of memory");
    return PHOTON_ERROR;
  }
}

}  // namespace photon::classic
