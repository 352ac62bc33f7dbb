// bench: the rows of speed and memory that must hold, each with its bar. A row is measured in a
// process of its own, so that memory is that row's alone. Speed of one thread is told in `hold`s:
// pops and pushes of events on a std::priority_queue with 100,000 inside. What is compared is
// measured in turns, and the best of each counts: what a busy machine takes away is noise. Runs of
// one thread are held to their bars by processor time, for the same reason.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <queue>

#include "netsim/clock/random.hpp"
#include "netsim/command/command.hpp"
#include "netsim/command/options.hpp"
#include "netsim/command/stopwatch.hpp"
#include "netsim/queue/event.hpp"
#include "netsim/run/simulation.hpp"
#include "netsim/run/table.hpp"

namespace photon::netsim::command {
namespace {

constexpr int kTurns = 5;

// Small inputs show that a row runs; their figures are held to no bar.
enum class Size : bool { full, small };

struct Bar {
  bool is_least;  // else it is the most that is allowed
  double bar;
  double aim;
  const char* unit;
};

bool judge(const char* what, double value, const Bar& bar, Size size) {
  const bool holds = bar.is_least ? value >= bar.bar : value <= bar.bar;
  const bool is_aim = bar.is_least ? value >= bar.aim : value <= bar.aim;
  const char* verdict = size == Size::small ? "small" : is_aim ? "aim" : holds ? "holds" : "MISSED";
  std::printf("  %-36s %9.3f %-8s %s %g, aim %g: %s\n", what, value, bar.unit,
              bar.is_least ? "at least" : "at most", bar.bar, bar.aim, verdict);
  return holds || size == Size::small;
}

double seconds_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

struct Later {
  bool operator()(const Event& a, const Event& b) const { return b < a; }
};

double holds_per_second(Size size) {
  const std::uint32_t holds = size == Size::small ? 20000 : 2000000;
  constexpr std::uint32_t kInside = 100000;
  std::priority_queue<Event, std::vector<Event>, Later> queue;
  Random random(1, 1);
  for (std::uint32_t i = 0; i < kInside; ++i) {
    queue.push(Event::at(random.below(200000), EventKind::arrival, i));
  }
  const double start = cpu_seconds();
  for (std::uint32_t i = 0; i < holds; ++i) {
    Event event = queue.top();
    queue.pop();
    event.time += 1 + random.below(200000);
    queue.push(event);
  }
  return holds / (cpu_seconds() - start);
}

struct Measured {
  double seconds = 0;
  double cpu_seconds = 0;
  double hops = 0;
  bool is_right = false;
};

// The run alone, without what is made for it.
Measured measured(const Settings& settings) {
  auto simulation = make_simulation(settings);
  if (!simulation) {
    std::fprintf(stderr, "photon-netsim: bench: %s\n", simulation.error().c_str());
    return {};
  }
  const Stopwatch watch;
  const RunResult result = (*simulation)->run();
  const Speed speed = watch.speed();
  if (!result.failure.empty()) {
    std::fprintf(stderr, "photon-netsim: bench: %s\n", result.failure.c_str());
  }
  return {speed.seconds, speed.cpu_seconds, static_cast<double>(result.hops),
          result.failure.empty()};
}

bool compare_with_hold(const Settings& settings, const Bar& bar, Size size) {
  double holds = 0;
  double hops = 0;
  for (int turn = 0; turn < (size == Size::small ? 1 : kTurns); ++turn) {
    holds = std::max(holds, holds_per_second(size));
    const Measured run = measured(settings);
    if (!run.is_right) return false;
    hops = std::max(hops, run.hops / run.cpu_seconds);
  }
  std::printf("  %.3f million packet-hops/s, hold %.3f million/s\n", hops / 1e6, holds / 1e6);
  return judge("packet-hops a hold", hops / holds, bar, size);
}

bool compare_threads(Settings settings, const Bar& bar, Size size) {
  double best[] = {1e9, 1e9, 1e9};
  for (int turn = 0; turn < (size == Size::small ? 1 : kTurns); ++turn) {
    for (int i = 0; i < 3; ++i) {
      settings.threads = 1U << i;
      const Measured run = measured(settings);
      if (!run.is_right) return false;
      best[i] = std::min(best[i], run.seconds);
    }
  }
  std::printf("  1, 2, 4 threads: %.3f, %.3f, %.3f s\n", best[0], best[1], best[2]);
  const bool two = judge("two threads, as fast as one", best[0] / best[1], bar, size);
  const Bar most{false, 1.5, 1.1, "x"};
  return judge("four threads, time of two", best[2] / best[1], most, size) && two;
}

bool run_once(const Settings& settings, const Bar& time, const Bar& memory, Size size) {
  const Measured run = measured(settings);
  const double bytes = static_cast<double>(Stopwatch().speed().memory_bytes);
  if (!run.is_right) return false;
  std::printf("  %.3f s, %.3f s of processors, %.3f million packet-hops/s\n", run.seconds,
              run.cpu_seconds, run.hops / run.seconds / 1e6);
  const double seconds = settings.threads == 1 ? run.cpu_seconds : run.seconds;
  const bool is_fast = judge("time", seconds, time, size);
  return judge("memory of the process", bytes / 1e6, memory, size) && is_fast;
}

Settings exchange_512(Size size) {
  const bool is_small = size == Size::small;
  Settings settings = table_settings();
  settings.network = {"hyperx", is_small ? "2x2x2" : "4x4x4", "static", 8, 2};
  settings.motif = {"exchange", is_small ? "4x4x4" : "8x8x8", 19200, is_small ? 1U : 10U, 1};
  return settings;
}

Settings exchange_8192(Size size) {
  const bool is_small = size == Size::small;
  Settings settings = table_settings();
  settings.network = {"hyperx", is_small ? "2x2x2" : "8x8x8", "adaptive", 16, 2};
  settings.motif = {"exchange", is_small ? "8x4x4" : "32x16x16", 19200, 1, 1};
  return settings;
}

Settings sweep3d(Size size, const char* protocol) {
  const bool is_small = size == Size::small;
  Settings settings;
  settings.network = {"dragonfly", is_small ? "2:4:2:4" : "16:32:32:16", "ugal"};
  settings.link_GBps = 250;
  settings.flit_bytes = 64;
  settings.nic.protocol = protocol;
  settings.motif.name = "sweep3d";
  settings.motif.ranks = is_small ? "4x8" : "64x128";
  return settings;
}

bool hops_512(Size size) {
  return compare_with_hold(exchange_512(size), {true, 0.20, 0.35, "x hold"}, size);
}

bool hops_8192(Size size) {
  return compare_with_hold(exchange_8192(size), {true, 0.09, 0.18, "x hold"}, size);
}

bool threads_512(Size size) {
  return compare_threads(exchange_512(size), {true, 1.5, 1.85, "x"}, size);
}

bool threads_8192(Size size) {
  return compare_threads(exchange_8192(size), {true, 1.65, 1.85, "x"}, size);
}

bool sweep_rvma(Size size) {
  return run_once(sweep3d(size, "rvma"), {false, 10, 4, "s"}, {false, 150, 150, "MB"}, size);
}

bool sweep_usual(Size size) {
  return run_once(sweep3d(size, "rdma-usual"), {false, 10, 4, "s"}, {false, 150, 150, "MB"}, size);
}

bool sweep_262144(Size size) {
  Settings settings = sweep3d(size, "rvma");
  settings.threads = 2;
  settings.ranks_per_node = size == Size::small ? 4 : 32;
  settings.motif.ranks = size == Size::small ? "16x8" : "512x512";
  return run_once(settings, {false, 300, 150, "s"}, {false, 1073, 1073, "MB"}, size);
}

bool all_of_check(Size size) {
  const Stopwatch watch;
  if (check() != 0) return false;
  return judge("time", watch.speed().seconds, {false, 5, 5, "s"}, size);
}

struct Row {
  const char* name;
  const char* what;
  bool (*measure)(Size size);
  bool is_long = false;  // minutes: only if it is named
};

constexpr Row kRows[] = {
    {"hops-512", "exchange, HyperX 4x4x4, 512 nodes, static, one thread", hops_512},
    {"hops-8192", "exchange, HyperX 8x8x8, 8,192 nodes, adaptive, one thread", hops_8192},
    {"threads-512", "the first, 1, 2 and 4 threads in turns", threads_512},
    {"threads-8192", "the second, 1, 2 and 4 threads in turns", threads_8192},
    {"sweep-rvma", "Sweep3D, 8,192 ranks, dragonfly 16:32:32:16, rvma", sweep_rvma},
    {"sweep-usual", "the same with rdma-usual", sweep_usual},
    {"check", "photon-netsim check", all_of_check},
    {"sweep-262144", "Sweep3D, 512x512 ranks, 32 a node, rvma, two threads", sweep_262144, true},
};

// In a process of its own; true if its bars hold.
bool measure_apart(const Row& row, Size size) {
  std::printf("%s: %s\n", row.name, row.what);
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) {
    std::perror("photon-netsim: bench: fork");
    return false;
  }
  if (child == 0) {
    const bool holds = row.measure(size);
    std::fflush(stdout);
    _exit(holds ? 0 : 1);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::string names() {
  std::string all;
  for (const Row& row : kRows) all += std::string(row.name) + ", ";
  return all + "--small";
}

bool is_row(std::string_view word) {
  return std::any_of(std::begin(kRows), std::end(kRows),
                     [&](const Row& row) { return word == row.name; });
}

}  // namespace

double cpu_seconds() { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }
double wall_seconds() { return seconds_of(CLOCK_MONOTONIC); }

int bench(Arguments arguments) {
  Size size = Size::full;
  std::vector<std::string_view> wanted;
  for (const std::string_view word : arguments) {
    if (word == "--small") {
      size = Size::small;
    } else if (is_row(word)) {
      wanted.push_back(word);
    } else {
      return refuse("bench " + std::string(word) + ": allowed are " + names());
    }
  }
  int missed = 0;
  for (const Row& row : kRows) {
    const bool is_wanted = wanted.empty()
                               ? !row.is_long
                               : std::find(wanted.begin(), wanted.end(), row.name) != wanted.end();
    if (is_wanted && !measure_apart(row, size)) ++missed;
    if (wanted.empty() && row.is_long) std::printf("%s: minutes long, only if named\n", row.name);
  }
  return missed == 0 ? 0 : 1;
}

}  // namespace photon::netsim::command
