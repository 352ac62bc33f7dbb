// bench: packet-hops a second of one thread, beside `hold`: pop and push of events on a
// std::priority_queue with 100,000 inside. Both are measured in turns, by processor time. Then the
// same with two threads and with one in turns, by wall time.
#include <ctime>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <queue>

#include "netsim/clock/random.hpp"
#include "netsim/command/command.hpp"
#include "netsim/queue/event.hpp"
#include "netsim/run/simulation.hpp"
#include "netsim/run/table.hpp"

namespace photon::netsim::command {
namespace {

constexpr int kTurns = 5;

double seconds_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

struct Later {
  bool operator()(const Event& a, const Event& b) const { return b < a; }
};

double holds_per_second() {
  constexpr std::uint32_t kInside = 100000;
  constexpr std::uint32_t kHolds = 2000000;
  std::priority_queue<Event, std::vector<Event>, Later> queue;
  Random random(1, 1);
  for (std::uint32_t i = 0; i < kInside; ++i) {
    queue.push(Event::at(random.below(200000), EventKind::arrival, i));
  }
  const double start = cpu_seconds();
  for (std::uint32_t i = 0; i < kHolds; ++i) {
    Event event = queue.top();
    queue.pop();
    event.time += 1 + random.below(200000);
    queue.push(event);
  }
  return kHolds / (cpu_seconds() - start);
}

double hops_per_second(const Settings& settings) {
  auto simulation = make_simulation(settings);
  if (!simulation) return 0;
  const double start = cpu_seconds();
  const RunResult result = (*simulation)->run();
  const double seconds = cpu_seconds() - start;
  if (!result.failure.empty()) std::fprintf(stderr, "bench: %s\n", result.failure.c_str());
  return static_cast<double>(result.hops) / seconds;
}

void measure(const char* name, const Settings& settings, double bar) {
  double holds = 0;
  double hops = 0;
  for (int turn = 0; turn < kTurns; ++turn) {
    holds = std::max(holds, holds_per_second());
    hops = std::max(hops, hops_per_second(settings));
  }
  std::printf("%-34s %6.3f M packet-hops/s, hold %6.3f M/s, ratio %.3f (bar %.2f)\n", name,
              hops / 1e6, holds / 1e6, hops / holds, bar);
}

double wall_seconds_of(Settings settings, std::uint32_t threads) {
  settings.threads = threads;
  auto simulation = make_simulation(settings);
  if (!simulation) return 0;
  const double start = wall_seconds();
  const RunResult result = (*simulation)->run();
  if (!result.failure.empty()) std::fprintf(stderr, "bench: %s\n", result.failure.c_str());
  return wall_seconds() - start;
}

void compare_threads(const char* name, const Settings& settings) {
  double best[] = {1e9, 1e9, 1e9};
  for (int turn = 0; turn < kTurns; ++turn) {
    for (int i = 0; i < 3; ++i) best[i] = std::min(best[i], wall_seconds_of(settings, 1U << i));
  }
  std::printf(
      "%-34s 1, 2, 4 threads: %.3f, %.3f, %.3f s; two are %.2f x one, four take %.2f x two\n", name,
      best[0], best[1], best[2], best[0] / best[1], best[2] / best[1]);
}

}  // namespace

double cpu_seconds() { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }
double wall_seconds() { return seconds_of(CLOCK_MONOTONIC); }

int bench(Arguments arguments) {
  std::uint32_t steps = 4;
  if (!arguments.empty()) {
    const std::string_view word = arguments[0];
    const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), steps);
    const bool is_number = error == std::errc{} && rest == word.data() + word.size() && steps > 0;
    if (!is_number || arguments.size() > 1) {
      std::fprintf(stderr, "photon-netsim: bench %s: allowed is a number of steps\n", word.data());
      return 2;
    }
  }
  Settings settings = table_settings();
  settings.network = {"hyperx", "4x4x4", "static", 8, 2};
  settings.motif = {"exchange", "8x8x8", 19200, steps, 1};
  measure("512 nodes, HyperX 4x4x4, static", settings, 0.20);
  compare_threads("the same", settings);
  settings.network = {"hyperx", "8x8x8", "adaptive", 16, 2};
  settings.motif.ranks = "32x16x16";
  settings.motif.steps = 1;
  measure("8,192 nodes, HyperX 8x8x8, adaptive", settings, 0.09);
  compare_threads("the same", settings);
  return 0;
}

}  // namespace photon::netsim::command
