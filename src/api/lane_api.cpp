// Opening and closing lanes, and what all lanes of a context have to do.
#include <photon/lane.h>

#include <algorithm>
#include <string>

#include "api/lanes.hpp"

namespace photon::api {

LaneList other_lanes(ph_context& home) {
  const std::scoped_lock lock(home.lanes_mutex);
  return home.lanes;
}

std::shared_ptr<engine::ProgressThread> start_progress(ph_context& lane) {
  auto progress = engine::ProgressThread::start(*lane.lane, *lane.engine);
  if (progress) return std::move(*progress);
  PHOTON_LOG(base::Log(lane.config.log, lane.engine->rank()), warn,
             "%s; lane %u goes on without: peers wait while this rank computes",
             progress.error().what.c_str(), lane.number);
  return nullptr;
}

bool all_let_go(ph_context& own, engine::Removal& removal) {
  ph_context& home = own.is_lane() ? *own.home : own;
  const auto visit = [&](ph_context& lane) {
    if (&lane == &own) return true;
    engine::LaneGuard guard(*lane.lane, engine::LaneGuard::Kind::visit);
    // Of a lane that is over no peer copies any more.
    return guard.status() != PH_OK || lane.engine == nullptr || lane.engine->let_go_of(removal);
  };
  if (!visit(home)) return false;
  const LaneList lanes = other_lanes(home);
  return std::all_of(lanes.begin(), lanes.end(), [&](const auto& lane) { return visit(*lane); });
}

bool is_in_handler(ph_context& lane) {
  const auto is_inside = [](ph_context& one) {
    engine::LaneGuard guard(*one.lane, engine::LaneGuard::Kind::visit);
    return guard.status() == PH_OK && one.engine != nullptr && one.engine->is_in_user_code();
  };
  if (is_inside(lane)) return true;
  const LaneList lanes = other_lanes(lane);
  return std::any_of(lanes.begin(), lanes.end(), [&](const auto& one) { return is_inside(*one); });
}

namespace {

// Another thread is closing it.
void await_end(ph_context& lane, const std::function<void()>& meanwhile) noexcept {
  for (unsigned spins = 0;; ++spins) {
    {
      engine::LaneGuard guard(*lane.lane, engine::LaneGuard::Kind::visit);
      if (guard.status() != PH_OK || lane.engine == nullptr) return;
    }
    if (meanwhile) meanwhile();
    transport::Policy::pause(spins);
  }
}

// Of one that this thread has closed and not yet ended.
void serve_leaving(ph_context& lane) noexcept {
  engine::LaneGuard guard(*lane.lane, engine::LaneGuard::Kind::visit);
  if (guard.status() != PH_OK || lane.engine == nullptr) return;
  try {
    lane.engine->serve_leaving();
  } catch (const std::bad_alloc&) {  // once more at its end, whose caller will hear of it
  }
}

// From here on every other call is refused. PH_ERR_STATE: another thread has closed it.
ph_status close(ph_context& lane) noexcept {
  engine::LaneGuard guard(*lane.lane, engine::LaneGuard::Kind::visit);
  if (guard.status() != PH_OK) return guard.status();
  if (lane.lane->closed()) return PH_ERR_STATE;
  lane.lane->close();
  lane.engine->tell_closed();
  return PH_OK;
}

// Drains one that this thread has closed, and ends its engine; `meanwhile`, if there is one, is
// called again and again while it waits.
ph_status end(ph_context& lane, const std::function<void()>& meanwhile = {}) noexcept {
  if (lane.progress != nullptr && !lane.lane->forked()) lane.progress->stop();
  engine::LaneGuard guard(*lane.lane, engine::LaneGuard::Kind::closed_too);
  if (guard.status() != PH_OK) return guard.status();
  ph_status status = PH_ERR_MEMORY;
  try {
    status = lane.engine->finalize(guard, meanwhile);
    lane.last_error = lane.engine->last_error();
  } catch (const std::bad_alloc&) {
  }
  lane.am = nullptr;
  lane.engine.reset();
  return status;
}

// How a lane ended: its handle may be in others' hands.
base::Error error_of(ph_context& lane) {
  engine::LaneGuard guard(*lane.lane, engine::LaneGuard::Kind::closed_too);
  return guard.status() == PH_OK ? lane.last_error : base::Error{};
}

}  // namespace

ph_status finish_lane(ph_context& lane) noexcept {
  const ph_status closed = close(lane);
  if (closed == PH_OK) return end(lane);
  if (closed != PH_ERR_STATE) return closed;
  await_end(lane, {});
  return PH_OK;
}

namespace {

// A context on its way out, and its lanes in the order of their numbers.
struct Leaving {
  struct One {
    std::shared_ptr<ph_context> lane;
    bool is_ours = false;  // to end; else another thread is closing it
  };

  explicit Leaving(ph_context& own) : home(own) {
    const std::scoped_lock lock(home.lanes_mutex);
    for (const auto& lane : home.lanes) lanes.push_back({lane});
    home.opens_no_lanes = true;
    std::sort(lanes.begin(), lanes.end(),
              [](const One& a, const One& b) { return a.lane->number < b.lane->number; });
  }

  // All but the one that is just ending.
  void serve() const noexcept {
    serve_leaving(home);
    for (const One& one : lanes)
      if (one.is_ours && one.lane.get() != ending) serve_leaving(*one.lane);
  }

  ph_context& home;
  std::vector<One> lanes;
  const ph_context* ending = nullptr;
};

// The first that is worse than PH_OK, with its words.
base::Error end_lanes(Leaving& leaving) noexcept {
  base::Error worst;
  worst.status = PH_OK;
  const std::function<void()> meanwhile = [&leaving] { leaving.serve(); };
  for (const Leaving::One& one : leaving.lanes) {
    leaving.ending = one.lane.get();
    if (!one.is_ours) {
      await_end(*one.lane, meanwhile);
      continue;
    }
    const ph_status status = end(*one.lane, meanwhile);
    if (status == PH_OK || worst.status != PH_OK) continue;
    try {
      worst = error_of(*one.lane);
    } catch (const std::bad_alloc&) {  // then only the status tells
    }
    worst.status = status;
  }
  return worst;
}

}  // namespace

// All are closed before the first one ends: nobody takes anything any more in those that wait for
// their turn, so peers must not wait for that.
ph_status finish_all(ph_context& home) {
  Leaving leaving(home);
  if (const ph_status closed = close(home); closed != PH_OK) {
    if (closed == PH_ERR_STATE) await_end(home, {});
    return closed;
  }
  for (Leaving::One& one : leaving.lanes) one.is_ours = close(*one.lane) == PH_OK;
  base::Error of_lanes = end_lanes(leaving);
  const ph_status status = end(home);
  if (status != PH_OK || of_lanes.status == PH_OK) return status;
  engine::LaneGuard guard(*home.lane, engine::LaneGuard::Kind::closed_too);
  home.last_error = std::move(of_lanes);
  return home.last_error.status;
}

void drop(ph_context& lane) noexcept {
  ph_context& home = *lane.home;
  const std::scoped_lock lock(home.lanes_mutex);
  std::erase_if(home.lanes, [&](const auto& one) { return one.get() == &lane; });
}

namespace {

ph_status open(ph_context& home, engine::Engine& engine, uint32_t number, ph_context** lane) {
  {
    const std::scoped_lock lock(home.lanes_mutex);
    if (home.opens_no_lanes)
      return engine.fail(PH_ERR_STATE, PH_ANY_RANK, "lane_open: the context is being finalized");
    if (home.lanes.size() + 1 >= home.config.max_lanes)
      return engine.fail(PH_ERR_MEMORY, PH_ANY_RANK,
                         "lane_open: all " + std::to_string(home.config.max_lanes) +
                             " lanes are open, the context's own included; close one or raise "
                             "PHOTON_MAX_LANES");
    home.lanes.reserve(home.lanes.size() + 1);
  }
  engine::Engine::Parts parts;
  if (const auto status = engine.open_lane(number, parts); status != PH_OK) return status;
  auto made = assemble(std::move(parts));
  if (!made) return engine.fail(made.error());
  std::shared_ptr<ph_context> opened(std::move(*made));
  opened->number = number;
  opened->home = &home;
  // Peers may wait for an answer to what this lane has read.
  const auto refuse = [&](ph_status status) {
    static_cast<void>(opened->engine->boot().leave());
    return status;
  };
  if (home.progress != nullptr && !home.progress->is_stopped())
    opened->progress = start_progress(*opened);
  // Before the first contact: who takes memory back from now on finds it (docs/lanes.md).
  const std::scoped_lock lock(home.lanes_mutex);
  if (home.opens_no_lanes)
    return refuse(
        engine.fail(PH_ERR_STATE, PH_ANY_RANK, "lane_open: the context is being finalized"));
  home.lanes.push_back(opened);
  if (opened->progress != nullptr) opened->progress->begin();
  *lane = opened.get();
  return PH_OK;
}

}  // namespace

}  // namespace photon::api

extern "C" {

ph_status ph_lane_open(ph_context* context, uint32_t number, ph_context** lane) {
  if (lane != nullptr) *lane = nullptr;
  return photon::api::in_lane(context, [&](auto& engine, auto&) {
    if (lane == nullptr)
      return engine.fail(PH_ERR_ARGUMENT, PH_ANY_RANK, "lane_open: lane is null");
    if (context->is_lane())
      return engine.fail(PH_ERR_ARGUMENT, PH_ANY_RANK,
                         "lane_open: this is a lane itself; name its context");
    if (number == 0)
      return engine.fail(PH_ERR_ARGUMENT, PH_ANY_RANK,
                         "lane_open: lane 0 is the context's own; numbers begin at 1");
    return photon::api::open(*context, engine, number, lane);
  });
}

ph_status ph_lane_close(ph_context* lane) {
  if (lane == nullptr) return PH_ERR_STATE;
  if (!lane->is_lane())
    return photon::api::in_lane<photon::api::Ends::posted>(lane, [](auto& engine, auto&) {
      return engine.fail(PH_ERR_ARGUMENT, PH_ANY_RANK,
                         "lane_close: this is a context, not a lane; use ph_finalize()");
    });
  try {
    if (photon::api::is_in_handler(*lane))
      return photon::api::in_lane<photon::api::Ends::posted>(lane, [](auto& engine, auto&) {
        return engine.fail(PH_ERR_STATE, PH_ANY_RANK,
                           "lane_close: called from a handler; let it return first");
      });
  } catch (const std::bad_alloc&) {
    return PH_ERR_MEMORY;
  }
  const ph_status status = photon::api::finish_lane(*lane);
  if (status == PH_ERR_FORKED) return status;  // its handle goes with the context's
  if (status != PH_OK) {
    // Its own words go with the handle.
    try {
      const photon::base::Error why = photon::api::error_of(*lane);
      photon::engine::LaneGuard guard(*lane->home->lane, photon::engine::LaneGuard::Kind::visit);
      if (guard.status() == PH_OK && lane->home->engine != nullptr) lane->home->engine->fail(why);
    } catch (const std::bad_alloc&) {  // then only the status tells
    }
  }
  photon::api::drop(*lane);
  return status;
}

uint32_t ph_lane_of(const ph_context* context) { return context == nullptr ? 0 : context->number; }

}  // extern "C"
