#include "job.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "descendants.hpp"
#include "rank_list.hpp"

namespace photonrun {
namespace {

constexpr auto kGrace = std::chrono::seconds(2);
constexpr auto kHostGrace = std::chrono::seconds(5);  // for other hosts to say that all are killed
// For a rank that another one's failure is about to end. It was ending when the other heard of it,
// so this is for one that lives on and only could not be reached.
constexpr auto kVerdictTime = std::chrono::seconds(5);
constexpr const char* kByRoot = "ended by the root: ";

}  // namespace

Job::Job(const LaunchPlan& plan, const StartupWait& startup_wait, Hosts& hosts)
    : plan_(plan),
      startup_wait_(startup_wait),
      signals_(startup_wait.signals()),
      hosts_(hosts),
      output_(startup_wait.output()),
      history_(hosts.share().size) {
  ranks_.reserve(hosts.share().here);
  if (plan.options.timeout_s) {
    time_limit_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                     std::chrono::duration<double>(*plan.options.timeout_s));
  }
}

int Job::run() {
  start_ranks();
  while (any_running()) turn();
  conclude();
  // A rank's program may have left others behind. They hold the output, too, and when a host has
  // hung up nothing of the job is to run there: end them first. What started other hosts stays.
  if (!hosts_.has_children()) end_all_descendants();
  status_ = hosts_.close(status_.value_or(0), time_limit_);
  end_all_descendants();
  drain_output();
  if (*status_ == 0) name_unjoined();
  return *status_;
}

void Job::start_ranks() {
  try {
    for (unsigned i = 0; i < hosts_.share().here && phase_ == Phase::running; ++i) {
      start_rank(hosts_.share().first + i);
      if (i == 0) release_input();
      // Serving in between: the first ranks talk while the last ones start, and one that cannot
      // be started ends the job before a hundred others fail in the same way.
      entries_.clear();
      handle_signals();
      reap();
      decide_ends();
    }
  } catch (const std::system_error& error) {
    const std::string text = fmt::format("could not start rank {}: {}",
                                         hosts_.share().first + ranks_.size(), error.what());
    if (hosts_.is_leaf()) hosts_.tell(FrameKind::failed, 0, text);
    decide(kLauncherStatus, text);
  }
  // The root waits for the end of each.
  for (unsigned i = static_cast<unsigned>(ranks_.size()); i < hosts_.share().here; ++i) {
    hosts_.tell_ended(hosts_.share().first + i, {.by_signal = true, .value = SIGKILL},
                      fmt::format("rank {} was not started", hosts_.share().first + i));
  }
}

void Job::start_rank(unsigned rank) {
  Pipe output;
  Pipe error;
  if (plan_.options.label) {
    output = make_pipe();
    error = make_pipe();
  }
  ranks_.emplace_back(rank, plan_, hosts_.generations().open(rank), std::move(output.write),
                      std::move(error.write));
  if (plan_.options.label) output_.add(rank, std::move(output.read), std::move(error.read));
}

// Waits for something to happen and handles it.
void Job::turn() {
  entries_.clear();
  entries_.push_back({.fd = signals_.fd(), .events = POLLIN, .revents = 0});
  entries_.push_back(
      {.fd = abandoned_ ? -1 : startup_wait_.lifeline(), .events = POLLIN, .revents = 0});
  hosts_.generations().want(entries_);
  hosts_.want(entries_);
  output_.want(entries_);
  // What came with the job's beginning lies in our memory and wakes nobody.
  const int limit_ms = std::exchange(has_turned_, true) ? poll_limit_ms() : 0;
  if (::poll(entries_.data(), entries_.size(), limit_ms) < 0 && errno != EINTR) {
    decide(kLauncherStatus, fmt::format("poll: {}", std::generic_category().message(errno)));
    for (pollfd& entry : entries_) entry.revents = 0;
    if (phase_ != Phase::killing) kill_job();
  }
  if (entries_[1].revents != 0) {
    abandoned_ = true;
    kill_job();
  }
  handle_signals();
  for (const News& news : hosts_.handle(entries_)) handle_news(news);
  hosts_.generations().handle(entries_);
  output_.handle(entries_);
  for (const std::string& complaint : hosts_.generations().take_complaints()) say(complaint);
  reap();
  decide_ends();
  check_clocks();
}

void Job::handle_signals() {
  while (const auto event = signals_.next()) handle_signal(*event);
}

void Job::handle_signal(SignalEvent event) {
  if (event.number == SIGCHLD) return;  // reap() looks anyway: signals merge, children do not
  if (!ends_job(event.number)) return signal_all(event);
  if (phase_ != Phase::running) return kill_job();
  if (hosts_.is_leaf()) hosts_.tell(FrameKind::signal, event.number, {});
  decide(128 + event.number, fmt::format("ended by {}", signal_text(event.number)), event);
}

void Job::handle_news(const News& news) {
  switch (news.kind) {
    case FrameKind::ended: ended_.push_back({news.rank, news.end, news.text, news.is_told}); break;
    case FrameKind::failed: fail(news.value, news.text); break;
    case FrameKind::end:
      decide(kLauncherStatus, kByRoot + news.text, {.number = news.value});
      break;
    case FrameKind::kill: kill_job(); break;
    case FrameKind::over:
      status_ = news.value;
      if (any_running()) kill_job();  // the root waits for us no longer
      break;
    case FrameKind::signal:
      if (hosts_.is_leaf()) {
        signal_ranks({.number = news.value});
      } else {
        decide(128 + news.value,
               fmt::format("ended by {} at {}", signal_text(news.value), news.text),
               {.number = news.value});
      }
      break;
    default: break;
  }
}

void Job::reap() {
  std::vector<const RankProcess*> ended;
  int wait_status = 0;
  pid_t pid;
  while ((pid = ::waitpid(-1, &wait_status, WNOHANG)) > 0) {
    const auto rank = std::ranges::find_if(ranks_, [pid](const RankProcess& candidate) {
      return candidate.running() && candidate.pid() == pid;
    });
    if (rank == ranks_.end()) {  // an orphan of a rank's, or what the hosts started
      for (const News& news : hosts_.reaped(pid, wait_status)) handle_news(news);
      continue;
    }
    rank->set_reaped(wait_status);
    ended.push_back(&*rank);
  }
  for (const RankProcess* const one : ended) {
    hosts_.generations().rank_ended(one->rank(), gone_of(*one->end()));
    std::string text = one->describe(plan_.options.command.front());
    hosts_.tell_ended(one->rank(), *one->end(), text);
    ended_.push_back({one->rank(), *one->end(), std::move(text)});
  }
}

// A host, or what was to start one.
void Job::fail(int status, const std::string& text) {
  if (!plan_.options.keep_going || phase_ != Phase::running) return decide(status, text);
  say(text);
  history_.failed(status, text);
}

// Of several that ended since we looked last, one killed by a signal comes first: it is likelier
// to be the cause. Once the job ends, ends are our doing.
void Job::decide_ends() {
  for (const Exchange::Report& report : hosts_.generations().take_reports()) history_.take(report);
  std::vector<Ended> ended = std::exchange(ended_, {});
  if (hosts_.is_leaf() || phase_ != Phase::running) return;
  std::ranges::stable_partition(ended, [](const Ended& one) { return one.end.by_signal; });
  for (const Ended& one : ended) {
    if (plan_.options.keep_going) tell_end(one);
    history_.ended(one.rank, one.end, one.text);
  }
  if (!plan_.options.keep_going) judge(false);
}

// With --keep-going. Who left in order and is well is no news.
void Job::tell_end(const Ended& one) {
  if (one.is_told || (!one.end.failed() && history_.has_left(one.rank))) return;
  const bool is_starting = ranks_.size() < hosts_.share().here;
  say(any_running() || is_starting ? one.text + "; the others go on" : one.text);
}

void Job::judge(bool is_final) {
  if (const auto first = history_.first(is_final)) return decide(first->status, first->text);
  if (history_.failures_count() > 0 && !judge_time_) judge_time_ = Clock::now() + kVerdictTime;
}

// All ranks have ended by themselves.
void Job::conclude() {
  if (hosts_.is_leaf() || phase_ != Phase::running) return;
  if (const auto first = history_.first(true)) {
    if (history_.failures_count() > 1) say("the first to fail: " + first->text);
    status_ = first->status;
  }
}

// At the very end and by itself: that this cannot be written makes no failure of a job that is
// well.
void Job::name_unjoined() const {
  const std::vector<unsigned> unjoined = history_.unjoined();
  if (hosts_.is_leaf() || abandoned_ || hosts_.share().size == 1 || unjoined.empty()) return;
  const bool is_none = unjoined.size() == hosts_.share().size;
  say_line(fmt::format("{}. A program that uses Photon joins through " PH_LAUNCH_FD_VARIABLE
                       " and the descriptor it names, which env -i, sudo and the like take away; "
                       "for other programs nothing is wrong",
                       is_none ? "no rank joined the job: each ran on its own"
                               : list_ranks(unjoined) + " did not join the job"));
}

void Job::check_clocks() {
  const auto now = Clock::now();
  const bool is_late = time_limit_ && now >= *time_limit_;
  if (phase_ == Phase::running && judge_time_ && (is_late || now >= *judge_time_)) judge(true);
  if (phase_ == Phase::running && is_late && any_running()) {
    decide(kTimeoutStatus, fmt::format("after {} s {} still ran; ended", *plan_.options.timeout_s,
                                       running_ranks()));
  }
  if (!kill_time_ || now < *kill_time_) return;
  if (phase_ == Phase::ending) {
    kill_job();
  } else if (phase_ == Phase::killing) {
    kill_time_.reset();
    for (const std::string& text : hosts_.give_up()) say(text);
  }
}

// The first thing that ends the job: it is said, and the status follows from it.
void Job::decide(int status, const std::string& text, SignalEvent event) {
  if (phase_ != Phase::running) return;
  // Who started us shows what we say, and has said this already.
  const bool is_repeated = plan_.options.seat > 0 && text.starts_with(kByRoot);
  if (!is_repeated) say(text);
  status_ = status;
  end_job(event, text);
}

// The signal, time to obey it, then SIGKILL.
void Job::end_job(SignalEvent event, std::string_view why) {
  phase_ = Phase::ending;
  kill_time_ = Clock::now() + kGrace;
  if (!hosts_.is_leaf()) hosts_.tell(FrameKind::end, event.number, why);
  signal_ranks(event);
  signal_ranks({.number = SIGCONT});  // a stopped process obeys when it goes on
}

void Job::kill_job() {
  phase_ = Phase::killing;
  // A leaf waits longer: the root's word on how the job ended comes when the root has given up.
  kill_time_ = Clock::now() + (hosts_.is_leaf() ? 2 * kHostGrace : kHostGrace);
  if (!status_) status_ = 128 + SIGKILL;
  if (!hosts_.is_leaf()) hosts_.tell(FrameKind::kill, 0, {});
  signal_ranks({.number = SIGKILL});
}

void Job::signal_all(SignalEvent event) {
  if (!hosts_.is_leaf()) hosts_.tell(FrameKind::signal, event.number, {});
  signal_ranks(event);
}

void Job::signal_ranks(SignalEvent event) const {
  for (const RankProcess& rank : ranks_) rank.signal(event);
}

// Until everything was written, however slow the reader; a signal, the supervisor's end and the
// time stop it. What ended the job has no patience with a reader that stands still. Never 0 if
// something is lost.
void Job::drain_output() {
  auto until = patience_with_reader();
  try {
    while (!output_.finished() && !abandoned_) {
      const std::size_t before = output_.written_bytes();
      entries_.clear();
      startup_wait_.wait(entries_, until);
      if (output_.written_bytes() != before) {
        until = patience_with_reader();
      } else if (Clock::now() >= until) {
        const std::string rest = output_.unwritten();
        say(*status_ == 0 && time_limit_
                ? fmt::format("after {} s all ranks had ended, but nobody had read {}; lost",
                              *plan_.options.timeout_s, rest)
                : fmt::format("nobody has read {}; lost", rest));
        if (*status_ == 0) status_ = kTimeoutStatus;
        return;
      }
    }
  } catch (const Interrupted& by) {
    if (*status_ == 0) status_ = by.status;
  }
}

Job::Clock::time_point Job::patience_with_reader() const {
  if (*status_ != 0) return Clock::now() + kReaderPatience;
  return time_limit_.value_or(Clock::now() + std::chrono::hours(1000));
}

int Job::poll_limit_ms() const {
  std::optional<Clock::time_point> next = phase_ == Phase::running ? time_limit_ : kill_time_;
  if (phase_ == Phase::running && judge_time_)
    next = next ? std::min(*next, *judge_time_) : judge_time_;
  if (!next) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*next - Clock::now()).count();
  return static_cast<int>(std::clamp<long long>(left, 0, 3'600'000));  // then we look again
}

bool Job::any_running() const {
  return hosts_.waits() ||
         std::ranges::any_of(ranks_, [](const RankProcess& rank) { return rank.running(); });
}

// Ranks of other hosts count until their photonruns have called them ended.
std::string Job::running_ranks() const {
  const Share& share = hosts_.share();
  const auto runs = [&](unsigned rank) {
    return share.has(rank)
               ? rank - share.first < ranks_.size() && ranks_[rank - share.first].running()
               : hosts_.runs(rank);
  };
  std::vector<unsigned> running;
  for (unsigned rank = 0; rank < share.size; ++rank)
    if (runs(rank)) running.push_back(rank);
  return list_ranks(running);
}

void Job::say(std::string_view text) {
  if (!abandoned_) output_.say(text);
}

}  // namespace photonrun
