// The root of a job that it has started on all its hosts: a root without ranks of its own, and
// what was started.
// Invariant: the end of a HostProcess is told before what came of it. Owner: the launcher process.
#pragma once

#include <memory>

#include "host_launcher.hpp"
#include "hosts.hpp"

namespace photonrun {

class LaunchedHosts final : public RootHosts {
 public:
  LaunchedHosts(const Share& share, std::size_t fds_limit, std::vector<Joined> joined,
                std::unique_ptr<HostLauncher> host_launcher);

  void want(std::vector<pollfd>& entries) override;
  std::vector<News> handle(const std::vector<pollfd>& entries) override;
  std::vector<News> reaped(pid_t pid, int wait_status) override;
  bool has_children() const override { return true; }
  int close(int status, TimeLimit limit) override;

 private:
  std::unique_ptr<HostLauncher> host_launcher_;
};

// Starts photonrun on the hosts of options.hosts and waits until all have joined. Throws
// std::runtime_error and Interrupted.
std::unique_ptr<Hosts> start_hosts(const HostLaunchPlan& plan, const StartupWait& startup_wait,
                                   std::size_t fds_limit);

}  // namespace photonrun
