#include "task/collect/locks.hpp"

#include <algorithm>

namespace photon::task {

ph_status Lock::acquire(std::uint32_t rank) noexcept {
  std::unique_lock guard(mutex_);
  if (holder_ == rank) return PH_ERR_STATE;
  ++waiters_;
  freed_.wait(guard, [this] { return holder_ == kNobody; });
  --waiters_;
  holder_ = rank;
  return PH_OK;
}

ph_status Lock::try_acquire(std::uint32_t rank) noexcept {
  const std::scoped_lock guard(mutex_);
  if (holder_ == rank) return PH_ERR_STATE;
  if (holder_ != kNobody) return PH_AGAIN;
  holder_ = rank;
  return PH_OK;
}

// The lock may be destroyed as soon as it is free, so it is not touched behind the guard.
ph_status Lock::release(std::uint32_t rank) noexcept {
  const std::scoped_lock guard(mutex_);
  if (holder_ != rank) return PH_ERR_STATE;
  holder_ = kNobody;
  freed_.notify_one();
  return PH_OK;
}

bool Lock::is_unused() noexcept {
  const std::scoped_lock guard(mutex_);
  return holder_ == kNobody && waiters_ == 0;
}

std::uint32_t Lock::waiters() noexcept {
  const std::scoped_lock guard(mutex_);
  return waiters_;
}

Lock* Locks::create() {
  const std::scoped_lock guard(mutex_);
  all_.push_back(std::make_unique<Lock>());
  return all_.back().get();
}

ph_status Locks::destroy(const Lock* lock) noexcept {
  const std::scoped_lock guard(mutex_);
  const auto found = std::ranges::find(all_, lock, &std::unique_ptr<Lock>::get);
  if (found == all_.end()) return PH_ERR_ARGUMENT;
  if (!(*found)->is_unused()) return PH_ERR_STATE;
  std::swap(*found, all_.back());
  all_.pop_back();
  return PH_OK;
}

}  // namespace photon::task
