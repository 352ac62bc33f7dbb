#include "job.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <system_error>

#include "descendants.hpp"

namespace photonrun {
namespace {

constexpr auto kGrace = std::chrono::seconds(2);
constexpr int kTimeoutStatus = 124;
constexpr int kLauncherStatus = 125;

}  // namespace

Job::Job(const LaunchPlan& plan, const Signals& signals, Fd lifeline, std::size_t fds_limit)
    : plan_(plan),
      signals_(signals),
      lifeline_(std::move(lifeline)),
      broker_(plan.options.size, fds_limit) {
  ranks_.reserve(plan.options.size);
  if (plan.options.timeout_s) {
    time_limit_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                     std::chrono::duration<double>(*plan.options.timeout_s));
  }
}

int Job::run() {
  start_ranks();
  while (any_running()) turn();
  // A rank's program may have left others behind. They hold the output, too: end them first.
  end_all_descendants();
  drain_output();
  return status_.value_or(0);
}

void Job::start_ranks() {
  try {
    for (unsigned rank = 0; rank < plan_.options.size && phase_ == Phase::running; ++rank) {
      start_rank(rank);
      if (rank == 0) release_input();
      // Serving in between: the first ranks talk while the last ones start, and one that cannot
      // be started ends the job before a hundred others fail in the same way.
      entries_.clear();
      handle_signals();
      reap();
    }
  } catch (const std::system_error& error) {
    say(fmt::format("could not start rank {}: {}", ranks_.size(), error.what()));
    status_ = kLauncherStatus;
    end_job({.number = SIGTERM});
  }
}

void Job::start_rank(unsigned rank) {
  Pipe output;
  Pipe error;
  if (plan_.options.label) {
    output = make_pipe();
    error = make_pipe();
  }
  ranks_.emplace_back(rank, plan_, broker_.take_peer(rank), std::move(output.write),
                      std::move(error.write));
  if (plan_.options.label) output_.add(rank, std::move(output.read), std::move(error.read));
}

// Waits for something to happen and handles it.
void Job::turn() {
  entries_.clear();
  entries_.push_back({.fd = signals_.fd(), .events = POLLIN, .revents = 0});
  entries_.push_back({.fd = abandoned_ ? -1 : lifeline_.get(), .events = POLLIN, .revents = 0});
  broker_.want(entries_);
  output_.want(entries_);
  if (::poll(entries_.data(), entries_.size(), poll_limit_ms()) < 0 && errno != EINTR) {
    say(fmt::format("poll: {}", std::generic_category().message(errno)));
    status_ = kLauncherStatus;
    return kill_job();
  }
  if (entries_[1].revents != 0) {
    abandoned_ = true;
    kill_job();
  }
  handle_signals();
  broker_.handle(entries_);
  output_.handle(entries_);
  for (const std::string& complaint : broker_.take_complaints()) say(complaint);
  reap();
  check_clocks();
}

void Job::handle_signals() {
  while (const auto event = signals_.next()) handle_signal(*event);
}

void Job::handle_signal(SignalEvent event) {
  if (event.number == SIGCHLD) return;  // reap() looks anyway: signals merge, children do not
  if (!ends_job(event.number)) return signal_all(event);
  if (phase_ != Phase::running) return kill_job();
  say(fmt::format("ended by {}", signal_text(event.number)));
  if (!status_) status_ = 128 + event.number;
  end_job(event);
}

void Job::reap() {
  std::vector<unsigned> ended;
  int wait_status = 0;
  pid_t pid;
  while ((pid = ::waitpid(-1, &wait_status, WNOHANG)) > 0) {
    const auto rank = std::ranges::find_if(ranks_, [pid](const RankProcess& candidate) {
      return candidate.running() && candidate.pid() == pid;
    });
    if (rank == ranks_.end()) continue;  // an orphan of a rank's
    rank->set_reaped(wait_status);
    ended.push_back(rank->rank());
  }
  for (const unsigned rank : ended) {
    const End& end = *ranks_[rank].end();
    broker_.rank_ended(
        rank, {.how = end.by_signal ? PH_LAUNCH_KILLED : PH_LAUNCH_EXITED, .value = end.value});
  }
  note_ends(ended);
}

// Of several that ended since we looked last, one killed by a signal comes first: it is likelier
// to be the cause, and the others, which lost a peer, its consequence.
void Job::note_ends(const std::vector<unsigned>& ended) {
  const RankProcess* failed = nullptr;
  for (const unsigned rank : ended) {
    const End& end = *ranks_[rank].end();
    if (end.failed() && (!failed || (end.by_signal && !failed->end()->by_signal))) {
      failed = &ranks_[rank];
    }
  }
  if (!failed || phase_ != Phase::running) return;
  say(failed->describe(plan_.options.command.front()));
  status_ = failed->end()->status();
  end_job({.number = SIGTERM});
}

void Job::check_clocks() {
  const auto now = Clock::now();
  if (phase_ == Phase::running && time_limit_ && now >= *time_limit_ && any_running()) {
    say(fmt::format("after {} s {} still ran; ended", *plan_.options.timeout_s, running_ranks()));
    status_ = kTimeoutStatus;
    end_job({.number = SIGTERM});
  }
  if (phase_ == Phase::ending && now >= *kill_time_) kill_job();
}

// The signal, time to obey it, then SIGKILL.
void Job::end_job(SignalEvent event) {
  phase_ = Phase::ending;
  kill_time_ = Clock::now() + kGrace;
  signal_all(event);
  signal_all({.number = SIGCONT});  // a stopped process obeys when it goes on
}

void Job::kill_job() {
  phase_ = Phase::killing;
  if (!status_) status_ = 128 + SIGKILL;
  signal_all({.number = SIGKILL});
}

void Job::signal_all(SignalEvent event) const {
  for (const RankProcess& rank : ranks_) rank.signal(event);
}

// Until everything was written, however slow the reader; a signal or the guardian's end stops it.
void Job::drain_output() {
  while (!output_.finished() && !abandoned_) {
    entries_.clear();
    entries_.push_back({.fd = signals_.fd(), .events = POLLIN, .revents = 0});
    entries_.push_back({.fd = lifeline_.get(), .events = POLLIN, .revents = 0});
    output_.want(entries_);
    if (::poll(entries_.data(), entries_.size(), -1) < 0 && errno != EINTR) return;
    if (entries_[1].revents != 0) return;
    while (const auto event = signals_.next()) {
      if (ends_job(event->number)) return;
    }
    output_.handle(entries_);
  }
}

int Job::poll_limit_ms() const {
  std::optional<Clock::time_point> next;
  if (phase_ == Phase::running) next = time_limit_;
  if (phase_ == Phase::ending) next = kill_time_;
  if (!next) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*next - Clock::now()).count();
  return static_cast<int>(std::clamp<long long>(left, 0, 3'600'000));  // then we look again
}

bool Job::any_running() const {
  return std::ranges::any_of(ranks_, [](const RankProcess& rank) { return rank.running(); });
}

// "rank 3", "ranks 0, 2-5, 9"
std::string Job::running_ranks() const {
  std::string list;
  std::size_t count = 0;
  for (std::size_t first = 0; first < ranks_.size(); ++first) {
    if (!ranks_[first].running()) continue;
    std::size_t last = first;
    while (last + 1 < ranks_.size() && ranks_[last + 1].running()) ++last;
    list += fmt::format("{}{}", list.empty() ? "" : ", ", first);
    if (last > first) list += fmt::format("-{}", last);
    count += last - first + 1;
    first = last;
  }
  return (count == 1 ? "rank " : "ranks ") + list;
}

// One write, so that lines of ours and of the ranks do not mix.
void Job::say(std::string_view text) const {
  if (abandoned_) return;
  const std::string line = fmt::format("photonrun: {}\n", text);
  (void)!::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace photonrun
