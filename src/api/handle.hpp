// What a ph_context* points to, and what every call does first.
// Invariant: the engine lives from creation to the end of ph_finalize(), or ph_lane_close(); the
// lane and the few facts below until the handle is freed, so that late calls are refused, not
// undefined.
// Owner: of a context the caller of ph_context_create(); of a lane its context's list, and whoever
// visits it (lanes.hpp).
#pragma once

#include <photon/photon.h>

#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "api/coll_handles.hpp"
#include "base/config.hpp"
#include "engine/engine.hpp"
#include "engine/parts/lane.hpp"
#include "engine/progress_thread.hpp"

namespace photon::service::am {
class Am;
}

struct ph_context {
  std::unique_ptr<photon::engine::Lane> lane;
  std::unique_ptr<photon::engine::Engine> engine;
  photon::base::Config config;
  photon::base::Error last_error;  // after finalize
  ph_rank rank = 0;
  uint32_t size = 0;
  uint32_t number = 0;         // of the lane; 0: the context's own
  ph_context* home = nullptr;  // of a lane: its context

  // Of a context: its other lanes.
  std::mutex lanes_mutex;
  std::vector<std::shared_ptr<ph_context>> lanes;  // under it, as is:
  bool opens_no_lanes = false;                     // it is being finalized

  // With the setting; at work until the handle's engine ends. Last: it ends before what it serves.
  // Replaced in the lane only, while it runs; others that hold it may stop it.
  std::shared_ptr<photon::engine::ProgressThread> progress;

  photon::api::CollHandles coll;  // in the lane
  // Of the lane's engine, and used in the lane alone; null: nothing was sent yet.
  photon::service::am::Am* am = nullptr;

  bool is_lane() const noexcept { return home != nullptr; }
};

namespace photon::api {

// A context of parts that are ready: what ph_context_create() ends with, and what a simulation
// begins with.
base::Result<std::unique_ptr<ph_context>> assemble(engine::Engine::Parts parts);

// A context of its settings and a bootstrap that is ready, over the transport they call for: what
// ph_context_create() ends with, and what a test that pretends hosts begins with.
base::Result<std::unique_ptr<ph_context>> create_over(const base::Config& settings,
                                                      std::unique_ptr<boot::Boot> real);

// What a call that makes a context was told.
base::Result<base::Config> checked_settings(const ph_config* config);

// How such a call ends: the context, or null and why (error may be null).
using Made = base::Result<std::unique_ptr<ph_context>>;
using Make = std::function<Made()>;
ph_status hand_over(const Make& make, ph_context** context, ph_error* error) noexcept;

// Leaves the words for a call that the lane refused, and hands its status back.
ph_status refused(ph_context& context, ph_status status) noexcept;

// How a call ends: posting runs no user code, and leaves what is due to the next call that does.
enum class Ends : std::uint8_t { running, posted };

// Gives services what a call owes them at its end: a turn, and the user's code. If memory runs out
// the next call tries again: this one has done its own work.
[[gnu::noinline, gnu::cold]] void finish_call(engine::Engine& engine, engine::LaneGuard& guard,
                                              ph_status status, Ends ends) noexcept;

// Runs `call(engine, guard)` in the context's lane, which `guard` has entered or not. No exception
// crosses the ABI: the only one that the core throws is bad_alloc.
template <Ends ends, class Call>
[[gnu::always_inline]] inline ph_status in_guarded(ph_context& context, engine::LaneGuard& guard,
                                                   Call& call) noexcept {
  if (guard.status() != PH_OK) [[unlikely]]
    return refused(context, guard.status());
  ph_status status = PH_ERR_MEMORY;
  try {
    status = call(*context.engine, guard);
  } catch (const std::bad_alloc&) {
  }
  // A call that waited may find the lane closed, and then the engine is not ours to look at.
  if (guard.status() == PH_OK && context.engine->owes_services()) [[unlikely]]
    finish_call(*context.engine, guard, status, ends);
  return status;
}

template <Ends ends = Ends::running, class Call>
inline ph_status in_lane(ph_context* context, Call call) noexcept {
  if (context == nullptr) return PH_ERR_STATE;
  engine::LaneGuard guard(*context->lane);
  return in_guarded<ends>(*context, guard, call);
}

// The same by a thread whose lane it is not, which stays its owner's; PH_AGAIN: somebody is inside.
template <Ends ends = Ends::running, class Call>
inline ph_status in_lane_of_other(ph_context* context, Call call) noexcept {
  if (context == nullptr) return PH_ERR_STATE;
  engine::LaneGuard guard(*context->lane, engine::LaneGuard::Kind::look_in);
  return in_guarded<ends>(*context, guard, call);
}

// The words of a service's error become those of the call: if it has left none for this status,
// the status alone tells.
inline ph_status told_by(engine::Engine& engine, wire::Owner owner, ph_status status) {
  if (status >= PH_OK || engine.has_refused_wait(status)) return status;
  try {
    const base::Error& words = engine.port(owner).last_error();
    if (words.status == status) return engine.fail(words);
    return engine.fail(status, PH_ANY_RANK, ph_status_text(status));
  } catch (const std::bad_alloc&) {  // the call has ended with this status, whoever hears why
    return status;
  }
}

// Runs `call(service, engine, guard)` in the context's lane.
template <class Service, Ends ends = Ends::running, class Call>
inline ph_status in_service(ph_context* context, wire::Owner owner, Call call) noexcept {
  return in_lane<ends>(context, [&](auto& engine, auto& guard) {
    auto& service = *static_cast<Service*>(engine.service(owner));
    const ph_status status = call(service, engine, guard);
    if (guard.status() != PH_OK) return status;  // closed while it waited: nothing here is ours
    engine.push_out();
    return told_by(engine, owner, status);
  });
}

// What an argument is before there is a context.
inline base::Error wrong_argument(const char* what) {
  return {PH_ERR_ARGUMENT, 0, what, PH_ANY_RANK};
}

// What an argument is that the engine cannot be asked about.
inline ph_status bad_argument(ph_context* context, const char* what) noexcept {
  return in_lane<Ends::posted>(context, [what](auto& engine, auto&) {
    return engine.fail(PH_ERR_ARGUMENT, PH_ANY_RANK, what);
  });
}

void fill_error(const base::Error& from, ph_error& to) noexcept;

}  // namespace photon::api
