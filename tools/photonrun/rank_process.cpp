#include "rank_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <photon/launch.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "call_failed.hpp"
#include "child.hpp"
#include "cores.hpp"
#include "find_program.hpp"

namespace photonrun {
namespace {

constexpr unsigned kUniverseUnlessTold = 256;  // libfabric's
constexpr int kFirstChannelFd = 100;           // above what shell scripts redirect by hand

struct ChildSetup {
  unsigned rank;
  const LaunchPlan& plan;
  pid_t parent;
  pid_t group;  // 0: its own
  int channel;
  int output;  // -1: inherited
  int error;
};

void redirect(const ChildSetup& setup) {
  if (setup.rank != 0) {
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ::dup2(nothing, STDIN_FILENO);
  }
  if (setup.output >= 0) ::dup2(setup.output, STDOUT_FILENO);
  if (setup.error >= 0) ::dup2(setup.error, STDERR_FILENO);
}

void set_environment(const ChildSetup& setup, int channel) {
  ::setenv(PH_LAUNCH_FD_VARIABLE, std::to_string(channel).c_str(), 1);
  ::setenv(PH_LAUNCH_RANK_VARIABLE, std::to_string(setup.rank).c_str(), 1);
  ::setenv(PH_LAUNCH_SIZE_VARIABLE, std::to_string(setup.plan.share.size).c_str(), 1);
  // A setting of the library, not over the user's; and whose it is, for a photonrun in there.
  if (!setup.plan.met.empty() && std::getenv(kPreferredVariable) == nullptr) {
    ::setenv(kPreferredVariable, setup.plan.met.c_str(), 1);
    ::setenv(kMetVariable, setup.plan.met.c_str(), 1);
  }
  // libfabric's; too late from within a rank that has threads (docs/ofi.md). Not over the user's.
  if (setup.plan.share.size > kUniverseUnlessTold)
    ::setenv("FI_UNIVERSE_SIZE", std::to_string(setup.plan.share.size).c_str(), 0);
  for (const std::string& assignment : setup.plan.options.environment) {
    const std::size_t equals = assignment.find('=');
    ::setenv(assignment.substr(0, equals).c_str(), assignment.c_str() + equals + 1, 1);
  }
}

// In the child. The launcher has one thread, so that everything may be called after fork().
[[noreturn]] void become_program(const ChildSetup& setup, int report) {
  die_with(setup.parent);
  ::setpgid(0, setup.group);
  if (setup.plan.options.bind) {
    const std::vector<int> cores = usable_cores();
    (void)pin_to(cores[(setup.rank - setup.plan.share.first) % cores.size()]);
  }
  redirect(setup);
  // A duplicate without close-on-exec: the only descriptor besides 0, 1, 2 that the program gets
  // from us. Where the limit is low it is a small number.
  int channel = ::fcntl(setup.channel, F_DUPFD, kFirstChannelFd);
  if (channel < 0) channel = ::fcntl(setup.channel, F_DUPFD, 3);
  set_environment(setup, channel);
  std::vector<char*> arguments;
  arguments.reserve(setup.plan.options.command.size() + 1);
  for (const std::string& argument : setup.plan.options.command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  ::setrlimit(RLIMIT_NOFILE, &setup.plan.file_limit);
  setup.plan.signals.restore();
  ::execvp(setup.plan.program.c_str(), arguments.data());
  const int number = errno;
  (void)!::write(report, &number, sizeof number);
  ::_exit(number == ENOENT || number == ENOTDIR ? kNotFoundStatus : kNotStartedStatus);
}

}  // namespace

ph_launch_gone gone_of(const End& end) {
  const ph_launch_end how = end.by_signal ? PH_LAUNCH_KILLED : PH_LAUNCH_EXITED;
  return {.how = how, .value = end.value};
}

RankProcess::RankProcess(unsigned rank, const LaunchPlan& plan, Fd channel, Fd output, Fd error)
    : rank_(rank), own_group_(rank != 0 || plan.terminal_group == 0) {
  Pipe report = make_pipe();
  const pid_t group = own_group_ ? 0 : plan.terminal_group;
  const ChildSetup setup{rank, plan, ::getpid(), group, channel.get(), output.get(), error.get()};
  pid_ = ::fork();
  if (pid_ < 0) throw CallFailed("fork");
  if (pid_ == 0) become_program(setup, report.write.get());
  ::setpgid(pid_, group);  // here too: whoever comes first, a signal finds the group
  report.write.reset();
  exec_errno_ = await_exec(report.read.get());
}

void RankProcess::set_reaped(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    end_ = End{.by_signal = true, .value = WTERMSIG(wait_status)};
  } else {
    end_ = End{.value = WEXITSTATUS(wait_status), .exec_errno = exec_errno_};
  }
}

void RankProcess::signal(SignalEvent event) const {
  if (!running()) return;
  if (!own_group_) {
    if (!event.from_terminal) ::kill(pid_, event.number);
    return;
  }
  // No such group: the program moved itself to another one.
  if (::kill(-pid_, event.number) < 0) ::kill(pid_, event.number);
}

std::string RankProcess::describe(const std::string& program) const {
  const std::string who = fmt::format("rank {} (pid {})", rank_, pid_);
  if (!end_) return who + " still runs";
  if (end_->exec_errno != 0) {
    return fmt::format("rank {} could not start {}: {}{}", rank_, program,
                       ::strerrordesc_np(end_->exec_errno),
                       end_->exec_errno == ENOENT ? advice_for(program) : "");
  }
  if (end_->by_signal) return who + " was killed by " + signal_text(end_->value);
  return fmt::format("{} exited with status {}", who, end_->value);
}

}  // namespace photonrun
