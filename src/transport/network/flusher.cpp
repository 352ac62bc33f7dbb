#include "transport/network/flusher.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <system_error>
#include <utility>

#include "base/signals.hpp"

namespace photon::transport::network {

namespace {

// Longer than any hold of a rank that goes on, so that the two do not get in each other's way.
constexpr std::chrono::microseconds kTick(250);
constexpr unsigned kTicksUntilParked = 8;
constexpr unsigned kSlowestTick = 6;  // 2 to the power of this, in ticks: 16 ms
constexpr unsigned kCalmestTick = 3;  // while there are notes: 2 ms

}  // namespace

bool Flusher::note() {
  ++notes_;
  if (is_ticking_.get() != 0) return true;
  const std::scoped_lock lock(mutex_);
  if (is_ending_) return false;
  if (!std::exchange(is_noted_, true)) changed_.notify_one();
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
  const Visit visit(owners_);
  is_ticking_.set(0);
}

// How many ticks there have been since the last note is counted as well.
Flusher::Look Flusher::look(bool may_queue, unsigned& quiet_ticks) {
  const std::uint64_t comings = comings_.shown();
  const bool has_come = std::exchange(comings_seen_, comings) != comings;
  const auto count_quiet = [&] {
    const std::uint64_t notes = notes_.shown();
    return std::exchange(notes_seen_, notes) == notes ? quiet_ticks + 1 : 0;
  };
  if (has_come && quiet_ticks + 1 < kTicksUntilParked) {
    quiet_ticks = count_quiet();
    return Look::busy;
  }
  if (may_queue)
    owners_.visit();
  else if (!owners_.try_visit())
    return Look::busy;
  const Look found = flush_();
  quiet_ticks = count_quiet();
  is_ticking_.set(quiet_ticks < kTicksUntilParked ? 1 : 0);
  owners_.end_visit();
  return found;
}

void Flusher::run() {
  std::unique_lock lock(mutex_);
  constexpr unsigned kSlowest = kTicksUntilParked * kSlowestTick;  // quiet ticks
  unsigned quiet_ticks = std::exchange(is_due_later_, false) && !is_noted_ ? kSlowest : 0;
  unsigned needless_ticks = 0;  // the last ones
  is_ticking_.set(quiet_ticks == 0 ? 1 : 0);
  while (!is_ending_) {
    const unsigned slower = quiet_ticks / kTicksUntilParked;
    const unsigned power =
        std::max(std::min(slower, kSlowestTick), std::min(needless_ticks, kCalmestTick));
    changed_.wait_for(lock, kTick * (1 << power),
                      [&] { return is_ending_ || (slower != 0 && is_noted_); });
    if (is_ending_) break;
    is_due_later_ = is_noted_ = false;  // of what is noted from here on the look may see nothing
    lock.unlock();
    const Look found = look(slower != 0, quiet_ticks);
    lock.lock();
    const bool is_needless = found == Look::needless || found == Look::busy;
    needless_ticks = is_needless ? needless_ticks + 1 : 0;
    if (quiet_ticks < kTicksUntilParked || found == Look::left || found == Look::busy) continue;
    is_parked_ = true;
    needless_ticks = 0;
    changed_.wait(lock, [&] { return is_ending_ || is_noted_ || is_due_later_; });
    is_parked_ = false;
    quiet_ticks = std::exchange(is_due_later_, false) && !is_noted_ ? kSlowest : 0;
    if (quiet_ticks == 0) is_ticking_.set(1);
  }
}

}  // namespace photon::transport::network
