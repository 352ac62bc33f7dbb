// The photonruns of the hosts of `photonrun -H`, seen from the one that starts them: a HostProcess
// for each. Invariants: the key goes to their inputs and nowhere else; before the job begins the
// end of one ends all; none outlives this object's owner (PR_SET_PDEATHSIG). Owner: LaunchedHosts.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "feeder.hpp"
#include "host_acceptor.hpp"
#include "host_list.hpp"
#include "host_process.hpp"
#include "startup_wait.hpp"

namespace photonrun {

// How a photonrun of a host is called; everything but the key.
struct HostLaunchPlan {
  const Options& options;
  const Signals& signals;
  rlimit file_limit{};
  pid_t terminal_group = 0;
};

class HostLauncher final : public Attendant {
 public:
  HostLauncher(const HostLaunchPlan& plan, StartupWait startup_wait);

  // The hosts that get ranks, in their order, and where they are to join; throws
  // std::runtime_error: a HostProcess cannot be started.
  void start(const std::vector<Seat>& seats, const std::vector<std::string>& places,
             const std::string& key);

  void want(std::vector<pollfd>& entries) override;
  void handle(const std::vector<pollfd>& entries) override;
  void joined(unsigned seat) override;

  // All have joined: rank 0 gets our standard input.
  void begin();
  // While the job runs: only reads.
  bool read(const std::vector<pollfd>& entries);
  // Not one of ours: empty. Else what follows from its end, if it is out of order.
  const HostProcess* reaped(pid_t pid, int wait_status);
  // Looks for one that broke down though its end was not seen yet.
  const HostProcess* settle();
  // The job is over, the photonruns there end: waits for that, and until all they said is written.
  // The status, never 0 if something of it is lost. `limit`: of --timeout.
  int finish(int status, TimeLimit limit);

 private:
  // Throws std::runtime_error.
  [[noreturn]] void fail(HostProcess& host_process);
  bool is_over() const;
  void end_the_rest();
  void say_late();
  int judge_ends();

  HostLaunchPlan plan_;
  StartupWait startup_wait_;
  std::vector<std::unique_ptr<HostProcess>> processes_;
  Output& output_;
  std::size_t first_entry_ = 0;
};

}  // namespace photonrun
