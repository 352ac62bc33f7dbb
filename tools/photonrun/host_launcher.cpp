#include "host_launcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "remote_command.hpp"

namespace photonrun {
namespace {

// With nothing said and nothing to write, whoever still runs after the job will not end.
constexpr auto kSettleTime = std::chrono::seconds(1);
constexpr auto kLastPatience = std::chrono::seconds(20);

std::string name_of(const Errand& errand) {
  const char* const how = errand.host.is_here() ? "photonrun on" : "ssh to";
  return fmt::format("{} {}", how, errand.host.name);
}

}  // namespace

HostLauncher::HostLauncher(const HostLaunchPlan& plan, StartupWait startup_wait)
    : plan_(plan), startup_wait_(startup_wait), output_(startup_wait.output()) {}

void HostLauncher::start(const std::vector<Seat>& seats, const std::vector<std::string>& places,
                         const std::string& key) {
  for (unsigned i = 0; i < seats.size(); ++i) {
    const Errand errand{
        .host = plan_.options.hosts[i], .place = places[i], .seat = i + 1, .ranks = seats[i].ranks};
    processes_.push_back(
        std::make_unique<HostProcess>(HostProcessPlan{.host = seats[i].name,
                                                      .name = name_of(errand),
                                                      .command = command_for(errand, plan_.options),
                                                      .by_lines = plan_.options.label,
                                                      .signals = plan_.signals,
                                                      .file_limit = plan_.file_limit}));
    processes_.back()->say(key);
  }
}

void HostLauncher::want(std::vector<pollfd>& entries) {
  first_entry_ = entries.size();
  for (const auto& one : processes_) one->want(entries, output_);
}

bool HostLauncher::read(const std::vector<pollfd>& entries) {
  bool moved = false;
  const pollfd* entry = entries.data() + first_entry_;
  for (const auto& one : processes_) {
    if (one->handle(entry, output_)) moved = true;
    entry += HostProcess::kEntries;
  }
  return moved;
}

void HostLauncher::handle(const std::vector<pollfd>& entries) {
  read(entries);
  for (const auto& one : processes_) {
    if (one->reap()) fail(*one);
  }
}

void HostLauncher::fail(HostProcess& host_process) {
  host_process.read_rest(output_);  // what it said explains why
  throw std::runtime_error(host_process.failure());
}

void HostLauncher::joined(unsigned seat) { processes_[seat - 1]->set_joined(output_); }

void HostLauncher::begin() {
  for (const auto& one : processes_) one->say("begin");
  start_feeder(processes_.front()->take_input(), plan_.signals, plan_.terminal_group);
  release_input();
}

const HostProcess* HostLauncher::reaped(pid_t pid, int wait_status) {
  for (const auto& one : processes_) {
    if (!one->is(pid)) continue;
    one->set_reaped(wait_status);
    return one->breakdown().empty() ? nullptr : one.get();
  }
  return nullptr;
}

const HostProcess* HostLauncher::settle() {
  const auto until = StartupWait::Clock::now() + kSettleTime;
  for (const auto& one : processes_) {
    if (!one->is_running() || !one->is_exiting()) continue;
    one->reap_until(until);  // it is on its way
    if (!one->breakdown().empty()) return one.get();
  }
  return nullptr;
}

bool HostLauncher::is_over() const {
  for (const auto& one : processes_) {
    if (one->is_running() || one->has_output()) return false;
  }
  return output_.finished();
}

int HostLauncher::finish(int status, TimeLimit limit) {
  auto moved_at = StartupWait::Clock::now();
  for (;;) {
    for (const auto& one : processes_) one->reap();
    if (is_over()) break;
    // However slow the reader: while there is something to write, that is what we wait for. But
    // where something ended the job, a reader that stands still does not keep it.
    const bool waits_for_reader = !output_.finished();
    auto until = moved_at + (waits_for_reader && status != 0 ? kReaderPatience : kLastPatience);
    if (status == 0 && limit) until = std::min(until, *limit);
    const std::size_t before = output_.written_bytes();
    std::vector<pollfd> entries;
    want(entries);
    startup_wait_.wait(entries, until);
    const auto now = StartupWait::Clock::now();
    if (status == 0 && limit && now >= *limit) {
      say_late();
      return kTimeoutStatus;
    }
    const bool has_moved = read(entries) || output_.written_bytes() != before;
    if (has_moved || (waits_for_reader && status == 0)) {
      moved_at = now;
    } else if (now >= until) {
      end_the_rest();
      break;
    }
  }
  if (status == 0) status = output_.loss_status();  // then an ssh that fails follows from that
  return status == 0 ? judge_ends() : status;
}

void HostLauncher::say_late() {
  std::string what;
  for (const auto& one : processes_) {
    if (one->is_running()) what += fmt::format("{}{}", what.empty() ? "" : ", ", one->name());
  }
  if (!what.empty()) what += " still ran";
  if (!output_.finished()) {
    what += fmt::format("{}nobody had read {}", what.empty() ? "" : ", and ", output_.unwritten());
  }
  if (what.empty()) what = "somebody held their output open";
  output_.say(
      fmt::format("after {} s all ranks had ended, but {}", *plan_.options.timeout_s, what));
}

// All was well until the job was over. Each photonrun there then ends with the job's status, as its
// last act: of one that does not, and of its ssh, nobody knows that all output came.
int HostLauncher::judge_ends() {
  int status = 0;
  for (const auto& one : processes_) {
    if (one->end() && !one->end()->failed()) continue;
    output_.say(fmt::format("{} after the job was over: output may be lost", one->mishap()));
    if (status == 0)
      status = one->end() && one->end()->by_signal ? one->end()->status() : kLauncherStatus;
  }
  return status;
}

void HostLauncher::end_the_rest() {
  for (const auto& one : processes_) {
    if (!one->is_running()) continue;
    output_.say(fmt::format("what was started for {} does not end; killed", one->host()));
    one->kill();
  }
}

}  // namespace photonrun
