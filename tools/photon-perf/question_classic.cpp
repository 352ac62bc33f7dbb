// classic-latency, classic-rate: what the classic API adds to the ph_ calls it is made of.
#include "classic_link.hpp"
#include "streams.hpp"

namespace photon::perf {
namespace {

// The classic session is of all ranks, the measurement of two.
template <class Measure>
void ask(Bench& bench, Unit unit, Measure measure) {
  const ClassicSession session(bench.job, bench.options);
  if (bench.job.rank() > 1) return;
  Team team(bench.block, Team::Scope::pair, bench.job.rank(), 2);
  Link link(bench, team, {bench.options.memory, kWordBytes, kRingSlots, true});
  ClassicLink classic(team, kRingSlots);
  Contest contest;
  contest.unit = unit;
  contest.size_bytes = kWordBytes;
  measure(contest, link, classic);
  const auto verdict = compete(team, contest, bench.options.iterations);
  bench.report.add(row_of(bench, contest, verdict, link));
}

}  // namespace

void ask_classic_latency(Bench& bench) {
  ask(bench, Unit::nanoseconds, [](Contest& contest, Link& link, ClassicLink& classic) {
    contest.limits = {{"ph_put_u64", [&](std::uint64_t count) { return ping_pong(link, count); }}};
    contest.ours = {"classic", [&](std::uint64_t count) { return classic.ping_pong(count); }};
  });
}

// The limit takes its completions in batches. Classic probes take one each, so the row before says
// what one each costs the ph_ calls.
void ask_classic_rate(Bench& bench) {
  const auto in_batches = [](Link& link) {
    return Entry{"ph_put_u64",
                 [&link](std::uint64_t count) { return put_stream(link, count, kCreditInterval); }};
  };
  ask(bench, Unit::per_second, [&](Contest& contest, Link& link, ClassicLink&) {
    contest.limits = {in_batches(link)};
    contest.ours = {"ph_probe_u64", [&link](std::uint64_t count) {
                      return put_stream_one_by_one(link, count, kCreditInterval);
                    }};
  });
  ask(bench, Unit::per_second, [&](Contest& contest, Link& link, ClassicLink& classic) {
    contest.limits = {in_batches(link)};
    contest.ours = {"classic", [&](std::uint64_t count) { return classic.put_stream(count); }};
  });
}

}  // namespace photon::perf
