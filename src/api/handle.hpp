// What a ph_context* points to, and what every call does first.
// Invariant: the engine lives from creation to the end of ph_finalize(); the lane and the few facts
// below until ph_context_destroy(), so that late calls are refused, not undefined.
// Owner: the caller of ph_context_create().
#pragma once

#include <photon/photon.h>

#include <memory>
#include <new>

#include "base/config.hpp"
#include "engine/engine.hpp"
#include "engine/lane.hpp"

struct ph_context {
  std::unique_ptr<photon::engine::Lane> lane;
  std::unique_ptr<photon::engine::Engine> engine;
  photon::base::Config config;
  photon::base::Error last_error;  // after finalize
  ph_rank rank = 0;
  uint32_t size = 0;
};

namespace photon::api {

// A context of parts that are ready: what ph_context_create() ends with, and what a simulation
// begins with.
base::Result<std::unique_ptr<ph_context>> assemble(engine::Engine::Parts parts);

// Leaves the words for a call that the lane refused, and hands its status back.
ph_status refused(ph_context& context, ph_status status) noexcept;

// Runs `call(engine, guard)` in the context's lane. No exception crosses the ABI: the only one that
// the core throws is bad_alloc.
template <class Call>
inline ph_status in_lane(ph_context* context, Call call) noexcept {
  if (context == nullptr) return PH_ERR_STATE;
  engine::LaneGuard guard(*context->lane);
  if (guard.status() != PH_OK) [[unlikely]]
    return refused(*context, guard.status());
  try {
    return call(*context->engine, guard);
  } catch (const std::bad_alloc&) {
    return PH_ERR_MEMORY;
  }
}

void fill_error(const base::Error& from, ph_error& to) noexcept;

}  // namespace photon::api
