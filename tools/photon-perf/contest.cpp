#include "contest.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "clock.hpp"
#include "job.hpp"
#include "limits.hpp"

namespace photon::perf {
namespace {

constexpr std::uint64_t kPingTrips = 10 * kBatch;
constexpr std::size_t kFinalists = 2;      // limit forms kept after the first repetition
constexpr std::size_t kSemifinalists = 4;  // kept after a short run of each
constexpr double kUnsteady = 0.20;         // change of the ping-pong that spoils a row
constexpr std::uint64_t kCountMax = 50'000'000;
constexpr double kNear_ns = 130;    // below: neighbouring cores
constexpr double kSwitch_ns = 900;  // above: the ranks share a core, or lost it meanwhile

// Where a rank shares its processor every trip may last a time slice, so that a few iterations must
// mean little work in all.
struct Effort {
  int repetitions = 4;
  int attempts = 4;
  std::uint64_t ping_trips = kPingTrips;
};

Effort effort_for(std::uint64_t iterations) {
  if (iterations == 0 || iterations >= kBatch) return {};
  return {1, 1, iterations};
}

struct Contender {
  const Entry* entry;
  std::uint64_t count = 0;
  Outcome best;
  double best_figure = 0;
};

// How a run that is to last so long is found.
struct Pace {
  double target_ns;
  std::uint64_t first_count;
  std::uint64_t least = 4;
};
constexpr Pace kFullPace{25e6, kBatch};
constexpr Pace kShortPace{4e6, 8};

// Runs that warm caches and find how many operations fill the time of a run.
std::uint64_t calibrate(Team& team, const Entry& entry, std::uint64_t iterations, Pace pace) {
  if (iterations != 0) {
    entry.run(std::min(iterations, pace.first_count));
    return iterations;
  }
  std::uint64_t count = pace.first_count;
  for (int round = 0; round < 2; ++round) {
    team.barrier();
    const auto start_ns = now_ns();
    entry.run(count);
    const auto elapsed_ns = static_cast<double>(std::max<std::uint64_t>(now_ns() - start_ns, 1));
    const auto scaled = static_cast<double>(count) * pace.target_ns / elapsed_ns;
    count = team.agree(std::clamp(static_cast<std::uint64_t>(scaled), pace.least, kCountMax));
  }
  return count;
}

void run_once(Contender& contender, const Contest& contest) {
  auto outcome = contender.entry->run(contender.count);
  const double figure = figure_of(outcome, contest.unit, contest.size_bytes);
  if (contender.best_figure != 0 && !is_better(figure, contender.best_figure, contest.unit)) return;
  contender.best = std::move(outcome);
  contender.best_figure = figure;
}

// Members keep the same forms, the best `most`: index 0 decides, the others follow.
void keep_best(Team& team, std::vector<Contender>& limits, Unit unit, std::size_t most) {
  std::vector<std::size_t> order(limits.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
    return is_better(limits[left].best_figure, limits[right].best_figure, unit);
  });
  std::vector<Contender> kept;
  for (std::size_t i = 0; i < std::min(most, order.size()); ++i) {
    kept.push_back(std::move(limits[team.agree(order[i])]));
  }
  limits = std::move(kept);
}

// The entries that a short run of each does not rule out.
std::vector<Contender> semifinalists(Team& team, const Contest& contest, std::uint64_t iterations) {
  std::vector<Contender> limits;
  limits.reserve(contest.limits.size());
  for (const auto& entry : contest.limits) limits.push_back({&entry, 0, {}, 0});
  if (limits.size() <= kSemifinalists) return limits;
  const auto shortened = std::min(iterations, kShortPace.first_count);
  for (auto& limit : limits) {
    limit.count = calibrate(team, *limit.entry, shortened, kShortPace);
    run_once(limit, contest);
  }
  keep_best(team, limits, contest.unit, kSemifinalists);
  for (auto& limit : limits) limit = {limit.entry, 0, {}, 0};
  return limits;
}

// The state of the machine between the first two members, while others sleep.
double ping_of(Team& team, std::uint64_t round_trips) {
  if (team.count() == 2) return ping_pong_ns(team, round_trips);
  double ping_ns = 0;
  if (team.index() < 2) {
    auto pair = team.first_two();
    ping_ns = ping_pong_ns(pair, round_trips);
  }
  team.barrier_asleep();
  return ping_ns;
}

Verdict attempt(Team& team, const Contest& contest, std::uint64_t iterations) {
  Verdict verdict;
  const auto effort = effort_for(iterations);
  verdict.ping_before_ns = ping_of(team, effort.ping_trips);
  auto limits = semifinalists(team, contest, iterations);
  auto pace = kFullPace;
  pace.least = contest.least;
  pace.first_count = contest.first;
  for (auto& limit : limits) limit.count = calibrate(team, *limit.entry, iterations, pace);
  Contender ours{&contest.ours, 0, {}, 0};
  if (ours.entry->run) ours.count = calibrate(team, *ours.entry, iterations, pace);
  for (int repetition = 0; repetition < effort.repetitions; ++repetition) {
    for (auto& limit : limits) run_once(limit, contest);
    if (ours.entry->run) run_once(ours, contest);
    for (auto& limit : limits) run_once(limit, contest);
    if (ours.entry->run) run_once(ours, contest);  // as many chances for ours as for a limit
    if (repetition == 0) keep_best(team, limits, contest.unit, kFinalists);
  }
  verdict.ping_after_ns = ping_of(team, effort.ping_trips);
  verdict.iterations = ours.entry->run || limits.empty() ? ours.count : limits.front().count;
  verdict.ours = std::move(ours.best);
  for (auto& limit : limits) {
    if (verdict.limit == 0 || is_better(limit.best_figure, verdict.limit, contest.unit)) {
      verdict.limit = limit.best_figure;
      verdict.limit_name = limit.entry->name;
      if (!ours.entry->run) verdict.ours = limit.best;
    }
  }
  return verdict;
}

bool is_steady(const Verdict& verdict) {
  const auto [low, high] = std::minmax(verdict.ping_before_ns, verdict.ping_after_ns);
  return high <= low * (1 + kUnsteady);
}

std::string state_of(double ping_ns) {
  if (ping_ns < kNear_ns) return "near";
  return ping_ns < kSwitch_ns ? "far" : "sharing a core";
}

}  // namespace

Verdict compete(Team& team, const Contest& contest, std::uint64_t iterations) {
  Verdict verdict;
  for (int tries = 0; tries < effort_for(iterations).attempts; ++tries) {
    verdict = attempt(team, contest, iterations);
    if (team.agree(is_steady(verdict) ? 1 : 0) == 1) break;
  }
  return verdict;
}

Row row_of(const Bench& bench, const Contest& contest, const Verdict& verdict) {
  Row row;
  row.question = bench.options.question;
  row.mode = contest.ours.run ? contest.ours.name : verdict.limit_name;
  row.size_bytes = contest.size_bytes;
  row.iterations = verdict.iterations;
  const double figure = figure_of(verdict.ours, contest.unit, contest.size_bytes);
  if (contest.unit == Unit::nanoseconds) {
    row.latency = summarize(verdict.ours.batches_ns);
  } else {
    row.rate_per_s = verdict.ours.per_second;
    if (contest.unit == Unit::megabytes_per_second) row.bandwidth_mbps = figure;
  }
  if (verdict.limit > 0) {
    row.limit = verdict.limit;
    row.limit_ratio = figure / verdict.limit;
  }
  row.limit_name = verdict.limit_name;
  row.machine = {verdict.ping_before_ns, verdict.ping_after_ns, state_of(verdict.ping_after_ns),
                 is_steady(verdict)};
  row.note =
      fmt::format("{}; ping-pong {:.0f} > {:.0f} ns{}", row.limit_name, verdict.ping_before_ns,
                  verdict.ping_after_ns, row.machine->is_steady ? "" : ", UNSTEADY");
  return row;
}

}  // namespace photon::perf
