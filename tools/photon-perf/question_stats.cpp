// stats-overhead: 8-byte puts with the counters on, in turns with the same puts while they are off.
#include "streams.hpp"

namespace photon::perf {
namespace {

void set_counting(const Link& link, bool on) {
  link.job().check(ph_count(link.job().context(), on ? 1 : 0), "switching the counters");
}

Run counted(const Link& link, bool on, Run run) {
  return [&link, on, run = std::move(run)](std::uint64_t count) {
    set_counting(link, on);
    auto outcome = run(count);
    set_counting(link, false);
    return outcome;
  };
}

void ask_one(Bench& bench, Team& team, Link& link, Unit unit, const Run& run) {
  Contest contest;
  contest.unit = unit;
  contest.size_bytes = kWordBytes;
  contest.limits.push_back({"counters off", counted(link, false, run)});
  contest.ours = {unit == Unit::per_second ? "rate, counters on" : "latency, counters on",
                  counted(link, true, run)};
  const auto verdict = compete(team, contest, bench.options.iterations);
  bench.report.add(row_of(bench, contest, verdict, link));
}

}  // namespace

void ask_stats_overhead(Bench& bench) {
  if (bench.job.rank() > 1) return;
  Team team(bench.block, Team::Scope::pair, bench.job.rank(), 2);
  Link latency(bench, team, {bench.options.memory, kWordBytes});
  ask_one(bench, team, latency, Unit::nanoseconds,
          [&](std::uint64_t count) { return ping_pong(latency, count); });
  Link rate(bench, team, {bench.options.memory, kWordBytes, kRingSlots, true});
  ask_one(bench, team, rate, Unit::per_second,
          [&](std::uint64_t count) { return put_stream(rate, count, kCreditInterval); });
}

}  // namespace photon::perf
