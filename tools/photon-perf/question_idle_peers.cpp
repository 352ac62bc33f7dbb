// idle-peers: put-latency between ranks 0 and 1 while others, who each once contacted both, sleep
// in ph_wait. The baseline is the row with none of them awake yet.
#include <fmt/core.h>

#include <algorithm>

#include "streams.hpp"

namespace photon::perf {
namespace {

enum Command : std::uint64_t { kHello = 1, kContact = 2, kStop = 3 };

void tell(const Bench& bench, ph_rank rank, Command command) {
  Inbox inbox(bench.job);
  inbox.post([&] { return ph_notify(bench.job.context(), rank, command); }, "notifying");
}

// Sleeps until rank 0's next command.
std::uint64_t next_command(const Bench& bench, Inbox& inbox) {
  const ph_query query{PH_ANY_RANK, PH_EITHER, nullptr};
  std::uint64_t command = 0;
  while (command == 0) {
    bench.job.check(ph_wait(bench.job.context(), query, PH_FOREVER), "waiting for a command");
    inbox.poll([&](const ph_completion& completion) { command = completion.id; });
  }
  return command;
}

void be_silent(const Bench& bench) {
  Inbox inbox(bench.job);
  auto command = next_command(bench, inbox);
  if (command == kContact) {
    tell(bench, 0, kHello);
    tell(bench, 1, kHello);
    command = next_command(bench, inbox);
  }
  if (command != kStop) throw Failure("an unexpected command reached a silent rank");
}

void await_hellos(const Bench& bench, std::uint32_t count) {
  Inbox inbox(bench.job);
  std::uint32_t seen = 0;
  while (seen < count) {
    inbox.poll([&](const ph_completion&) { ++seen; });
  }
}

std::vector<std::uint32_t> silent_counts(const Bench& bench) {
  const auto available = bench.job.size() - 2;
  std::vector<std::uint32_t> counts{0};
  for (const std::uint32_t count : {16U, 64U, 128U}) {
    if (count <= available) counts.push_back(count);
  }
  if (counts.size() == 1 && available > 0) counts.push_back(available);
  if (available < 128) {
    bench.report.say(
        fmt::format("idle-peers: {} silent ranks at most here; -n 130 shows 128", counts.back()));
  }
  return counts;
}

}  // namespace

void ask_idle_peers(Bench& bench) {
  const auto rank = bench.job.rank();
  if (rank > 1) return be_silent(bench);
  Team team(bench.block, Team::Scope::pair, rank, 2);
  const auto size_bytes = sizes_or(bench.options, {8}).front();
  Link link(bench, team, {bench.options.memory, size_bytes});
  std::uint32_t awake = 0;
  double baseline_ns = 0;
  for (const auto count : silent_counts(bench)) {
    if (rank == 0) {
      for (auto silent = awake; silent < count; ++silent) tell(bench, silent + 2, kContact);
    }
    await_hellos(bench, count - awake);
    awake = count;
    Contest contest;
    contest.size_bytes = size_bytes;
    contest.limits = latency_limits(team, link.buffers());
    contest.ours = {fmt::format("{} silent", count),
                    [&](std::uint64_t trips) { return ping_pong(link, trips); }};
    auto row = row_of(bench, contest, compete(team, contest, bench.options.iterations), link);
    if (row.latency && count == 0) baseline_ns = row.latency->p50_ns;
    if (row.latency && count > 0) {
      row.note += fmt::format("; {:+.1f}% to none", 100 * (row.latency->p50_ns / baseline_ns - 1));
    }
    bench.report.add(std::move(row));
  }
  for (ph_rank silent = 2; rank == 0 && silent < bench.job.size(); ++silent) {
    tell(bench, silent, kStop);
  }
}

}  // namespace photon::perf
