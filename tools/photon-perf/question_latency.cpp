// notify-latency, put-latency, get-latency.
#include "limit_network.hpp"
#include "streams.hpp"

namespace photon::perf {
namespace {

void ask_one_way(Bench& bench, std::uint64_t size_bytes) {
  if (bench.job.rank() > 1) return;
  Team team(bench.block, Team::Scope::pair, bench.job.rank(), 2);
  Link link(bench, team, fresh_shape(bench, size_bytes));
  Contest contest;
  contest.size_bytes = size_bytes;
  auto limits = put_latency_limits(link, bench.options.memory);
  contest.limits = std::move(limits.entries);
  contest.ours = {link.put_mode(), [&](std::uint64_t count) { return ping_pong(link, count); }};
  const auto verdict = compete(team, contest, bench.options.iterations);
  auto row = row_of(bench, contest, verdict, link);
  row.note += limits.note();
  bench.report.add(std::move(row));
}

}  // namespace

void ask_notify_latency(Bench& bench) { ask_one_way(bench, 0); }

void ask_put_latency(Bench& bench) {
  const auto sizes =
      sizes_or(bench.options, {8, 32, 64, 128, 256, 1024, 4096, 16384, 65536, 262144});
  for (const auto size_bytes : sizes) ask_one_way(bench, size_bytes);
}

void ask_get_latency(Bench& bench) {
  if (bench.job.rank() > 1) return;
  Team team(bench.block, Team::Scope::pair, bench.job.rank(), 2);
  for (const auto size_bytes : sizes_or(bench.options, {8, 64, 256, 1024, 4096, 65536})) {
    Link link(bench, team, fresh_shape(bench, size_bytes));
    Contest contest;
    contest.size_bytes = size_bytes;
    contest.limits = get_latency_limits(team, link.buffers(), bench.options.memory);
    contest.ours = {"get", [&](std::uint64_t count) { return get_each(link, count); }};
    const auto verdict = compete(team, contest, bench.options.iterations);
    bench.report.add(row_of(bench, contest, verdict, link));
  }
}

}  // namespace photon::perf
