// put-rate, put-bandwidth, get-bandwidth.
#include <fmt/core.h>

#include "limit_network.hpp"
#include "streams.hpp"

namespace photon::perf {
namespace {

// What one process does alone, for the reader: the stream above it cannot pass it.
std::string local_copy_note(Bench& bench, Team& team, const Link& link) {
  Contest contest;
  contest.unit = Unit::megabytes_per_second;
  contest.size_bytes = link.size_bytes();
  const auto alone = local_copy(team, link.buffers());
  constexpr std::uint64_t kCopiedBytes = 64U << 20;
  const auto count = bench.options.iterations != 0
                         ? bench.options.iterations
                         : std::max<std::uint64_t>(kCopiedBytes / (link.size_bytes() + 1), kWindow);
  alone.run(count);
  const auto figure = figure_of(alone.run(count), contest.unit, contest.size_bytes);
  return fmt::format("; {} {:.0f} MB/s", alone.name, figure);
}

}  // namespace

void ask_put_rate(Bench& bench) {
  if (bench.job.rank() > 1) return;
  Team team(bench.block, Team::Scope::pair, bench.job.rank(), 2);
  Link link(bench, team, {bench.options.memory, kWordBytes, kRingSlots, true});
  Contest contest;
  contest.unit = Unit::per_second;
  contest.size_bytes = kWordBytes;
  auto limits = put_rate_limits(link);
  contest.limits = std::move(limits.entries);
  contest.ours = {link.put_mode(),
                  [&](std::uint64_t count) { return put_stream(link, count, kCreditInterval); }};
  const auto verdict = compete(team, contest, bench.options.iterations);
  auto row = row_of(bench, contest, verdict, link);
  row.note += limits.note();
  bench.report.add(std::move(row));
}

void ask_put_bandwidth(Bench& bench) {
  if (bench.job.rank() > 1) return;
  Team team(bench.block, Team::Scope::pair, bench.job.rank(), 2);
  for (const auto size_bytes :
       sizes_or(bench.options, {4096, 16384, 65536, 262144, 1U << 20, 4U << 20})) {
    Link link(bench, team, fresh_shape(bench, size_bytes));
    Contest contest;
    contest.unit = Unit::megabytes_per_second;
    contest.size_bytes = size_bytes;
    auto limits = put_bandwidth_limits(link, bench.options.memory);
    contest.limits = std::move(limits.entries);
    contest.ours = {link.put_mode(),
                    [&](std::uint64_t count) { return put_stream(link, count, 1); }};
    const auto verdict = compete(team, contest, bench.options.iterations);
    auto row = row_of(bench, contest, verdict, link);
    row.note += limits.note() + local_copy_note(bench, team, link);
    bench.report.add(std::move(row));
  }
}

void ask_get_bandwidth(Bench& bench) {
  if (bench.job.rank() > 1) return;
  Team team(bench.block, Team::Scope::pair, bench.job.rank(), 2);
  for (const auto size_bytes :
       sizes_or(bench.options, {4096, 16384, 65536, 262144, 1U << 20, 4U << 20})) {
    Link link(bench, team, fresh_shape(bench, size_bytes));
    Contest contest;
    contest.unit = Unit::megabytes_per_second;
    contest.size_bytes = size_bytes;
    contest.limits = get_bandwidth_limits(team, link.buffers(), bench.options.memory);
    contest.ours = {"get", [&](std::uint64_t count) { return get_stream(link, count); }};
    const auto verdict = compete(team, contest, bench.options.iterations);
    bench.report.add(row_of(bench, contest, verdict, link));
  }
}

}  // namespace photon::perf
