#include "engine/event_source.hpp"

#include <algorithm>
#include <utility>

#include "engine/engine.hpp"
#include "engine/services.hpp"

namespace photon::engine {

ph_status EventSource::descriptor(int& fd) {
  Engine& engine = engine_;
  if (engine.events_ == nullptr) {
    if (engine.transport_->sleepers()[0] == nullptr)
      return engine.fail(PH_ERR_NOT_FOUND, PH_ANY_RANK,
                         std::string("event_fd: transport ") + engine.transport_->name() +
                             " has no descriptor to wait for; use ph_wait()");
    auto made = EventDescriptor::create();
    if (!made) return engine.fail(made.error());
    engine.events_ = std::move(*made);
    engine.events_->seen_turn = engine.turn_;
    engine.has_concluded_ = true;  // may have, before anybody thought of arming
  }
  engine.events_->is_shown = true;
  fd = engine.events_->fd();
  return PH_OK;
}

// Since this was asked last.
bool EventSource::has_come() noexcept {
  Engine& engine = engine_;
  const std::uint64_t seen = std::exchange(engine.events_->seen_turn, engine.turn_);
  const bool has_met = std::any_of(engine.contacted_.begin(), engine.contacted_.end(),
                                   [seen](const Peer* peer) { return peer->last_hit > seen; });
  return std::exchange(engine.has_concluded_, false) || has_met || !engine.local_ready_.empty() ||
         !engine.unexpected_ready_.empty();
}

ph_status EventSource::arm(LaneGuard& guard) {
  Engine& engine = engine_;
  if (engine.events_ == nullptr || !engine.events_->is_shown)
    return engine.fail(PH_ERR_NOT_FOUND, PH_ANY_RANK,
                       "event_arm: there is no descriptor yet; ask for it by ph_event_fd()");
  if (engine.is_armed_) disarm();
  if (guard.wake_word().take() || has_come()) return PH_AGAIN;
  return arm_quietly(guard, true);
}

int EventSource::rest_on(LaneGuard& guard) {
  Engine& engine = engine_;
  if (engine.events_ == nullptr) {
    if (engine.transport_->sleepers()[0] == nullptr) return boot::Serve::kNone;
    auto made = EventDescriptor::create();
    if (!made) return boot::Serve::kNone;  // short rests, then
    engine.events_ = std::move(*made);
  }
  if (engine.is_armed_) disarm();
  const ph_status armed = arm_quietly(guard, false);
  if (armed == PH_AGAIN) return boot::Serve::kNews;
  return armed == PH_OK ? engine.events_->fd() : boot::Serve::kNone;
}

void EventSource::end_rest() {
  if (engine_.is_armed_) disarm();
  if (engine_.events_ != nullptr && !engine_.events_->is_shown) engine_.events_.reset();
}

ph_status EventSource::arm_quietly(LaneGuard& guard, bool is_for_user) {
  Engine& engine = engine_;
  if (engine.stand_in_sleeps_) engine.transport_->wake();
  engine.services_->before_sleep();
  guard.wake_word().arm();
  for (Peer* peer : engine.hot_) peer->rx.credits()->set_cold(true);
  engine.is_thaw_due_ = false;
  engine.transport_->arm();
  std::int64_t limit_us = 0;
  ph_status found = PH_ERR_MEMORY;
  try {
    found = look(guard, is_for_user, limit_us);
  } catch (...) {
    retreat(guard);
    throw;
  }
  if (found != PH_OK) {
    retreat(guard);
    return found;
  }
  engine.completions_.end_run();  // all that hands out completions goes the general way
  engine.stream_until_ = 0;
  engine.look_mask_ = 0;
  engine.events_->quiet(limit_us);
  engine.events_->word = &guard.wake_word();
  engine.is_armed_ = true;
  ++engine.waiters_;
  return PH_OK;
}

// The last look, and what to wait for if it finds nothing.
ph_status EventSource::look(LaneGuard& guard, bool is_for_user, std::int64_t& limit_us) {
  Engine& engine = engine_;
  constexpr std::int64_t kIdleUs = 1'000'000;  // as in Engine::rest()
  const bool is_news = engine.services_->has_news();
  if (engine.look_everywhere() || is_news) return PH_AGAIN;
  if (is_for_user && (has_come() || engine.user_code_ != 0 || guard.wake_word().is_set()))
    return PH_AGAIN;
  limit_us = engine.sleep_limit_us(-1);
  if (engine.give_back_idle() && (limit_us < 0 || limit_us > kIdleUs)) limit_us = kIdleUs;
  EventDescriptor::Fds fds;
  fds.fill(-1);
  const transport::Sleepers sleepers = engine.transport_->sleepers();
  for (std::size_t i = 0; i < sleepers.size(); ++i) {
    if (sleepers[i] == nullptr) continue;
    const transport::SleepOn on = sleepers[i]->sleep_on();
    std::copy(on.fds.begin(), on.fds.end(), fds.begin() + i * EventDescriptor::kEach);
    if (on.limit_us >= 0) limit_us = limit_us < 0 ? on.limit_us : std::min(limit_us, on.limit_us);
  }
  if (limit_us == 0) return PH_AGAIN;
  const auto watched = engine.events_->watch(fds);
  return watched ? PH_OK : engine.fail(watched.error());
}

void EventSource::retreat(LaneGuard& guard) noexcept {
  Engine& engine = engine_;
  if (!engine.sleeping_) {
    engine.thaw();
    engine.transport_->disarm();
  }
  if (engine.waiters_ == 0) guard.wake_word().disarm();
}

void EventSource::wake() { engine_.news(); }

}  // namespace photon::engine
