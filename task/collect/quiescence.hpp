// Quiescence: a handler runs when nothing is left to do in the job (docs/tasks.md, "Quiescence").
//
//   request: ask() --> asked of the leader -- done --> its message is queued here
//                      asked -- the leader is lost --> asked of the next one
//   wave:    begin comes of the parent, and its leader is the lowest process that lives
//              --> open: own counts are read, and it is passed on
//            begin comes of the parent, and a lower one lives --> answered as void
//            open -- an answer of each below, or their loss --> answered: to whom it came of
//            open -- a later wave comes --> dropped
//   leader:  resting -- a request --> waiting, if a lower process lives for this PE; else wave
//            waiting -- the lower ones are dead --> wave -- even --> wave at once -- the same -->
//            done to those that had asked before it began;  wave -- another end --> pause --> wave
//
// The leader is the first PE of the lowest process that lives. Waves go down a tree of the
// processes that its leader takes for living, with four branches, and there from the first PE to
// its siblings. Who sends what is checked: "begin" is taken of the parent in that tree alone, and
// "done" of the leader that was asked. Invariant: a PE takes part in one wave at a time, the
// greatest it has heard of; a request is answered by a pair of waves of which the second began
// after it had come to the leader. Owner: a PE, whose thread makes every call. Its messages are not
// counted.
#pragma once

#include <cstdint>
#include <vector>

#include "task/collect/deaths.hpp"
#include "task/collect/tally.hpp"
#include "task/run/pe.hpp"
#include "task/run/route.hpp"

namespace photon::task {

class Quiescence {
 public:
  explicit Quiescence(Pe& pe);
  ~Quiescence();
  Quiescence(const Quiescence&) = delete;
  Quiescence& operator=(const Quiescence&) = delete;

  // Has the answer queued here when nothing is left to do; it is the library's from then on.
  // Throws bad_alloc: nothing was done.
  void ask(Message& answer);
  // So many waves has this PE led.
  std::uint64_t waves() const noexcept { return waves_begun_; }
  // So many PEs have asked this one to lead.
  std::size_t askers() const noexcept { return asked_.size(); }
  // So many timers of its own are armed.
  std::size_t timers() const noexcept {
    return (is_watching_ ? 1U : 0U) + (pause_timer_ != 0 ? 1U : 0U);
  }
  // A message of Kind::wave, which is over then. Throws bad_alloc.
  void take(Message& message);

 private:
  static constexpr std::uint64_t kWatchUs = 10'000;  // between two looks at who is dead
  static constexpr std::uint64_t kFirstPauseUs = 50;
  static constexpr std::uint64_t kLongestPauseUs = 2'000;

  struct Request {
    std::uint64_t number;
    Message* answer;
  };
  // The requests of a PE at their leader. Their numbers rise, so the last one stands for all.
  struct Asked {
    std::uint32_t pe;
    std::uint64_t number;     // 0: none
    std::uint64_t from_wave;  // it has come before that one began
  };
  struct Wave {
    WaveName name;
    bool is_open = false;
    std::uint32_t parent = 0;
    std::vector<std::uint32_t> awaited;  // PEs
  };

  std::uint32_t first_of(std::uint32_t process) const noexcept {
    return process * pe_.shared().pes;
  }
  bool send(std::uint32_t to, Message* message) noexcept;
  void ask_leader(std::uint64_t number) noexcept;

  void on_ask(std::uint32_t pe, std::uint64_t number);
  void on_done(std::uint32_t pe, std::uint64_t number) noexcept;
  void on_begin(const WaveName& name, std::uint32_t parent, const ProcessSet& dead);
  void open_wave(const WaveName& name, std::uint32_t parent, const ProcessSet& dead);
  void find_living(std::uint32_t leader, const ProcessSet& dead);
  // Of that wave; living_ is filled then.
  bool is_parent(std::uint32_t pe, const WaveName& name, const ProcessSet& dead);
  Route route_of(const WaveName& name) const noexcept { return {name.leader, living_}; }
  void on_answer(const WaveFront& front, Message& message);
  void pass_on(const ProcessSet& dead);
  void answer();
  void send_answer(const WaveName& name, std::uint32_t parent, const Tally& tally) noexcept;

  // The leader.
  bool leads() const noexcept { return deaths_.lowest() == pe_.shared().process; }
  void lead();
  void begin_wave();
  void end_wave();
  void pause();
  void give_answers();

  // Timers.
  void watch();
  static void on_watch(ph_task_pe* pe, void* self);
  static void on_pause(ph_task_pe* pe, void* self);
  void look_for_deaths();

  Pe& pe_;
  Deaths deaths_;
  std::uint32_t leader_ = 0;  // whom the requests were asked of
  std::uint64_t requests_made_ = 0;
  std::vector<Request> requests_;
  bool is_watching_ = false;

  Wave wave_;
  Tally tally_;
  // What the message says that is being taken; kept, so that nothing is allocated.
  ProcessSet told_;
  Tally its_;
  std::vector<std::uint32_t> living_;  // processes above the leader, for `begin`

  std::vector<Asked> asked_;
  std::uint64_t waves_begun_ = 0;
  bool is_wave_under_way_ = false;
  bool has_last_ = false;
  Tally last_;  // an even one, of the wave before
  std::uint64_t pause_us_ = kFirstPauseUs;
  std::uint64_t pause_timer_ = 0;  // 0: none is armed
};

}  // namespace photon::task
