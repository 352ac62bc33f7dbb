// The progress thread by calls, waking, and the descriptor for all news of a lane.
#include <photon/progress.h>

#include <memory>
#include <string>

#include "api/lanes.hpp"
#include "engine/event_source.hpp"

using photon::api::in_lane;
using photon::engine::EventSource;
using photon::engine::ProgressThread;

namespace {

// The thread may be the one that runs the handler, and whoever ends a thread waits for it.
ph_status refuse_in_handler(photon::engine::Engine& engine, const char* call) {
  return engine.fail(PH_ERR_STATE, PH_ANY_RANK,
                     std::string(call) + ": called from a handler; let it return first");
}

// One that another thread is ending; null: *status is the call's.
std::shared_ptr<ProgressThread> start_or_find_ending(ph_context* context, ph_status* status) {
  std::shared_ptr<ProgressThread> ending;
  *status = in_lane(context, [&](auto& engine, auto&) {
    if (engine.is_in_user_code()) return refuse_in_handler(engine, "progress_start");
    if (context->progress != nullptr && context->progress->is_stopped()) ending = context->progress;
    if (context->progress != nullptr && !context->progress->has_ended()) return PH_OK;
    auto started = ProgressThread::start(*context->lane, engine);
    if (!started) return engine.fail(started.error());
    context->progress = std::move(*started);
    context->progress->begin();
    ending = nullptr;
    return PH_OK;
  });
  return ending;
}

}  // namespace

extern "C" {

ph_status ph_progress_start(ph_context* context) {
  for (;;) {
    ph_status status = PH_OK;
    const auto ending = start_or_find_ending(context, &status);
    if (ending == nullptr) return status;
    ending->stop();
  }
}

ph_status ph_progress_stop(ph_context* context) {
  std::shared_ptr<ProgressThread> progress;
  const ph_status status = in_lane(context, [&](auto& engine, auto&) {
    if (engine.is_in_user_code()) return refuse_in_handler(engine, "progress_stop");
    progress = context->progress;
    return PH_OK;
  });
  if (progress != nullptr) progress->stop();
  return status;
}

ph_status ph_wake(ph_context* context) {
  if (context == nullptr) return PH_ERR_STATE;
  if (context->lane->forked()) return PH_ERR_FORKED;
  if (!context->lane->wake_word().set()) return PH_OK;
  photon::engine::LaneGuard guard(*context->lane, photon::engine::LaneGuard::Kind::visit);
  if (guard.status() != PH_OK) return guard.status();
  if (!context->lane->closed()) {
    EventSource(*context->engine).wake();
    return PH_OK;
  }
  guard.release();
  return photon::api::refused(*context, PH_ERR_STATE);
}

ph_status ph_event_fd(ph_context* context, int* fd) {
  if (fd == nullptr) return photon::api::bad_argument(context, "event_fd: fd is null");
  *fd = -1;
  return in_lane(context, [&](auto& engine, auto&) { return EventSource(engine).descriptor(*fd); });
}

ph_status ph_event_arm(ph_context* context) {
  return in_lane(context, [](auto& engine, auto& guard) { return EventSource(engine).arm(guard); });
}

}  // extern "C"
