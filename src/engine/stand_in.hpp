// How a thread stands in for the caller of a lane who is silent (docs/progress-thread.md): turns of
// progress and rest in his place.
// Owner: the ProgressThread. Threads: every member is called with the lane's lock held.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace photon::engine {

class Engine;
class LaneGuard;
class Summons;

// What the caller was found to do.
enum class Silence : std::uint8_t { over, asleep, quiet, busy };

// When the thread sleeps.
struct Rest {
  bool at_once = false;  // if nothing moves; where threads are more than cores, always
  bool behind = false;   // the caller who sleeps
  bool yields = false;   // not yet, if the user's code runs here: more may come soon
};

class StandIn {
 public:
  explicit StandIn(Engine& engine) noexcept : engine_(engine) {}

  // From here on until relieve() the engine calls the thread (Summons::hurry) when an
  // operation queues.
  void begin(Summons& thread) noexcept;
  // A few turns, so that a caller who comes back waits for no more. `seen`: the turn at which he
  // was silent; moved on by ours. Gives the lane up to sleep.
  Silence turn(LaneGuard& guard, std::uint64_t& seen, Rest rests);
  // How long the last turn slept, if it did.
  std::optional<std::chrono::nanoseconds> slept() const noexcept { return slept_; }
  // It has to end: no turn does anything any more, and one that sleeps wakes up.
  void relieve();

 private:
  Silence turn_in_place(LaneGuard& guard, std::uint64_t& seen, Rest rests);
  Silence serve(LaneGuard& guard);
  Silence sleep(LaneGuard& guard, std::uint64_t seen);
  bool is_dismissed() const noexcept;
  void rest_behind_descriptor(LaneGuard& guard);

  Engine& engine_;
  std::optional<std::chrono::nanoseconds> slept_;  // the thread's own
};

}  // namespace photon::engine
