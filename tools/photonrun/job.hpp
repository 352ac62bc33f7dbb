// One job, in the launcher process: starts the ranks, serves them, ends them.
// Invariant: run() returns with no process left below this one.
// Owner: the launcher process; one thread.
//
//   starting -all run-> running -last rank ended--------------------------------> over
//   starting, running -a rank failed, a signal, the time is up-> ending (SIGTERM)
//   ending -last rank ended-> over        ending -grace period, second signal-> killing (SIGKILL)
//   killing -last rank ended-> over       any -the guardian is gone-> killing
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker.hpp"
#include "output.hpp"
#include "rank_process.hpp"

namespace photonrun {

class Job {
 public:
  // lifeline: end of file there means that the guardian is gone. Throws std::system_error.
  Job(const LaunchPlan& plan, const Signals& signals, Fd lifeline, std::size_t fds_limit);

  // The status photonrun exits with.
  int run();

 private:
  using Clock = std::chrono::steady_clock;
  enum class Phase { running, ending, killing };

  void start_ranks();
  void start_rank(unsigned rank);
  void turn();
  void handle_signals();
  void handle_signal(SignalEvent event);
  void reap();
  void note_ends(const std::vector<unsigned>& ended);
  void check_clocks();
  void end_job(SignalEvent event);
  void kill_job();
  void signal_all(SignalEvent event) const;
  void drain_output();
  int poll_limit_ms() const;
  bool any_running() const;
  std::string running_ranks() const;
  void say(std::string_view text) const;

  const LaunchPlan& plan_;
  const Signals& signals_;
  Fd lifeline_;
  Broker broker_;
  Output output_;
  std::vector<RankProcess> ranks_;
  std::vector<pollfd> entries_;
  Phase phase_ = Phase::running;
  std::optional<int> status_;  // decided by the first thing that ended the job
  std::optional<Clock::time_point> time_limit_;
  std::optional<Clock::time_point> kill_time_;
  bool abandoned_ = false;  // the guardian is gone: nobody reads what we would say
};

}  // namespace photonrun
