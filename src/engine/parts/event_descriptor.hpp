// One descriptor for all that may end a wait: an epoll(7) set of the transport's descriptors, a
// doorbell of ours and a clock.
//
// Invariant: the doorbell is rung whenever nobody promises that the others tell of everything.
// Owner: the engine. Threads: under the lane's lock; the descriptor itself may be waited for by
// any.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "engine/parts/lane.hpp"
#include "transport/transport.hpp"

namespace photon::engine {

class EventDescriptor {
 public:
  static constexpr std::size_t kEach = transport::SleepOn::kMostFds;
  static constexpr std::size_t kWatched = 2 * kEach;
  using Fds = std::array<int, kWatched>;  // -1: none

  static base::Result<std::unique_ptr<EventDescriptor>> create();

  int fd() const noexcept { return epoll_.get(); }
  // The others that make it readable from now on.
  base::Result<> watch(const Fds& fds) noexcept;
  // Which of them are; a bit each.
  unsigned ready() const noexcept;
  void ring() noexcept;
  // It is readable for the others only, and when so much time is over; < 0: never.
  void quiet(std::int64_t limit_us) noexcept;

  bool is_shown = false;           // to the application
  std::uint64_t seen_turn = 0;     // of the lane, when it was asked last what has come
  Lane::WakeWord* word = nullptr;  // of the lane that is armed

 private:
  EventDescriptor(base::UniqueFd epoll, base::UniqueFd doorbell, base::UniqueFd clock) noexcept;
  bool add(int fd, std::uint32_t tag) noexcept;

  base::UniqueFd epoll_;
  base::UniqueFd doorbell_;
  base::UniqueFd clock_;
  Fds watched_{};
  bool is_kicked_ = false;
  bool has_limit_ = false;
};

}  // namespace photon::engine
