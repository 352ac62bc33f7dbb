// All news of a lane on one descriptor: arm, look, wait for it with poll(2), probe.
//
//   not armed, readable -- arm(): nothing has come --> armed
//     ^  |                                              |
//     |  +- arm(): something has, since the last -+     |
//     |                                           v     |
//     +----------- any turn of progress ----------+-----+
//
// Armed, a lane is asleep as by Engine::rest(): its rings are cold, so its peers ring, and what
// ends a sleep of its transport's makes the descriptor readable. No wake-up is lost, for the same
// reason: arm() declares all that before it looks, and every descriptor stays readable until a
// poll() of the transport has dealt with its news. What comes from within (another thread's post, a
// ph_wake(), an operation that wants the clock) rings the doorbell: an armed descriptor counts
// among waiters_, whom news() tells. Other threads may sleep in the lane at the same time: whoever
// drains a descriptor of the transport tells the others. Owner: none, a view of an Engine. Threads:
// under the lane's lock.
#pragma once

#include <photon/types.h>

#include "engine/parts/lane.hpp"

namespace photon::engine {

class Engine;

class EventSource {
 public:
  explicit EventSource(Engine& engine) noexcept : engine_(engine) {}

  // The descriptor, made at the first call; it goes with the engine.
  ph_status descriptor(int& fd);
  // PH_AGAIN: look first. Throws bad_alloc: not armed.
  ph_status arm(LaneGuard& guard);
  void disarm();  // probe.cpp
  // For a collective of the bootstrap, which serves: the descriptor of a lane that is armed for it;
  // boot::Serve::arm() says what else. It takes nobody's news. end_rest(): it is over.
  int rest_on(LaneGuard& guard);
  void end_rest();
  // After a WakeWord that was set: whoever sleeps in the lane wakes up.
  void wake();

 private:
  ph_status arm_quietly(LaneGuard& guard, bool is_for_user);
  bool has_come() noexcept;
  ph_status look(LaneGuard& guard, bool is_for_user, std::int64_t& limit_us);
  void retreat(LaneGuard& guard) noexcept;

  Engine& engine_;
};

}  // namespace photon::engine
