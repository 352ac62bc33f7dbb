// Starts one rank and speaks of its process.
// Invariant: signals go to it only while it is not reaped: its pid and its group are its own then.
// Owner: Job.
#pragma once

#include <photon/launch.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <optional>
#include <string>

#include "fd.hpp"
#include "options.hpp"
#include "share.hpp"
#include "signals.hpp"

namespace photonrun {

// The library's setting of the addresses by which the launchers met, and what photonrun has set it
// to, so that a photonrun inside a rank can tell that from a user's.
inline constexpr const char* kPreferredVariable = "PHOTON_TCP_PREFERRED";
inline constexpr const char* kMetVariable = "PHOTON_LAUNCH_MET";

// What all ranks share at their start.
struct LaunchPlan {
  const Options& options;
  const Signals& signals;
  std::string program;  // found
  Share share;          // the ranks of this host
  std::string met;      // as Hosts says
  // Rank 0's group if it reads a terminal, which only the foreground group may; else 0.
  pid_t terminal_group = 0;
  rlimit file_limit{};  // as photonrun was started; the launcher raises its own
};

// How a process ended; exec_errno is set if it never became the program.
struct End {
  bool by_signal = false;
  int value = 0;  // exit status or signal
  int exec_errno = 0;

  bool failed() const { return by_signal || value != 0; }
  int status() const { return by_signal ? 128 + value : value; }
};

// photonrun's own status where it could not do its part.
inline constexpr int kLauncherStatus = 125;
// After --timeout.
inline constexpr int kTimeoutStatus = 124;

// As the other ranks are told.
ph_launch_gone gone_of(const End& end);

class RankProcess {
 public:
  // Forks and waits until the program runs or could not be started. Throws std::system_error if
  // there can be no process. `channel` is the rank's end of the launcher protocol; the pipes' write
  // ends become its output if present.
  RankProcess(unsigned rank, const LaunchPlan& plan, Fd channel, Fd output, Fd error);

  pid_t pid() const { return pid_; }
  unsigned rank() const { return rank_; }
  bool running() const { return !end_; }
  const std::optional<End>& end() const { return end_; }
  // waitpid() reported it.
  void set_reaped(int wait_status);
  // To its whole group; a signal typed at the terminal reached rank 0 there already.
  void signal(SignalEvent event) const;
  // "rank 3 (pid 1234) was killed by signal 11 (Segmentation fault)"
  std::string describe(const std::string& program) const;

 private:
  unsigned rank_;
  pid_t pid_ = 0;
  bool own_group_;
  int exec_errno_ = 0;
  std::optional<End> end_;
};

}  // namespace photonrun
