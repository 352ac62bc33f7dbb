// am-quiesce: ph_am_quiesce() of all ranks that have nothing under way, one behind the other: what
// the end of a phase costs by itself. The limit is one way of a notification between the first two
// (notify-latency); two waves over a tree are four messages one behind the other for two ranks.
#include <fmt/core.h>

#include <memory>

#include "clock.hpp"
#include "messages.hpp"
#include "streams.hpp"

namespace photon::perf {
namespace {

Outcome quiesce_each(const Job& job, Team& team, std::uint64_t count) {
  Outcome outcome;
  team.barrier();
  const auto batches = batches_for(count);
  for (std::uint64_t batch = 0; batch < batches.count; ++batch) {
    const auto start_ns = now_ns();
    for (std::uint64_t i = 0; i < batches.each; ++i)
      job.check(ph_am_quiesce(job.context(), PH_FOREVER), "waiting for quiescence");
    if (team.index() == 0)
      outcome.batches_ns.push_back(static_cast<double>(now_ns() - start_ns) /
                                   static_cast<double>(batches.each));
  }
  team.barrier();
  return outcome;
}

}  // namespace

void ask_am_quiesce(Bench& bench) {
  Team team(bench.block, Team::Scope::job, bench.job.rank(), bench.job.size());
  Team pair(bench.block, Team::Scope::pair, bench.job.rank(), 2);
  std::unique_ptr<Link> link;
  if (team.index() < 2)
    link = std::make_unique<Link>(bench, pair, Link::Shape{bench.options.memory, 0});
  team.barrier_asleep();
  Contest contest;
  contest.limits = {{"ph_notify", [&](std::uint64_t count) {
                       Outcome outcome;
                       if (link != nullptr) outcome = ping_pong(*link, count);
                       team.barrier_asleep();
                       return outcome;
                     }}};
  contest.ours = {fmt::format("{} idle ranks", team.count()),
                  [&](std::uint64_t count) { return quiesce_each(bench.job, team, count); }};
  const auto verdict = compete(team, contest, bench.options.iterations);
  if (link != nullptr) bench.report.add(row_of(bench, contest, verdict, *link));
}

}  // namespace photon::perf
