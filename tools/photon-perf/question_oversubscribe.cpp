// oversubscribe: as many messages among all ranks as between two, in one run; and dependent
// rounds, where each rank waits for its neighbour, beside the cost of switching processes.
#include <fmt/core.h>

#include <algorithm>

#include "clock.hpp"
#include "flood.hpp"
#include "questions.hpp"
#include "token_ring.hpp"

namespace photon::perf {
namespace {

constexpr std::uint64_t kFloodDefault = 2'000'000;
constexpr std::uint64_t kLapsDefault = 5'000;
constexpr std::uint64_t kMessagesALap = 40;  // who asks for fewer messages wants fewer laps, too
constexpr std::uint64_t kWarmupMessages = 256;
constexpr int kRepetitions = 3;

struct Span {  // of one rank's part
  std::uint64_t start_ns;
  std::uint64_t end_ns;
};

// Messages a second when the first `members` ranks flood each other; the rest sleep. From the
// first start to the last end, wherever they were.
double flood_rate(Bench& bench, Team& crew, Flood& flood, std::uint32_t members,
                  std::uint64_t messages) {
  const auto pairs = std::uint64_t{members} * (members - 1);
  const auto messages_each = std::max<std::uint64_t>(messages / pairs, 1);
  const bool member = bench.job.rank() < members;
  Team pack(bench.block, Team::Scope::pair, bench.job.rank(), members);
  if (member) pack.barrier();
  Span mine{now_ns(), 0};
  if (member) flood.run(members, messages_each);
  mine.end_ns = now_ns();
  crew.barrier_asleep();
  crew.exchange(mine);
  Span all = crew.card_of<Span>(0);
  for (std::uint32_t rank = 1; rank < members; ++rank) {
    const auto theirs = crew.card_of<Span>(rank);
    all.start_ns = std::min(all.start_ns, theirs.start_ns);
    all.end_ns = std::max(all.end_ns, theirs.end_ns);
  }
  return static_cast<double>(messages_each * pairs) * 1e9 /
         static_cast<double>(all.end_ns - all.start_ns);
}

Row empty_row(const Bench& bench) {
  Row row;
  row.question = bench.options.question;
  row.transport = bench.job.path_to(bench.job.rank() == 0 ? 1 : 0).transport;
  row.size_bytes = sizeof(std::uint64_t);
  row.memory = text_of(MemoryKind::alloc);
  return row;
}

void measure_floods(Bench& bench, Team& crew, std::uint64_t messages) {
  Flood flood(bench.job, crew);
  const auto ranks = bench.job.size();
  flood_rate(bench, crew, flood, 2, std::min(messages, kWarmupMessages));
  flood_rate(bench, crew, flood, ranks, std::min(messages, kWarmupMessages));
  double two = 0;
  double all = 0;
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    two = std::max(two, flood_rate(bench, crew, flood, 2, messages));
    all = std::max(all, flood_rate(bench, crew, flood, ranks, messages));
  }
  auto row = empty_row(bench);
  row.mode = "2 ranks";
  row.iterations = messages;
  row.rate_per_s = two;
  bench.report.add(row);
  row.mode = fmt::format("{} ranks, all pairs", ranks);
  row.rate_per_s = all;
  row.limit = two;
  row.limit_name = "2 ranks";
  row.limit_ratio = all / two;
  row.note = fmt::format("{:.2f}x the time of 2 ranks, {} processors", two / all,
                         bench.processors.count());
  bench.report.add(std::move(row));
}

// The better of two outcomes, by p50.
void keep_best(Outcome& best, Outcome outcome) {
  const auto figure = [](const Outcome& each) { return figure_of(each, Unit::nanoseconds, 0); };
  if (best.batches_ns.empty() || figure(outcome) < figure(best)) best = std::move(outcome);
}

void measure_rounds(Bench& bench, Team& crew, std::uint64_t laps) {
  Outcome floor;
  Outcome probing;
  Outcome asleep;
  pass_token(bench.job, crew, 1, Waiting::probing);
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    keep_best(floor, yield_token(crew, laps));
    keep_best(probing, pass_token(bench.job, crew, laps, Waiting::probing));
    keep_best(asleep, pass_token(bench.job, crew, laps, Waiting::asleep));
    keep_best(floor, yield_token(crew, laps));
  }
  const auto add = [&](const char* mode, const Outcome& outcome) {
    auto row = empty_row(bench);
    row.mode = mode;
    row.memory.clear();
    row.size_bytes = 0;
    row.iterations = laps;
    row.latency = summarize(outcome.batches_ns);
    row.limit = figure_of(floor, Unit::nanoseconds, 0);
    row.limit_name = "sched_yield";
    if (row.latency) row.limit_ratio = row.latency->p50_ns / *row.limit;
    row.note = fmt::format("a hop among {} ranks; limit: sched_yield", crew.count());
    bench.report.add(std::move(row));
  };
  add("rounds, ph_probe", probing);
  add("rounds, ph_wait", asleep);
}

}  // namespace

void ask_oversubscribe(Bench& bench) {
  Team crew(bench.block, Team::Scope::job, bench.job.rank(), bench.job.size());
  const auto iterations = bench.options.iterations;
  measure_floods(bench, crew, iterations == 0 ? kFloodDefault : iterations);
  measure_rounds(bench, crew,
                 iterations == 0
                     ? kLapsDefault
                     : std::clamp<std::uint64_t>(iterations / kMessagesALap, 1, kLapsDefault));
}

}  // namespace photon::perf
