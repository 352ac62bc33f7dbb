// waiting: the share of a processor that a rank asleep in ph_wait uses. Every rank sleeps; the
// busiest one counts.
#include <fmt/core.h>

#include <algorithm>

#include "clock.hpp"
#include "inbox.hpp"
#include "questions.hpp"
#include "resources.hpp"
#include "team.hpp"

namespace photon::perf {
namespace {

constexpr std::uint64_t kSleepDefault_ms = 3'000;  // --iterations gives another number
constexpr double kBar_ns = 5e6;                    // 0.5 % of a processor, per second

// So that there is somebody to wait for: everyone has heard of its neighbour.
void greet_neighbour(const Job& job) {
  Inbox inbox(job);
  const auto next = (job.rank() + 1) % job.size();
  inbox.post([&] { return ph_notify(job.context(), next, 1); }, "notifying",
             [](const ph_completion&) {});
  inbox.await_remote();
}

// Nanoseconds of processor time a second asleep.
double cost_of_sleep(const Job& job, std::uint64_t sleep_ms) {
  const auto cpu_before_ns = cpu_time_ns();
  const auto start_ns = now_ns();
  const auto status = ph_wait(job.context(), {PH_ANY_RANK, PH_EITHER, nullptr},
                              static_cast<std::int64_t>(sleep_ms) * 1000);
  if (status != PH_TIMEOUT) job.check(status == PH_OK ? PH_ERR_STATE : status, "sleeping");
  return static_cast<double>(cpu_time_ns() - cpu_before_ns) * 1e9 /
         static_cast<double>(now_ns() - start_ns);
}

}  // namespace

void ask_waiting(Bench& bench) {
  Team crew(bench.block, Team::Scope::job, bench.job.rank(), bench.job.size());
  greet_neighbour(bench.job);
  crew.barrier_asleep();
  const auto sleep_ms = bench.options.iterations == 0 ? kSleepDefault_ms : bench.options.iterations;
  crew.exchange(cost_of_sleep(bench.job, sleep_ms));
  double busiest = 0;
  for (std::uint32_t rank = 0; rank < crew.count(); ++rank) {
    busiest = std::max(busiest, crew.card_of<double>(rank));
  }
  Row row;
  row.question = bench.options.question;
  row.transport = bench.job.path_to(bench.job.rank() == 0 ? 1 : 0).transport;
  row.mode = "cpu-ns/s in ph_wait";
  row.iterations = sleep_ms;
  row.rate_per_s = busiest;
  row.limit = kBar_ns;
  row.limit_name = "bar";
  row.limit_ratio = busiest / kBar_ns;
  row.note = fmt::format("{:.3f} % of a processor, busiest of {} ranks in {} ms; bar 0.5 %",
                         busiest / 1e7, crew.count(), sleep_ms);
  bench.report.add(std::move(row));
}

}  // namespace photon::perf
