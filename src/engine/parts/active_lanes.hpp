// How many threads are at work in the lanes of a context: each wants a core.
//
//   silent -- kTurns turns within kBriefNs --> at work -- none such for kLongNs --> silent
//
// A lane that is open and not used, or whose thread dozes in ph_wait, is not counted. Lanes that
// one thread polls in turn count once.
// Invariant: a place is one lane's alone, unless there are more lanes than places.
// Owner: ActiveLanes the Memory of the context, any thread; ActiveLane an Engine, under the lane's
// lock.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>

#include "sync/hint.hpp"

namespace photon::engine {

class ActiveLanes {
 public:
  using Thread = std::uintptr_t;           // differs between threads that live
  static constexpr unsigned kPlaces = 32;  // who comes later shares the last
  static constexpr std::int64_t kLongNs = 250'000'000;

  unsigned enter() noexcept {
    const std::scoped_lock lock(mutex_);
    unsigned place = 0;
    while (place + 1 < kPlaces && (taken_ >> place & 1) != 0) ++place;
    taken_ |= 1U << place;
    return place;
  }
  void leave(unsigned place) noexcept {
    const std::scoped_lock lock(mutex_);
    places_[place].worked_ns.set(kNever);
    if (place + 1 < kPlaces) taken_ &= ~(1U << place);
  }

  void work(unsigned place, std::int64_t now_ns, Thread thread) noexcept {
    places_[place].thread.set(thread);
    places_[place].worked_ns.set(now_ns);
  }
  unsigned at_work(std::int64_t now_ns) const noexcept {
    std::array<Thread, kPlaces> threads;
    auto* end = threads.begin();
    for (const Place& place : places_) {
      const std::int64_t worked_ns = place.worked_ns.get();
      if (worked_ns == kNever || now_ns - worked_ns >= kLongNs) continue;
      const Thread thread = place.thread.get();
      if (std::find(threads.begin(), end, thread) == end) *end++ = thread;
    }
    return static_cast<unsigned>(end - threads.begin());
  }

 private:
  static constexpr std::int64_t kNever = 0;

  struct alignas(64) Place {
    sync::Hint<sync::HardwarePolicy, std::int64_t> worked_ns;
    sync::Hint<sync::HardwarePolicy, Thread> thread;  // that worked there last
  };

  std::array<Place, kPlaces> places_;
  std::mutex mutex_;
  std::uint32_t taken_ = 0;  // a bit each; under the mutex
};

class ActiveLane {
 public:
  explicit ActiveLane(ActiveLanes& active_lanes) noexcept
      : active_lanes_(active_lanes), place_(active_lanes.enter()) {}
  ~ActiveLane() { active_lanes_.leave(place_); }
  ActiveLane(const ActiveLane&) = delete;
  ActiveLane& operator=(const ActiveLane&) = delete;

  // Every so many turns, with the clock. How many threads are at work, this one included, is looked
  // up now and then: it takes the lines of their lanes away from them.
  unsigned note(std::int64_t now_ns, ActiveLanes::Thread thread) noexcept {
    if (now_ns - noted_ns_ < kBriefNs) active_lanes_.work(place_, now_ns, thread);
    noted_ns_ = now_ns;
    if (now_ns - counted_ns_ >= kBetweenCountsNs) {
      counted_ns_ = now_ns;
      at_work_ = std::max(1U, active_lanes_.at_work(now_ns));
    }
    return at_work_;
  }

 private:
  static constexpr std::int64_t kBriefNs = 20'000'000;
  static constexpr std::int64_t kBetweenCountsNs = 1'000'000;

  ActiveLanes& active_lanes_;
  const unsigned place_;
  unsigned at_work_ = 1;
  std::int64_t noted_ns_ = INT64_MIN / 2;
  std::int64_t counted_ns_ = INT64_MIN / 2;
};

}  // namespace photon::engine
