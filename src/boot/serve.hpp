// What a rank does for its peers while it waits in a collective call.
//
// Owner: the caller of the collective, for its time. Threads: one at a time, the caller's or one
// that stands in for it (callback_progress.hpp).
#pragma once

#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>

namespace photon::boot {

class Serve {
 public:
  Serve() = default;
  // One that makes a turn, and returns whether something moved in it; void: nothing ever does.
  template <class Turn>
    requires std::invocable<Turn&> && (!std::same_as<std::remove_cvref_t<Turn>, Serve>)
  Serve(Turn turn) : turn_(in_full(std::move(turn))) {}  // NOLINT(google-explicit-constructor)

  // The same, with how to rest between two turns in which nothing moved: see arm().
  template <class Turn, class Arm>
  Serve(Turn turn, Arm arm) : turn_(in_full(std::move(turn))), arm_(std::move(arm)) {}

  explicit operator bool() const noexcept { return turn_ != nullptr; }
  // A turn. True: something moved, so there may be more; the caller does not rest before the next.
  bool operator()() const { return turn_(); }
  // A descriptor that news of the peers makes readable from now on, until the next turn. kNone:
  // there is none, so a rest has to be short. kNews: there is news already.
  int arm() const { return arm_ ? arm_() : kNone; }
  static constexpr int kNone = -1;
  static constexpr int kNews = -2;

 private:
  template <class Turn>
  static std::function<bool()> in_full(Turn turn) {
    if constexpr (std::is_void_v<std::invoke_result_t<Turn&>>)
      return [turn = std::move(turn)]() mutable {
        turn();
        return false;
      };
    else
      return turn;
  }

  std::function<bool()> turn_;
  std::function<int()> arm_;
};

}  // namespace photon::boot
