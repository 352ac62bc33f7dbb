// photon-tasksim: runs programs of message-driven tasks on a simulated network.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "simtest/case.hpp"
#include "simtest/task_case.hpp"

namespace photon::simtest {
namespace {

struct Choices {
  std::string seeds = "1..100";
  std::string profile;  // "": each in its turn
  std::uint32_t ranks = 0;
  std::uint32_t tasks = 200;
  bool digests = false;
  bool no_deaths = false;
};

// "A..B" or "A".
bool read_seeds(const std::string& text, std::uint64_t& first, std::uint64_t& last) {
  unsigned long long begin = 0;
  unsigned long long end = 0;
  char rest = 0;
  const int read = std::sscanf(text.c_str(), "%llu..%llu%c", &begin, &end, &rest);
  if (read == 1 && text.find('.') == std::string::npos)
    end = begin;
  else if (read != 2)
    return false;
  first = begin;
  last = end;
  return first <= last;
}

TaskCase case_of(const Choices& choices, std::uint64_t seed) {
  TaskCase one;
  one.seed = seed;
  one.profile = kProfiles[seed % std::size(kProfiles)];
  for (std::size_t i = 0; i < std::size(kProfiles); ++i)
    if (choices.profile == kProfileNames[i]) one.profile = kProfiles[i];
  one.ranks = choices.ranks != 0 ? choices.ranks : static_cast<std::uint32_t>(1 + seed / 5 % 6);
  one.tasks = choices.tasks;
  one.deaths = !choices.no_deaths;
  return one;
}

int run(const Choices& choices) {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  if (!read_seeds(choices.seeds, first, last)) {
    fmt::print(stderr, "photon-tasksim: --seeds: A..B or A is wanted, not {}\n", choices.seeds);
    return 2;
  }
  std::uint64_t failed = 0;
  std::uint64_t deaths = 0;
  TaskResult all;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const TaskCase one = case_of(choices, seed);
    const TaskResult result = run_task_case(one);
    if (choices.digests) fmt::print("{} {:016x}\n", seed, result.digest);
    all.tasks += result.tasks;
    deaths += result.has_death ? 1 : 0;
    all.sleeps += result.sleeps;
    all.waited += result.waited;
    if (result.finding.empty()) continue;
    ++failed;
    fmt::print("seed {} ({} PEs): {}\n", seed, one.ranks, result.finding);
  }
  fmt::print("{} runs, {} with a death, {} tasks, {} sleeps, {} messages waited; {} failed\n",
             last - first + 1, deaths, all.tasks, all.sleeps, all.waited, failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace photon::simtest

int main(int count, char** values) {
  using photon::simtest::kProfileNames;
  photon::simtest::Choices choices;
  CLI::App app{"Programs of message-driven tasks on a simulated network"};
  app.add_option("--seeds", choices.seeds, "A..B, or one");
  app.add_option("--profile", choices.profile, "of the network; else each in its turn")
      ->check(CLI::IsMember(
          std::vector<std::string>(std::begin(kProfileNames), std::end(kProfileNames))));
  app.add_option("--ranks", choices.ranks, "processes of one PE each; else 1 to 6")
      ->check(CLI::Range(1, 64));
  app.add_option("--tasks", choices.tasks, "of a run")->check(CLI::Range(64, 1'000'000));
  app.add_flag("--no-deaths", choices.no_deaths, "nobody dies; else in a third of the runs");
  app.add_flag("--digests", choices.digests, "a line for each run, to compare builds");
  CLI11_PARSE(app, count, values);
  return photon::simtest::run(choices);
}
