#include "engine/progress_thread.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <system_error>

#include "base/signals.hpp"

namespace photon::engine {

// A few turns, so that a caller who comes back waits for no more. `seen`: the turn at which he was
// silent; moved on by ours. Gives the lane up to sleep.
Silence Engine::stand_in(LaneGuard& guard, std::uint64_t& seen, Rest rests) {
  constexpr unsigned kTurnsAtOnce = 16;
  const auto dismissed = [this] { return relieved_; };
  stand_in_sleeps_ = false;
  if (relieved_ || turn_ != seen) return Silence::over;
  if (sleeping_ || waiters_ != 0) {  // he is in a call: who sleeps there serves
    if (sleeping_ && rests.behind) rest(guard, -1, dismissed);
    return Silence::asleep;
  }
  bool moved = false;
  for (unsigned i = 0; i < kTurnsAtOnce && !moved; ++i) moved = progress(nullptr);
  seen = turn_;
  if (moved) return Silence::busy;
  if (!rests.at_once && !oversubscribed_) return Silence::quiet;
  stand_in_sleeps_ = true;
  rest(guard, -1, dismissed);
  if (guard.status() != PH_OK) return Silence::over;
  stand_in_sleeps_ = false;
  return turn_ == seen ? Silence::busy : Silence::over;
}

void Engine::relieve() {
  relieved_ = true;
  news();
}

base::Result<std::unique_ptr<ProgressThread>> ProgressThread::start(Lane& lane, Engine& engine) {
  std::unique_ptr<ProgressThread> made(new ProgressThread(lane, engine));
  const base::SignalsLeftToOthers inherited;
  try {
    made->thread_ = std::thread([self = made.get()] { self->run(); });
  } catch (const std::system_error& error) {
    return base::Error{PH_ERR_SYSTEM, error.code().value(),
                       "cannot start the progress thread: " + error.code().message() +
                           "; allow more threads (ulimit -u, pids.max of the container), or leave "
                           "PHOTON_PROGRESS_THREAD off",
                       engine.rank()};
  }
  ::pthread_setname_np(made->thread_.native_handle(), "photon-progress");
  return made;
}

ProgressThread::ProgressThread(Lane& lane, Engine& engine) noexcept
    : lane_(lane),
      engine_(engine),
      silence_(engine.config().progress_silence_us),
      longest_(std::max(silence_, Microseconds(1000))),
      spin_(engine.config().spin_us),
      pause_(silence_),
      seen_(engine.turns()) {}

void ProgressThread::begin() noexcept {
  {
    const std::scoped_lock lock(mutex_);
    begun_ = true;
  }
  changed_.notify_one();
}

void ProgressThread::stop() noexcept {
  const std::scoped_lock one(stopping_);
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  {
    LaneGuard guard(lane_, LaneGuard::Kind::visit);
    if (guard.status() == PH_OK) engine_.relieve();
  }
  thread_.join();
}

bool ProgressThread::await_begin() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return begun_ || over_; });
  return !over_;
}

bool ProgressThread::pause(Microseconds time) {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, time, [this] { return over_; });
}

void ProgressThread::run() {
  if (!await_begin()) return;
  while (pause(pause_)) {
    const auto found = watch();
    asleep_looks_ = found == Silence::asleep ? asleep_looks_ + 1 : 0;
  }
}

// One look. Who calls all the time is looked at once a millisecond; whose calls are far apart is
// silent between them.
Silence ProgressThread::watch() {
  Silence found = Silence::over;
  const std::uint64_t turns = engine_.turns() - seen_;
  const auto paused = pause_;
  pause_ = turns == 0 || paused / turns < silence_ ? std::min(2 * paused, longest_) : silence_;
  if (turns == 0) {
    try {
      found = stand_in();
    } catch (const std::bad_alloc&) {
      // As in a call of the application: the next one goes on.
    }
  }
  seen_ = engine_.turns();
  return found;
}

// Until the caller is back.
Silence ProgressThread::stand_in() {
  // A caller who sleeps often and shortly must not have us to wake each time.
  constexpr unsigned kLooksBeforeRest = 16;
  using Clock = std::chrono::steady_clock;
  auto idle_since = Clock::now();
  for (;;) {
    Rest rests;
    rests.at_once = Clock::now() - idle_since >= spin_;
    rests.behind = asleep_looks_ >= kLooksBeforeRest;
    Silence found = Silence::over;
    {
      LaneGuard guard(lane_, LaneGuard::Kind::stand_in);
      if (guard.status() == PH_OK) found = engine_.stand_in(guard, seen_, rests);
    }
    if (found == Silence::over || found == Silence::asleep) return found;
    pause_ = silence_;
    if (found == Silence::busy) idle_since = Clock::now();
    ::sched_yield();  // the caller may need this core, or the lane
  }
}

}  // namespace photon::engine
