// A lack of room that lasts: said once on stderr, for programs that do not look at
// PHOTON_ERROR_RESOURCE end in a loop of which nobody knows what it waits for.
//
//   quiet -- refused --> watching the rank for which most waits -- refused, kLasting later -->
//     nothing has gone to it, and nothing was taken: said, for good
//     else: watching anew
//
// Owner: the session. Any thread; its lock is held over looks, which never block.
#pragma once

#include <photon/photon.h>

#include <chrono>
#include <cstdint>
#include <mutex>

namespace photon::classic {

class BackPressure {
 public:
  // Whether the call that ended with this status may be called again and lost nothing: there was no
  // room, or no memory while operations are under way, which give theirs back.
  static bool is_refusal(ph_context* context, ph_status status) noexcept;

  // A call was refused.
  void note(ph_context* context) noexcept;

 private:
  using Clock = std::chrono::steady_clock;
  // One look at one rank: its waiting operations, and the lines sent to it so far.
  struct Look {
    ph_rank rank = 0;
    std::uint64_t waiting = 0;
    std::uint64_t lines_sent = 0;
  };
  static Look look_at(ph_context* context, ph_rank rank) noexcept;
  static ph_rank fullest(ph_context* context) noexcept;

  std::mutex mutex_;
  Look first_;  // under it, as is all
  Clock::time_point since_;
  bool is_watching_ = false;
  bool was_said_ = false;
};

}  // namespace photon::classic
