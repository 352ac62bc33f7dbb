#include "fleet.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <stdexcept>

#include "remote_command.hpp"

namespace photonrun {
namespace {

// With nothing said and nothing to write, whoever still runs after the job will not end.
constexpr auto kLastPatience = std::chrono::seconds(20);
constexpr auto kLastWordsTime = std::chrono::seconds(1);

std::string name_of(const Errand& errand) {
  const char* const how = errand.host.is_here() ? "photonrun on" : "ssh to";
  return fmt::format("{} {}", how, errand.host.name);
}

}  // namespace

Fleet::Fleet(const FleetPlan& plan, Vigil vigil) : plan_(plan), vigil_(vigil) {}

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
  output_.want(entries);
  first_entry_ = entries.size();
  for (const auto& one : starters_) one->want(entries, output_);
}

bool Fleet::read(const std::vector<pollfd>& entries) {
  output_.handle(entries);
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
    if (one->reap(WNOHANG)) fail(*one);
  }
}

void Fleet::fail(Starter& starter) {
  starter.read_rest(output_);
  write_out();
  throw std::runtime_error(starter.failure());
}

// Before we end: what a starter said, which explains why.
void Fleet::write_out() {
  const auto until = Vigil::Clock::now() + kLastWordsTime;
  while (!output_.finished() && Vigil::Clock::now() < until) {
    std::vector<pollfd> entries;
    output_.want(entries);
    vigil_.wait(entries, until);
    output_.handle(entries);
  }
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
  for (const auto& one : starters_) {
    if (!one->is_running() || !one->is_exiting()) continue;
    one->reap(0);  // it is on its way: nothing can keep it
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

void Fleet::finish() {
  auto until = Vigil::Clock::now() + kLastPatience;
  for (;;) {
    for (const auto& one : starters_) one->reap(WNOHANG);
    if (is_over()) return;
    std::vector<pollfd> entries;
    want(entries);
    vigil_.wait(entries, until);
    // However slow the reader: while there is something to write, that is what we wait for.
    if (read(entries) || !output_.finished()) {
      until = Vigil::Clock::now() + kLastPatience;
    } else if (Vigil::Clock::now() >= until) {
      break;
    }
  }
  for (const auto& one : starters_) {
    if (!one->is_running()) continue;
    say_line(fmt::format("what was started for {} does not end; killed", one->host()));
    one->kill();
  }
}

}  // namespace photonrun
