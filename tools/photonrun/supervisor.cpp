#include "supervisor.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <photon/launch.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include "call_failed.hpp"
#include "descendants.hpp"
#include "find_program.hpp"
#include "job.hpp"
#include "job_key.hpp"
#include "launched_hosts.hpp"
#include "look_up.hpp"

namespace photonrun {
namespace {

// Standard ones, signals, pipes of a rank being started; pending connections, while other hosts
// join.
constexpr std::size_t kOwnFds = 64;
constexpr unsigned kFdsPerHost =
    8;  // its connection; of its host_process four, while it starts more
constexpr auto kLastWordsTime = std::chrono::seconds(1);
constexpr auto kCommandsTime = std::chrono::seconds(30);
constexpr std::size_t kFdsPerRank = 4;      // channel, its pidfd, two output pipes
constexpr std::size_t kNextFdsPerRank = 2;  // a channel and pidfd of the next generation

// Raises our limit to the highest allowed. What is left over the fixed need bounds the descriptors
// of ranks that the exchange holds. `connections`: to other hosts. Throws std::runtime_error where
// there are not even enough.
std::size_t reserve_fds(unsigned ranks, unsigned connections) {
  rlimit limit{.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {  // a sandbox may refuse even to tell
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    ::getrlimit(RLIMIT_NOFILE, &limit);
  }
  const std::size_t needed = kOwnFds + kFdsPerRank * ranks +
                             (connections == 0 ? 0 : pending_limit(connections) + connections);
  const std::size_t available = std::min<std::size_t>(limit.rlim_cur, 1 << 20);
  if (available < needed + PH_LAUNCH_MAX_FDS) {
    throw std::runtime_error(fmt::format(
        "{} ranks need {} open files, the limit is {}; raise it (ulimit -Hn) or start fewer", ranks,
        needed, available));
  }
  // Who wants to join again needs more; where there is little, half of it.
  const std::size_t spare = available - needed;
  return spare - std::min(kNextFdsPerRank * ranks, (spare - PH_LAUNCH_MAX_FDS) / 2);
}

// An outer photonrun's channel ends here: our ranks belong to the inner job.
void leave_outer_job() {
  const char* const text = std::getenv(PH_LAUNCH_FD_VARIABLE);
  if (!text) return;
  // How the hosts of the outer job met says nothing of the inner one's. What a user has set stays.
  const char* const met = std::getenv(kMetVariable);
  const char* const preferred = std::getenv(kPreferredVariable);
  if (met && preferred && std::string_view(met) == preferred) ::unsetenv(kPreferredVariable);
  ::unsetenv(kMetVariable);
  const int fd = std::atoi(text);
  int domain = 0;
  socklen_t domain_bytes = sizeof domain;
  const bool is_channel = fd > STDERR_FILENO &&
                          ::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &domain_bytes) == 0 &&
                          domain == AF_UNIX;
  if (is_channel) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

std::unique_ptr<Hosts> be_root(const Options& options, const StartupWait& startup_wait) {
  const Share share{.size = options.size, .first = 0, .here = options.here};
  const std::size_t fds_limit = reserve_fds(share.here, share.size - share.here);
  std::string key = read_job_key(options.key_file);
  HostAcceptor acceptor(listen_at(parse_host_port(options.root), startup_wait), std::move(key),
                        share.size - share.here, startup_wait);
  return std::make_unique<RootHosts>(share, fds_limit,
                                     acceptor.run(options.wait_s.value_or(kRootWaitS)));
}

std::unique_ptr<Hosts> be_leaf(const Options& options, const StartupWait& startup_wait) {
  const std::size_t fds_limit = reserve_fds(options.here, 1);
  const Application application{.root = parse_host_port(options.join),
                                .key = read_job_key(options.key_file),
                                .ranks = options.here,
                                .wait_s = options.wait_s.value_or(kLeafWaitS)};
  return std::make_unique<LeafHosts>(join_job(application, startup_wait), fds_limit);
}

// The root said where our ranks begin; who started us is to say when. Each may be gone without the
// other's end telling it: ssh may hold our input open.
void await_begin(HostConnection& connection, const StdinCommands& orders,
                 const StartupWait& startup_wait, double wait_s) {
  const auto until =
      StartupWait::Clock::now() + std::chrono::duration_cast<StartupWait::Clock::duration>(
                                      std::chrono::duration<double>(wait_s));
  while (!orders.begun()) {
    std::vector<pollfd> entries;
    connection.want(entries);
    startup_wait.wait(entries, until);
    connection.handle(entries.front());
    if (orders.begun()) return;
    if (connection.is_at_end()) {
      throw std::runtime_error(fmt::format("{} ended before it said \"begin\"", connection.name()));
    }
    if (StartupWait::Clock::now() >= until) {
      throw std::runtime_error(
          fmt::format("who started this photonrun does not say \"begin\" within {} s", wait_s));
    }
  }
}

// Started by a photonrun of another host, which gives orders on our standard input.
std::unique_ptr<Hosts> be_seated(const LaunchPlan& plan, const StartupWait& own) {
  const auto listen_until = [until = StartupWait::Clock::now() +
                                     kCommandsTime](const StartupWait& startup_wait) {
    std::vector<pollfd> none;
    startup_wait.wait(none, until);
    if (StartupWait::Clock::now() >= until)
      throw std::runtime_error("who started this photonrun is silent");
  };
  const Options& options = plan.options;
  StdinCommands orders(STDIN_FILENO);
  const StartupWait startup_wait(own.signals(), own.lifeline(), own.output(), &orders);
  const std::size_t fds_limit = reserve_fds(options.here, 1);
  while (!orders.has_key()) listen_until(startup_wait);
  const Application application{.root = parse_host_port(options.join),
                                .key = orders.take_key(),
                                .ranks = options.here,
                                .seat = options.seat,
                                .wait_s = options.wait_s.value_or(kLeafWaitS)};
  auto membership = join_job(application, startup_wait);
  await_begin(*membership.connection, orders, startup_wait, application.wait_s);
  return std::make_unique<LeafHosts>(std::move(membership), fds_limit);
}

std::unique_ptr<Hosts> be_host_process(const LaunchPlan& plan, const StartupWait& startup_wait) {
  const Options& options = plan.options;
  const HostLaunchPlan host_launcher{.options = options,
                                     .signals = plan.signals,
                                     .file_limit = plan.file_limit,
                                     .terminal_group = plan.terminal_group};
  const auto hosts = static_cast<unsigned>(options.hosts.size());
  return start_hosts(host_launcher, startup_wait, reserve_fds(0, kFdsPerHost * hosts));
}

// Waits for the other hosts, if there are any. Throws what it says in words, and Interrupted.
std::unique_ptr<Hosts> gather_hosts(const LaunchPlan& plan, const StartupWait& startup_wait) {
  const Options& options = plan.options;
  if (!options.hosts.empty()) {
    require_proofs();
    return be_host_process(plan, startup_wait);
  }
  if (options.root.empty() && options.join.empty()) {
    forget_job_key();
    return std::make_unique<SingleHost>(options.size, reserve_fds(options.size, 0));
  }
  require_proofs();
  if (options.seat > 0) return be_seated(plan, startup_wait);
  return options.root.empty() ? be_leaf(options, startup_wait) : be_root(options, startup_wait);
}

void enter(const std::string& directory) {
  if (directory.empty() || ::chdir(directory.c_str()) == 0) return;
  throw std::runtime_error(fmt::format("cannot enter {}: {}", directory, std::strerror(errno)));
}

int launch(const Options& options, Signals& signals, int lifeline, Output& output) {
  if (options.hosts.empty()) enter(options.directory);
  LaunchPlan plan{.options = options,
                  .signals = signals,
                  .program = find_program(options.command.front()),
                  .share = {},
                  .met = {}};
  if (::isatty(STDIN_FILENO)) plan.terminal_group = ::getpgrp();
  ::getrlimit(RLIMIT_NOFILE, &plan.file_limit);
  ::setpgid(0, 0);
  signals.listen();
  static_cast<void>(become_subreaper());  // the supervisor has said what follows
  const StartupWait startup_wait(signals, lifeline, output);
  const auto hosts = gather_hosts(plan, startup_wait);
  plan.share = hosts->share();
  plan.met = hosts->met();
  return Job(plan, startup_wait, *hosts).run();
}

// The launcher process, from fork to exit. Its own group: what kills the supervisor's whole group
// leaves somebody to end the ranks.
[[noreturn]] void be_launcher(const Options& options, Signals& signals, Fd lifeline) {
  int status = kLauncherStatus;
  try {
    Output output;
    try {
      status = launch(options, signals, lifeline.get(), output);
    } catch (const Interrupted& by) {
      status = by.status;
    } catch (const std::exception& error) {
      end_all_descendants();
      output.say(error.what());
    }
    output.write_rest(kLastWordsTime);
    if (status == 0) status = output.loss_status();
  } catch (const std::exception& error) {  // of saying it
    end_all_descendants();
    say_line(error.what());
  }
  ::_exit(status);
}

void pass_on(SignalEvent event, pid_t launcher) {
  // Queued with a value, as the launcher treats what was typed at the terminal differently.
  const sigval origin{.sival_int = event.from_terminal ? 1 : 0};
  ::sigqueue(launcher, event.number, origin);
  if (event.number == SIGTSTP) ::raise(SIGSTOP);  // the launcher stays awake to hear SIGCONT
}

int guard(pid_t launcher, const Signals& signals) {
  for (;;) {
    int wait_status = 0;
    pid_t pid;
    // The launcher alone: its pid stays ours until here. Others we inherit are reaped below.
    while ((pid = ::waitpid(launcher, &wait_status, WNOHANG)) < 0 && errno == EINTR) {
    }
    if (pid == launcher) {
      end_all_descendants();
      if (!WIFSIGNALED(wait_status)) return WEXITSTATUS(wait_status);
      say_line(fmt::format("the launcher was killed by {}; the ranks were ended",
                           signal_text(WTERMSIG(wait_status))));
      return 128 + WTERMSIG(wait_status);
    }
    pollfd entry{.fd = signals.fd(), .events = POLLIN, .revents = 0};
    (void)::poll(&entry, 1, -1);
    while (const auto event = signals.next()) {
      if (event->number != SIGCHLD) pass_on(*event, launcher);
    }
  }
}

}  // namespace

int run_guarded(const Options& options, Signals& signals) {
  leave_outer_job();
  if (!become_subreaper())
    say_line(
        fmt::format("prctl(PR_SET_CHILD_SUBREAPER): {}: what ranks start and leave behind, "
                    "and what is left of a photonrun that is killed, stays",
                    std::strerror(errno)));
  Pipe lifeline = make_pipe();
  const pid_t launcher = ::fork();
  if (launcher < 0) throw CallFailed("fork");
  if (launcher == 0) {
    lifeline.write.reset();
    be_launcher(options, signals, std::move(lifeline.read));
  }
  lifeline.read.reset();
  release_input();
  signals.listen();
  return guard(launcher, signals);
}

}  // namespace photonrun
