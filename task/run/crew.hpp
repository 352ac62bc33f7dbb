// The PEs of a process together: their threads, where they meet, and their end.
//
//   made -- launch() --> waiting at the gate -- open_gate(true) --> running: main, then served
//                                            -- open_gate(false) --> over
//   running -- end(), by the PE of rank 0: all mains are over, all processes have called --> over
//
// A meeting: each PE comes, serves its lane until the last one has come, and goes on.
// Argument that no PE sleeps through the last arrival: a PE looks at the round under the lock, and
// the last one changes it there before it wakes all; ph_wake() ends a wait that begins after it.
// Owner: whoever started; it frees itself at the end. Threads: its PEs.
#pragma once

#include <photon/task.h>

#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "task/run/pe.hpp"

namespace photon::task {

class Crew {
 public:
  // `context` is ended with the crew if it is the crew's own.
  Crew(std::unique_ptr<Shared> shared, ph_context* context, bool is_own);
  ~Crew();  // the lanes, and the context if it is its own
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  Shared& shared() noexcept { return *shared_; }
  ph_context* context() noexcept { return context_; }
  Pe& pe(std::uint32_t rank) noexcept { return *pes_[rank]; }
  // The parts of its PEs, which end when no PE runs any more, and before the PEs do.
  void keep(std::shared_ptr<void> parts) noexcept { parts_ = std::move(parts); }
  // Takes the lanes, one for each PE, as far as it says PH_OK; those are null then.
  ph_status take(std::vector<ph_context*>& lanes) noexcept;
  // The threads of the other PEs. PH_ERR_SYSTEM: there are no more.
  ph_status launch(ph_task_main main, void* user) noexcept;
  void open_gate(bool is_on);

  // By each PE: returns when all have called. Serves peers, runs nothing. False: it is excused.
  bool meet(Pe& pe) noexcept;
  // No meeting waits for this PE any more, nor it for others. Throws bad_alloc.
  void excuse(Pe& pe);
  // By each PE: are the handlers the same everywhere?
  ph_status agree(Pe& pe) noexcept;
  // By each PE of the job: returns when all have called, or a process is lost.
  ph_status barrier(Pe& pe) noexcept;
  // By the PE of rank 0: joins all others. The crew can be freed then.
  void end(Pe& pe) noexcept;
  // Closes the lanes, and finalizes the context if it is its own.
  ph_status close() noexcept;

 private:
  // What the PE of rank 0 has found out for all, between two meetings.
  struct Verdict {
    ph_status status = PH_OK;
    char text[256] = {};
  };

  std::uint64_t round() noexcept {
    const std::scoped_lock lock(mutex_);
    return round_;
  }
  bool end_round() noexcept;  // if all have come; under the lock
  void wake_others(const Pe& pe) noexcept;
  void work(Pe& pe, ph_task_main main, void* user) noexcept;
  static void leave(Pe& pe) noexcept;
  void drain(Pe& pe) noexcept;
  void compare_siblings(Verdict& verdict) noexcept;
  static void compare_processes(Pe& pe, Verdict& verdict) noexcept;
  static ph_status over_processes(Pe& pe, ph_coll_args& args) noexcept;
  static void farewell(Pe& pe) noexcept;

  std::unique_ptr<Shared> shared_;
  ph_context* context_;
  bool is_own_;
  std::vector<std::unique_ptr<Pe>> pes_;
  std::shared_ptr<void> parts_;
  std::vector<std::thread> threads_;
  std::promise<bool> gate_;
  std::shared_future<bool> is_on_;
  std::mutex mutex_;
  std::uint64_t round_ = 0;  // of meetings
  std::uint32_t present_ = 0;
  std::set<std::uint32_t> excused_;  // their ranks
  Verdict verdict_;
};

}  // namespace photon::task
