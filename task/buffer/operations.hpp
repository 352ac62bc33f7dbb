// Gets and puts of buffers, as a program calls them (docs/tasks.md, "An operation").
//
//   called -- refused --> nothing happened
//          -- the other side is in this process --> copied, both dones queued
//          -- it is registered, or there are no bytes --> issued (issue.hpp)
//          -- it is not --> turned round (turns.hpp)
//
// Owner: none (functions of the PE that calls).
#pragma once

#include "task/buffer/pe_buffers.hpp"

namespace photon::task {

// Why a call is refused: a status, and words for a program.
struct Verdict {
  ph_status status;
  const char* words;
};
// The own side alone, which is known whole.
Verdict check_own(Verb verb, const Handle& own) noexcept;
Verdict check(Buffers& buffers, Verb verb, const Handle& own,
              const ph_task_descriptor& other) noexcept;

// After check(). Not PH_OK: nothing has happened.
ph_status begin(Buffers& buffers, Verb verb, Handle& own, const ph_task_descriptor& other) noexcept;

}  // namespace photon::task
