#include "transport/carried/flusher.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <system_error>
#include <utility>

#include "base/signals.hpp"

namespace photon::transport::carried {

namespace {

// Longer than any hold of a rank that goes on, so that the two do not get in each other's way.
constexpr std::chrono::microseconds kTick(250);
constexpr unsigned kTicksUntilParked = 8;
constexpr unsigned kSlowestTick = 6;  // 2 to the power of this, in ticks: 16 ms
constexpr unsigned kCalmestTick = 3;  // while there are notes: 2 ms

}  // namespace

bool Flusher::note() {
  const std::scoped_lock lock(mutex_);
  if (is_ending_) return false;
  ++notes_;
  if (is_parked_ || is_slow_) {
    changed_.notify_one();
    return true;
  }
  return start();
}

bool Flusher::note_later() {
  const std::scoped_lock lock(mutex_);
  if (is_ending_) return false;
  if (is_parked_ && !is_due_later_) changed_.notify_one();
  is_due_later_ = true;
  return start();
}

// Caller has our mutex.
bool Flusher::start() {
  if (thread_.joinable() || has_failed_) return !has_failed_;
  try {
    const base::SignalsLeftToOthers block;
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    has_failed_ = true;
  } catch (const std::bad_alloc&) {
    has_failed_ = true;
  }
  return !has_failed_;
}

void Flusher::stop() {
  {
    const std::scoped_lock lock(mutex_);
    is_ending_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

Flusher::Look Flusher::look(bool may_queue) {
  std::unique_lock lock(owners_, std::defer_lock);
  if (may_queue)
    lock.lock();
  else if (!lock.try_lock())
    return Look::busy;
  return flush_();
}

void Flusher::run() {
  std::unique_lock lock(mutex_);
  std::uint64_t seen = 0;
  constexpr unsigned kSlowest = kTicksUntilParked * kSlowestTick;  // quiet ticks
  unsigned quiet_ticks = 0;
  unsigned needless_ticks = 0;  // the last ones
  if (std::exchange(is_due_later_, false) && notes_ == 0) quiet_ticks = kSlowest;
  is_slow_ = quiet_ticks != 0;
  while (!is_ending_) {
    const unsigned slower = quiet_ticks / kTicksUntilParked;
    const unsigned power =
        std::max(std::min(slower, kSlowestTick), std::min(needless_ticks, kCalmestTick));
    changed_.wait_for(lock, kTick * (1 << power),
                      [&] { return is_ending_ || (slower != 0 && notes_ != seen); });
    if (is_ending_) break;
    is_due_later_ = false;  // of what is noted from here on the look may see nothing
    lock.unlock();
    const Look found = look(slower != 0);
    lock.lock();
    const bool is_needless = found == Look::needless || found == Look::busy;
    needless_ticks = is_needless ? needless_ticks + 1 : 0;
    quiet_ticks = notes_ == seen ? quiet_ticks + 1 : 0;
    seen = notes_;
    is_slow_ = quiet_ticks >= kTicksUntilParked;
    if (!is_slow_ || found == Look::left || found == Look::busy) continue;
    is_parked_ = true;
    needless_ticks = 0;
    changed_.wait(lock, [&] { return is_ending_ || notes_ != seen || is_due_later_; });
    is_parked_ = false;
    quiet_ticks = std::exchange(is_due_later_, false) && notes_ == seen ? kSlowest : 0;
    is_slow_ = quiet_ticks != 0;
  }
}

}  // namespace photon::transport::carried
