#include "engine/stand_in.hpp"

#include <chrono>
#include <new>

#include "base/finally.hpp"
#include "engine/engine.hpp"
#include "engine/services.hpp"

namespace photon::engine {

void StandIn::begin(Summons& thread) noexcept {
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

// Where memory runs out, what this thread was to run is run all the same: its bytes may be lent.
Silence StandIn::turn(LaneGuard& guard, std::uint64_t& seen, Rest rests) {
  engine_.is_standing_in_ = true;
  engine_.is_caller_back_ = false;
  engine_.stand_in_sleeps_ = false;
  slept_.reset();
  const base::Finally over([&]() noexcept {
    if (guard.status() == PH_OK) engine_.is_standing_in_ = false;
  });
  try {
    return turn_in_place(guard, seen, rests);
  } catch (const std::bad_alloc&) {
    if (guard.status() == PH_OK) {
      engine_.stand_in_sleeps_ = false;
      serve(guard);
    }
    throw;
  }
}

bool StandIn::is_dismissed() const noexcept {
  return engine_.relieved_ || engine_.services_->has_run_beside();
}

Silence StandIn::turn_in_place(LaneGuard& guard, std::uint64_t& seen, Rest rests) {
  constexpr unsigned kTurnsAtOnce = 16;
  Engine& engine = engine_;
  if (engine.relieved_ || engine.turn_ != seen) return Silence::over;
  if (engine.sleeping_ || engine.waiters_ != 0) {  // he is in a call: who sleeps there serves
    engine.is_caller_back_ = true;
    if (engine.sleeping_ && rests.behind)
      engine.rest(guard, -1, [this] { return is_dismissed(); });
    else if (engine.is_armed_ && rests.behind)
      rest_behind_descriptor(guard);
    return Silence::asleep;
  }
  bool moved = false;
  for (unsigned i = 0; i < kTurnsAtOnce && !moved; ++i) moved = engine.progress(nullptr);
  seen = engine.turn_;
  if (serve(guard) == Silence::busy) return guard.status() == PH_OK ? Silence::busy : Silence::over;
  if (moved) return Silence::busy;
  if (!rests.at_once && engine.has_core_to_spin_) return Silence::quiet;
  if (rests.yields && engine.services_->may_run_beside()) return Silence::quiet;
  return sleep(guard, seen);
}

// The user's code that is due and may run here. Busy: there was some.
Silence StandIn::serve(LaneGuard& guard) {
  engine_.services_->note_left();
  if (!engine_.services_->has_run_beside()) return Silence::quiet;
  engine_.services_->run(guard, true);
  return Silence::busy;
}

// What has come by its end, the caller being silent, is served in the same turn: his bias comes
// back only then, and bytes that are lent wait for it.
Silence StandIn::sleep(LaneGuard& guard, std::uint64_t seen) {
  using Clock = std::chrono::steady_clock;
  Engine& engine = engine_;
  const auto begin = Clock::now();
  engine.stand_in_sleeps_ = true;
  engine.rest(guard, -1, [this] { return is_dismissed(); });
  if (guard.status() != PH_OK) return Silence::over;
  engine.stand_in_sleeps_ = false;
  slept_ = Clock::now() - begin;
  engine.services_->note_left();
  if (engine.turn_ != seen) return Silence::over;
  serve(guard);
  return guard.status() == PH_OK ? Silence::busy : Silence::over;
}

}  // namespace photon::engine
