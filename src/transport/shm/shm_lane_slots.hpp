// Which places for gates, lane doorbells and doorbells a rank's open lanes have. A place is used
// again by a later lane: peers that still hold the earlier one ring false doorbells there, which
// cost a look, and wake its eventfd, which is another. Invariant: a slot has one holder. Owner: the
// lanes of a rank together. Threads: any.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace photon::transport::shm {

class LaneSlots {
  struct State {
    std::mutex mutex;
    std::vector<bool> taken;
  };

 public:
  explicit LaneSlots(std::size_t count) : state_(std::make_shared<State>()) {
    state_->taken.resize(count);
  }

  // Gives it back at its end.
  class Slot {
   public:
    Slot(std::shared_ptr<State> state, std::size_t number)
        : state_(std::move(state)), number_(number) {}
    Slot(Slot&&) noexcept = default;
    Slot& operator=(Slot&&) = delete;
    ~Slot() {
      if (state_ == nullptr) return;
      const std::scoped_lock lock(state_->mutex);
      state_->taken[number_] = false;
    }
    std::size_t number() const noexcept { return number_; }

   private:
    std::shared_ptr<State> state_;
    std::size_t number_;
  };

  // The lowest that is free.
  std::optional<Slot> take() {
    const std::scoped_lock lock(state_->mutex);
    for (std::size_t i = 0; i < state_->taken.size(); ++i) {
      if (state_->taken[i]) continue;
      state_->taken[i] = true;
      return std::optional<Slot>(std::in_place, state_, i);
    }
    return std::nullopt;
  }

 private:
  std::shared_ptr<State> state_;
};

}  // namespace photon::transport::shm
