#include "engine/parts/summons.hpp"

#include <utility>

namespace photon::engine {

void Summons::begin() noexcept {
  {
    const std::scoped_lock lock(mutex_);
    begun_ = true;
  }
  changed_.notify_one();
}

void Summons::end() noexcept {
  {
    const std::scoped_lock lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
}

void Summons::call() noexcept {
  dozes_.set(0);
  {
    const std::scoped_lock lock(mutex_);
    hurried_ = true;
  }
  changed_.notify_one();
}

void Summons::come_soon() noexcept {
  {
    const std::scoped_lock lock(mutex_);
    is_wanted_soon_ = true;
  }
  changed_.notify_one();
}

bool Summons::await_begin() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return begun_ || over_; });
  return !over_;
}

Summons::Call Summons::pause(Microseconds time, bool is_long) {
  std::unique_lock lock(mutex_);
  dozes_.set(is_long ? 1 : 0);
  changed_.wait_for(lock, time, [this] { return over_ || hurried_ || is_wanted_soon_; });
  dozes_.set(0);
  if (!std::exchange(is_wanted_soon_, false)) return Call::none;
  hurried_ = false;
  return Call::soon;
}

bool Summons::take_hurry() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(hurried_, false);
}

void Summons::pause_on(Microseconds time) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, time, [this] { return over_; });
}

bool Summons::is_over() {
  const std::scoped_lock lock(mutex_);
  return over_;
}

}  // namespace photon::engine
