// One job, in the launcher process: starts the ranks of this host, serves them, ends them.
// Invariant: run() returns with no process left below this one.
// Owner: the launcher process; one thread.
//
//   starting -all run-> running -last rank ended--------------------------------> over
//   starting, running -a signal, the time is up-> ending (SIGTERM)
//   starting, running -a rank failed, and it is known which came first-> ending; with --keep-going
//                                                                        it is named, no more
//   ending -last rank ended-> over        ending -grace period, second signal-> killing (SIGKILL)
//   killing -last rank ended-> over       any -the supervisor is gone-> killing
//
// Of a job on several hosts the root's Job decides when it ends, and how; a leaf's follows, and
// ends by itself only when it is told to by a signal or has lost the root.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "history.hpp"
#include "hosts.hpp"
#include "output.hpp"
#include "rank_process.hpp"

namespace photonrun {

class Job {
 public:
  // Throws std::system_error.
  Job(const LaunchPlan& plan, const StartupWait& startup_wait, Hosts& hosts);

  // The status photonrun exits with.
  int run();

 private:
  using Clock = std::chrono::steady_clock;
  enum class Phase { running, ending, killing };
  struct Ended {
    unsigned rank;
    End end;
    std::string text;  // who, and how
    bool is_told = false;
  };

  void start_ranks();
  void start_rank(unsigned rank);
  void turn();
  void handle_signals();
  void handle_signal(SignalEvent event);
  void handle_news(const News& news);
  void reap();
  void fail(int status, const std::string& text);
  void decide_ends();
  void tell_end(const Ended& one);
  void judge(bool is_final);
  void conclude();
  void name_unjoined() const;
  void check_clocks();
  void decide(int status, const std::string& text, SignalEvent event = {.number = SIGTERM});
  void end_job(SignalEvent event, std::string_view why);
  void kill_job();
  void signal_all(SignalEvent event);
  void signal_ranks(SignalEvent event) const;
  void drain_output();
  int poll_limit_ms() const;
  Clock::time_point patience_with_reader() const;
  bool any_running() const;
  std::string running_ranks() const;
  void say(std::string_view text);

  const LaunchPlan& plan_;
  const StartupWait& startup_wait_;
  const Signals& signals_;
  Hosts& hosts_;
  Output& output_;
  std::vector<RankProcess> ranks_;  // the first is rank hosts_.share().first
  std::vector<Ended> ended_;        // since we looked last
  History history_;
  std::vector<pollfd> entries_;
  Phase phase_ = Phase::running;
  std::optional<int> status_;  // decided by the first thing that ended the job
  std::optional<Clock::time_point> time_limit_;
  std::optional<Clock::time_point>
      judge_time_;  // a rank failed: until it is to be known which first
  std::optional<Clock::time_point> kill_time_;  // ending: of SIGKILL; killing: of giving up hosts
  bool has_turned_ = false;
  bool abandoned_ = false;  // the supervisor is gone: nobody reads what we would say
};

}  // namespace photonrun
