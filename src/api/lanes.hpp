// What concerns all lanes of a context: leaving, and taking memory back.
//
//   running -- ph_lane_close(), ph_finalize() --> closed: every call is refused
//   closed -- its turn has come, and all is sent --> over: its engine is gone, its handle stays
//   over -- dropped --> freed
//
// ph_finalize() closes all lanes at once. They end in the order of their numbers, at all ranks, and
// meanwhile the others are served, and take what nobody here will take any more: so who finalizes
// keeps nobody waiting for another of his lanes. Lock order: a lane's lock, then the
// list of lanes, then what the lanes share; never a second lane's. So nobody who is in one lane
// waits for another (docs/lanes.md).
#pragma once

#include <functional>
#include <memory>

#include "api/handle.hpp"

namespace photon::api {

using LaneList = std::vector<std::shared_ptr<ph_context>>;

// The other lanes of a context, kept alive as long as the list. Throws bad_alloc.
LaneList other_lanes(ph_context& home);

// The progress thread that the setting asks for, not begun yet. Null: none can be started; the log
// says so, and its lane goes on without.
std::shared_ptr<engine::ProgressThread> start_progress(ph_context& lane);

// Whether the caller is inside a handler of this lane, or, of a context, of any of its lanes: then
// it cannot be closed, which waits for handlers. Throws bad_alloc.
bool is_in_handler(ph_context& lane);

// Closes one lane, drains it and ends its engine. PH_OK also where another thread, or the context's
// end, had closed it: its engine is gone when this returns.
ph_status finish_lane(ph_context& lane) noexcept;

// The same for a context and all its lanes; the context's own ends last. The first status that is
// worse than PH_OK, the context's before its lanes'. Throws bad_alloc: nothing was done.
ph_status finish_all(ph_context& home);

// The handle is not to be used any more; freed when nobody visits it.
void drop(ph_context& lane) noexcept;

// Begins in the lane of the caller, then each lane lets go; ends where it began.
template <class Begin>
ph_status take_back(ph_context* context, Begin begin) noexcept;

// Every lane of the context but `own` lets go, one after the other. False: a peer did not.
bool all_let_go(ph_context& own, engine::Removal& removal);

template <class Begin>
ph_status take_back(ph_context* context, Begin begin) noexcept {
  engine::Removal removal;
  bool let_go = false;
  bool is_visiting =
      true;  // who waits for nobody has the other lanes' transports let go, if they know
  const ph_status begun = in_lane(context, [&](auto& engine, auto&) {
    const ph_status status = begin(engine, removal);
    if (removal.is_due) let_go = engine.let_go_of(removal);
    // Nobody's copy is waited for: then only what NICs and their peers know has to be let go of.
    is_visiting = !removal.is_sure || engine.transport().quiesces();
    return status;
  });
  if (begun != PH_OK || !removal.is_due) return begun;
  try {
    let_go = let_go && (!is_visiting || all_let_go(*context, removal));
  } catch (const std::bad_alloc&) {
    return PH_ERR_MEMORY;  // the key is stale; to be asked for again
  }
  return in_lane(context, [&](auto& engine, auto&) { return engine.end_removal(removal, let_go); });
}

}  // namespace photon::api
