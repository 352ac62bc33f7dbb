// Quiescence of one lane at one rank: the machine of wave_states.hpp with its messages, its
// failures, and who is told of its end (docs/active-messages.md, "Quiescence").
//
//   nobody -- enter() --> waited for -- take() --> nobody
//                         waited for -- leave(): in time it did not end --> left -- enter() --> ...
//   nobody -- begin() --> promised -- its end completes the request --> nobody
//
// Invariants: of each neighbour at most one wave's message and one `broken` wait here for a line,
// so nothing is allocated but words for the user. A rank that was lost, whoever it is, ends the
// quiesce here, for what had gone to it or from it may never be handled; but one that has left in
// order ends it for its neighbours alone: others may hear of that before their parent tells them
// that all is over.
// Owner: Am, under the lane's lock.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>

#include "service/am/gate.hpp"
#include "service/am/wave_states.hpp"
#include "service/am/word.hpp"
#include "service/service.hpp"

namespace photon::service::am {

class Waves {
 public:
  // Whether nothing is under way of which this rank knows: no message waits here, or is being
  // handled, or has a payload that comes.
  using IsSettled = std::function<bool()>;

  Waves(Port& port, const Gates& gates, IsSettled is_settled, std::uint32_t waves_wanted = 2);

  // ---- for the user
  // Begins one, or goes on with one that was left. PH_OK: take() or leave() follows.
  ph_status enter();
  bool has_end() const noexcept { return end_.has_value(); }
  ph_status take();
  void leave() noexcept { is_waited_for_ = false; }
  ph_status begin(ph_request* request);

  // ---- for Am
  // `rest`: behind word 0. False: malformed.
  bool on_message(Rank from, Op op, std::span<const std::byte> rest) noexcept;
  void on_lost(Rank rank, ph_status why) noexcept;
  void on_room(Rank to) noexcept;
  void on_met(Rank rank) noexcept;  // what was kept for it goes with the next turn
  void turn() noexcept;             // what is left asks for its own, or waits for room
  // Whether look() may find anything.
  bool is_asked() const noexcept { return !is_closed_ && states_.is_all_there(); }
  // Something that was under way here may be over.
  void look() noexcept;
  void look_later() noexcept;  // the same, in a turn: inside of what must say nothing itself
  void close() noexcept;
  bool is_idle() const noexcept;
  std::uint64_t held() const noexcept;
  std::uint64_t waves() const noexcept { return waves_; }  // that have ended here

 private:
  struct Words {
    std::uint32_t count = 0;  // 0: none
    bool is_kept = false;     // for one who cannot be met yet: nobody waits for it
    std::array<std::uint64_t, 4> words{};
  };
  struct Unsaid {
    Words wave;
    Words broken;
  };

  ph_status may_begin(const char* call);
  ph_status meet();
  ph_status why_broken();
  bool hear_broken(Rank from, std::span<const std::uint64_t> words) noexcept;
  void do_next(const WaveStates::Next& next) noexcept;
  void say(std::size_t place, const Words& words) noexcept;
  void say_to_children(const WaveStamp& stamp, bool is_over) noexcept;
  void push(std::size_t place) noexcept;
  bool push(Rank to, Words& words) noexcept;
  void break_off(Rank rank, ph_status why, std::optional<std::size_t> told_by = {}) noexcept;
  void ended(ph_status status) noexcept;
  bool is_alone_and_ready() const noexcept;

  Port& port_;
  const Gates& gates_;
  IsSettled is_settled_;
  WaveStates states_;
  std::array<Unsaid, AmTree::kPlaces> unsaid_{};
  // How the one under way has ended, for who waits, or has left.
  std::optional<ph_status> end_;
  bool is_begun_ = false;  // by enter(); until take()
  bool is_waited_for_ = false;
  std::uint64_t promise_ = 0;  // of begin()
  bool is_closed_ = false;
  // Why it is broken; or, before it was begun, why the next one will be.
  ph_status why_ = PH_OK;
  Rank lost_ = 0;
  std::uint64_t waves_ = 0;
};

}  // namespace photon::service::am
