// threads: 8-byte puts a second of all threads of a rank together, to as many of its peer: each on
// a lane of its own, and all on the context's. The limit of a row is one thread on a lane of its
// own in the same run. A rank has one core here, so more threads cannot be faster than one; what is
// asked is what sharing costs.
#include <fmt/core.h>

#include "contest.hpp"
#include "crews.hpp"
#include "limits.hpp"

namespace photon::perf {

void ask_threads(Bench& bench) {
  if (bench.job.rank() > 1) return;
  Team team(bench.block, Team::Scope::pair, bench.job.rank(), 2);
  Crews crews(bench.job, team);
  for (const bool own_lanes : {true, false}) {
    const char* where = own_lanes ? "on lanes of their own" : "on one lane";
    const auto run_with = [&crews, own_lanes](std::uint32_t threads) {
      return [&crews, own_lanes, threads](std::uint64_t count) {
        return crews.run(threads, own_lanes, count);
      };
    };
    for (const std::uint32_t threads : {1u, 2u, Crews::kMost}) {
      Contest contest;
      contest.unit = Unit::per_second;
      contest.size_bytes = sizeof(std::uint64_t);
      contest.ours = {fmt::format("{} thread{} {}", threads, threads == 1 ? "" : "s", where),
                      run_with(threads)};
      if (threads == 1)
        contest.limits = rate_limits(team);
      else
        contest.limits = {
            {"one thread", [&crews](std::uint64_t count) { return crews.run(1, true, count); }}};
      // Enough that what it takes to wake the threads does not count.
      constexpr std::uint64_t kEnough = 1'000'000;
      const auto count = bench.options.iterations == 0 ? kEnough : bench.options.iterations;
      auto row = row_of(bench, contest, compete(team, contest, count));
      row.transport = bench.job.path_to(team.other()).transport;
      row.memory = text_of(MemoryKind::alloc);
      bench.report.add(std::move(row));
    }
  }
}

}  // namespace photon::perf
