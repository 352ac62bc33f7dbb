#include "engine/progress_thread.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "base/signals.hpp"

namespace photon::engine {

namespace {

// As <linux/sched/types.h> has it, which glibc's headers do not bear beside their own.
struct SchedulingOfThread {
  std::uint32_t size_bytes;
  std::uint32_t policy;
  std::uint64_t flags;
  std::int32_t nice;
  std::uint32_t priority;
  std::uint64_t runtime_ns;  // of SCHED_OTHER, since Linux 6.12: the slice
  std::uint64_t deadline_ns;
  std::uint64_t period_ns;
};

// A thread that may run on one core only shares it with its caller. The scheduler lets a thread
// with short slices in soon when it wakes; others wait for the end of the caller's slice, which is
// some milliseconds. Where there are several cores, such threads wait longer than others for one
// whose thread yields. A kernel that knows nothing of that, or refuses, leaves all as it was.
void ask_for_short_slices() noexcept {
  constexpr std::uint64_t kSliceNs = 100'000;  // the shortest
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) != 1) return;
  SchedulingOfThread now{};
  if (::syscall(SYS_sched_getattr, 0, &now, sizeof now, 0) != 0 || now.policy != SCHED_OTHER)
    return;
  now.runtime_ns = kSliceNs;
  static_cast<void>(::syscall(SYS_sched_setattr, 0, &now, 0));
}

}  // namespace

// Its owner is complete before the thread begins: who is inside the lane cannot end one.
base::Result<std::shared_ptr<ProgressThread>> ProgressThread::start(Lane& lane, Engine& engine) {
  std::shared_ptr<ProgressThread> made(new ProgressThread(lane, engine));
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
  made->stand_in_.begin(made->summons_);
  return made;
}

ProgressThread::ProgressThread(Lane& lane, Engine& engine) noexcept
    : lane_(lane),
      engine_(engine),
      stand_in_(engine),
      silence_(engine.config().progress_silence_us),
      longest_(std::max(silence_, Microseconds(1000))),
      spin_(engine.config().spin_us),
      pause_(silence_),
      seen_(engine.turns()) {}

void ProgressThread::stop() noexcept {
  const std::scoped_lock one(stopping_);
  if (!thread_.joinable()) return;
  summons_.end();
  {
    LaneGuard guard(lane_, LaneGuard::Kind::visit);
    if (guard.status() == PH_OK) stand_in_.relieve();
    stopped_ = true;
  }
  thread_.join();
  LaneGuard guard(lane_, LaneGuard::Kind::visit);
  ended_ = true;
}

bool ProgressThread::pause(Microseconds time) {
  if (summons_.pause(time, time >= longest_) == Summons::Call::soon) {
    seen_ = engine_.turns();
    pause_ = silence_;  // if the caller is in a call just now
    summons_.pause_on(kSoon);
  }
  // The caller is not silent yet, for he has just posted.
  if (summons_.take_hurry()) summons_.pause_on(silence_);
  return !summons_.is_over();
}

void ProgressThread::run() {
  ask_for_short_slices();
  if (!summons_.await_begin()) return;
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
  auto turn_begins = idle_since;
  for (;;) {
    Rest rests;
    rests.at_once = turn_begins - idle_since >= spin_ || core_.is_shared(turn_begins);
    rests.behind = asleep_looks_ >= kLooksBeforeRest;
    rests.yields = yield_time_.lasts(turn_begins) && !core_.is_shared(turn_begins);
    Silence found = Silence::over;
    {
      LaneGuard guard(lane_, LaneGuard::Kind::stand_in);
      if (guard.status() == PH_OK) found = stand_in_.turn(guard, seen_, rests);
    }
    if (const auto slept = stand_in_.slept()) yield_time_.slept(*slept);
    if (found == Silence::over || found == Silence::asleep) return found;
    pause_ = silence_;
    ::sched_yield();  // the caller may need this core, or the lane
    const auto now = Clock::now();
    if (found == Silence::busy) {
      idle_since = now;
      yield_time_.moved(now);
    }
    if (found == Silence::quiet) core_.spun(turn_begins, now);
    turn_begins = now;
  }
}

}  // namespace photon::engine
