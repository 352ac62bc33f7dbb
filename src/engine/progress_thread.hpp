// The thread that serves the peers of a lane while its caller computes.
//
//   started -- begin() --> watching
//   watching -- a look: no turn since the last --> standing in -- nothing moves --> asleep
//     ^  ^                                              |   ^                         |
//     |  +------ the caller is back, or is inside ------+   +------ a peer came ------+
//     +------------------------- the caller is back, and has woken it ----------------+
//   any -- stop() --> ended
//
// It never takes a completion. How it learns of silence, and why it costs the caller nothing:
// docs/progress-thread.md.
// Owner: the handle of the context, or of the lane; it ends before the engine does. In a fork's
// child it is not there, and its object must not be touched.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

#include "base/result.hpp"
#include "engine/engine.hpp"
#include "engine/parts/lane.hpp"
#include "engine/parts/shared_core.hpp"
#include "engine/parts/summons.hpp"
#include "engine/parts/yield_time.hpp"
#include "engine/stand_in.hpp"

namespace photon::engine {

class ProgressThread {
 public:
  // Lane and engine outlive it. The caller is inside the lane, or nobody else has it yet; the
  // thread touches neither before begin(). Throws bad_alloc.
  static base::Result<std::shared_ptr<ProgressThread>> start(Lane& lane, Engine& engine);
  ~ProgressThread() { stop(); }
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;

  // Cannot fail: whoever must not be served before he is known to others starts the thread first.
  void begin() noexcept { summons_.begin(); }
  // Ends it and waits for that. Idempotent; any thread, outside the lane.
  void stop() noexcept;
  // In the lane: stop() was called; it has, and there is no thread any more.
  bool is_stopped() const noexcept { return stopped_; }
  bool has_ended() const noexcept { return ended_; }
  bool dozes() const noexcept { return summons_.dozes(); }

 private:
  using Microseconds = std::chrono::microseconds;
  // Who has called it to come soon, and makes no turn in this time, is stood in for.
  static constexpr Microseconds kSoon{10};

  ProgressThread(Lane& lane, Engine& engine) noexcept;
  void run();
  bool pause(Microseconds time);  // false: it is over
  Silence watch();
  Silence stand_in();

  Lane& lane_;
  Engine& engine_;
  StandIn stand_in_;
  const Microseconds silence_;
  const Microseconds longest_;  // pause
  const Microseconds spin_;
  Microseconds pause_;         // before the next look; this and below: the thread's own
  std::uint64_t seen_ = 0;     // turn of the last look
  unsigned asleep_looks_ = 0;  // in a row that found the caller asleep in a call
  SharedCore core_;
  YieldTime yield_time_;
  Summons summons_;
  bool stopped_ = false;  // this and below: in the lane
  bool ended_ = false;
  std::mutex stopping_;
  std::thread thread_;  // under stopping_
};

}  // namespace photon::engine
