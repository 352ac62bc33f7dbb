#include "engine/stand_in.hpp"

#include <chrono>

#include "base/finally.hpp"
#include "engine/engine.hpp"
#include "engine/services.hpp"

namespace photon::engine {

void StandIn::begin(ProgressThread& thread) noexcept {
  engine_.relieved_ = false;
  engine_.progress_thread_ = &thread;
}

void StandIn::relieve() {
  engine_.relieved_ = true;
  engine_.progress_thread_ = nullptr;
  engine_.news();
}

// Whoever waits on it serves. What disarms it is news.
void StandIn::rest_behind_descriptor(LaneGuard& guard) {
  Engine& engine = engine_;
  std::unique_lock lock(engine.news_mutex_);
  const auto seen = engine.news_count_;
  engine.is_standing_in_ = false;
  guard.release();
  engine.news_.wait_for(lock, std::chrono::seconds(1), [&] { return engine.news_count_ != seen; });
  lock.unlock();
  guard.retake();
}

Silence StandIn::turn(LaneGuard& guard, std::uint64_t& seen, Rest rests) {
  engine_.is_standing_in_ = true;
  const base::Finally over([&]() noexcept {
    if (guard.status() == PH_OK) engine_.is_standing_in_ = false;
  });
  return turn_in_place(guard, seen, rests);
}

Silence StandIn::turn_in_place(LaneGuard& guard, std::uint64_t& seen, Rest rests) {
  constexpr unsigned kTurnsAtOnce = 16;
  Engine& engine = engine_;
  const auto dismissed = [&engine] {
    return engine.relieved_ || engine.services_->has_run_beside();
  };
  engine.stand_in_sleeps_ = false;
  if (engine.relieved_ || engine.turn_ != seen) return Silence::over;
  if (engine.sleeping_ || engine.waiters_ != 0) {  // he is in a call: who sleeps there serves
    if (engine.sleeping_ && rests.behind)
      engine.rest(guard, -1, dismissed);
    else if (engine.is_armed_ && rests.behind)
      rest_behind_descriptor(guard);
    return Silence::asleep;
  }
  bool moved = false;
  for (unsigned i = 0; i < kTurnsAtOnce && !moved; ++i) moved = engine.progress(nullptr);
  seen = engine.turn_;
  engine.services_->note_left();
  if (engine.services_->has_run_beside()) {
    engine.services_->run(guard, true);
    return guard.status() == PH_OK ? Silence::busy : Silence::over;
  }
  if (moved) return Silence::busy;
  if (!rests.at_once && engine.has_core_to_spin_) return Silence::quiet;
  engine.stand_in_sleeps_ = true;
  engine.rest(guard, -1, dismissed);
  if (guard.status() != PH_OK) return Silence::over;
  engine.stand_in_sleeps_ = false;
  return engine.turn_ == seen ? Silence::busy : Silence::over;
}

}  // namespace photon::engine
