#include "fleet.hpp"

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

Fleet::Fleet(const FleetPlan& plan, Vigil vigil)
    : plan_(plan), vigil_(vigil), output_(vigil.output()) {}

void Fleet::start(const std::vector<Seat>& seats, const std::vector<std::string>& places,
                  const std::string& key) {
  for (unsigned i = 0; i < seats.size(); ++i) {
    const Errand errand{
        .host = plan_.options.hosts[i], .place = places[i], .seat = i + 1, .ranks = seats[i].ranks};
    starters_.push_back(
        std::make_unique<Starter>(StarterPlan{.host = seats[i].name,
                                              .name = name_of(errand),
                                              .command = command_for(errand, plan_.options),
                                              .by_lines = plan_.options.label,
                                              .signals = plan_.signals,
                                              .file_limit = plan_.file_limit}));
    starters_.back()->say(key);
  }
}

void Fleet::want(std::vector<pollfd>& entries) {
  first_entry_ = entries.size();
  for (const auto& one : starters_) one->want(entries, output_);
}

bool Fleet::read(const std::vector<pollfd>& entries) {
  bool moved = false;
  const pollfd* entry = entries.data() + first_entry_;
  for (const auto& one : starters_) {
    if (one->handle(entry, output_)) moved = true;
    entry += Starter::kEntries;
  }
  return moved;
}

void Fleet::handle(const std::vector<pollfd>& entries) {
  read(entries);
  for (const auto& one : starters_) {
    if (one->reap()) fail(*one);
  }
}

void Fleet::fail(Starter& starter) {
  starter.read_rest(output_);  // what it said explains why
  throw std::runtime_error(starter.failure());
}

void Fleet::joined(unsigned seat) { starters_[seat - 1]->set_joined(output_); }

void Fleet::begin() {
  for (const auto& one : starters_) one->say("begin");
  start_feeder(starters_.front()->take_input(), plan_.signals, plan_.terminal_group);
  release_input();
}

const Starter* Fleet::reaped(pid_t pid, int wait_status) {
  for (const auto& one : starters_) {
    if (!one->is(pid)) continue;
    one->set_reaped(wait_status);
    return one->breakdown().empty() ? nullptr : one.get();
  }
  return nullptr;
}

const Starter* Fleet::settle() {
  const auto until = Vigil::Clock::now() + kSettleTime;
  for (const auto& one : starters_) {
    if (!one->is_running() || !one->is_exiting()) continue;
    one->reap_until(until);  // it is on its way
    if (!one->breakdown().empty()) return one.get();
  }
  return nullptr;
}

bool Fleet::is_over() const {
  for (const auto& one : starters_) {
    if (one->is_running() || one->has_output()) return false;
  }
  return output_.finished();
}

int Fleet::finish(int status, TimeLimit limit) {
  auto moved_at = Vigil::Clock::now();
  for (;;) {
    for (const auto& one : starters_) one->reap();
    if (is_over()) break;
    // However slow the reader: while there is something to write, that is what we wait for. But
    // where something ended the job, a reader that stands still does not keep it.
    const bool waits_for_reader = !output_.finished();
    auto until = moved_at + (waits_for_reader && status != 0 ? kReaderPatience : kLastPatience);
    if (status == 0 && limit) until = std::min(until, *limit);
    const std::size_t before = output_.written_bytes();
    std::vector<pollfd> entries;
    want(entries);
    vigil_.wait(entries, until);
    const auto now = Vigil::Clock::now();
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

void Fleet::say_late() {
  std::string what;
  for (const auto& one : starters_) {
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
int Fleet::judge_ends() {
  int status = 0;
  for (const auto& one : starters_) {
    if (one->end() && !one->end()->failed()) continue;
    output_.say(fmt::format("{} after the job was over: output may be lost", one->mishap()));
    if (status == 0)
      status = one->end() && one->end()->by_signal ? one->end()->status() : kLauncherStatus;
  }
  return status;
}

void Fleet::end_the_rest() {
  for (const auto& one : starters_) {
    if (!one->is_running()) continue;
    output_.say(fmt::format("what was started for {} does not end; killed", one->host()));
    one->kill();
  }
}

}  // namespace photonrun
