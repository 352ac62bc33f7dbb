// task-waiting: the processor time of PEs that have nothing to do, eight of them in all. Every PE
// runs tasks until a timer ends that; the busiest one counts.
#include <fmt/core.h>
#include <photon/task_collect.h>
#include <time.h>

#include <algorithm>

#include "clock.hpp"
#include "questions.hpp"
#include "tasks.hpp"
#include "team.hpp"

namespace photon::perf {
namespace {

constexpr std::uint64_t kIdle_ms = 5'000;  // --iterations gives another number
constexpr double kIdleBar_ns = 5e6 / 5;    // a second
constexpr std::uint32_t kIdlePes = 8;      // of the job, where it has not more ranks

std::uint64_t thread_time_ns() noexcept {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(used.tv_nsec);
}

void end_run(ph_task_pe* pe, void*) { static_cast<void>(ph_task_stop(pe)); }

// Nanoseconds of processor time a second in ph_task_run().
double cost_of_idling(ph_task_pe* pe, std::uint64_t idle_ms) {
  TaskPes::check(pe, ph_task_after(pe, idle_ms * 1000, end_run, nullptr, nullptr));
  const auto used_ns = thread_time_ns();
  const auto start_ns = now_ns();
  TaskPes::check(pe, ph_task_run(pe, -1, nullptr));
  return static_cast<double>(thread_time_ns() - used_ns) * 1e9 /
         static_cast<double>(now_ns() - start_ns);
}

}  // namespace

void ask_task_waiting(Bench& bench) {
  const auto idle_ms = bench.options.iterations == 0 ? kIdle_ms : bench.options.iterations;
  const auto ranks = bench.job.size();
  const auto each = std::max<std::uint32_t>(kIdlePes / ranks, 1);
  double costs[kIdlePes] = {};
  double busiest = 0;
  {
    TaskPes pes(bench.job, {each, {}, nullptr, nullptr, 0, [&](ph_task_pe* pe) {
                              ph_task_place place{};
                              place.size = sizeof place;
                              TaskPes::check(pe, ph_task_shape(pe, &place));
                              costs[place.rank] = cost_of_idling(pe, idle_ms);
                            }});
    costs[0] = cost_of_idling(pes.pe(), idle_ms);
  }  // all threads have ended
  Team crew(bench.block, Team::Scope::job, bench.job.rank(), ranks);
  crew.exchange(*std::max_element(std::begin(costs), std::end(costs)));
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    busiest = std::max(busiest, crew.card_of<double>(rank));
  Row row;
  row.question = bench.options.question;
  row.transport = bench.job.path_to(bench.job.rank() == 0 ? 1 : 0).transport;
  row.mode = "cpu-ns/s in ph_task_run";
  row.iterations = idle_ms;
  row.rate_per_s = busiest;
  row.limit = kIdleBar_ns;
  row.limit_name = "bar";
  row.limit_ratio = busiest / kIdleBar_ns;
  row.note = fmt::format("{:.3f} ms in {} ms, busiest of {} PEs; bar {:.3f} ms",
                         busiest * static_cast<double>(idle_ms) / 1e9, idle_ms, each * ranks,
                         kIdleBar_ns * static_cast<double>(idle_ms) / 1e9);
  bench.report.add(std::move(row));
}

}  // namespace photon::perf
