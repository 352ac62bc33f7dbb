// task-switch: what a turn of a thread of tasks costs: threads that yield, so that each is queued
// and taken again, 256 of them in the order in which they were made, and 10,000 in a random order;
// and a thread that is made, run to its end and freed. The network is looked at as ever. The limit
// is a bare switch of Boost.Context to a stack and back.
#include <photon/task.h>

#include <algorithm>
#include <boost/context/fiber.hpp>
#include <cfenv>
#include <random>
#include <utility>
#include <vector>

#include "clock.hpp"
#include "contest.hpp"
#include "memory_row.hpp"
#include "task_pe.hpp"

namespace photon::perf {
namespace {

namespace context = boost::context;

// Of a run: 10,000 threads are made and freed for it, and each has its turn many times.
constexpr std::uint64_t kLeast = 200'000;

// So many operations, in batches of which each is timed.
template <class Batch>
Outcome timed(std::uint64_t count, Batch run) {
  const Batches batches = batches_for(count);
  Outcome outcome;
  outcome.batches_ns.reserve(batches.count);
  for (std::uint64_t i = 0; i < batches.count; ++i) {
    const auto start_ns = now_ns();
    run(batches.each);
    outcome.batches_ns.push_back(static_cast<double>(now_ns() - start_ns) /
                                 static_cast<double>(batches.each));
  }
  return outcome;
}

Outcome bare_switch(std::uint64_t count) {
  context::fiber inside([](context::fiber&& outside) {
    for (;;) outside = std::move(outside).resume();
    return std::move(outside);
  });
  return timed(count, [&](std::uint64_t switches) {
    for (std::uint64_t i = 0; i < switches; ++i) inside = std::move(inside).resume();
  });
}

class Switches {
 public:
  explicit Switches(Job& job) : pe_(job) {}

  // So many yields of all threads together.
  Outcome yield(std::uint32_t threads, bool is_random, std::uint64_t count) {
    left_ = threads + batches_for(count).total() + 1;  // more than are timed
    std::vector<ph_task_thread> all(threads);
    for (ph_task_thread& thread : all) make(yields, thread);
    if (is_random) std::shuffle(all.begin(), all.end(), std::mt19937(1));
    for (const ph_task_thread& thread : all) pe_.check(ph_task_thread_awaken(pe_, thread));
    pe_.check(ph_task_run(pe_, threads, nullptr));  // each has begun
    Outcome outcome = timed(count, [this](std::uint64_t turns) {
      pe_.check(ph_task_run(pe_, static_cast<std::int64_t>(turns), nullptr));
    });
    left_ = 0;
    pe_.check(ph_task_run(pe_, 0, nullptr));  // all are over
    return outcome;
  }

  Outcome make_and_free(std::uint64_t count) {
    return timed(count, [this](std::uint64_t threads) {
      ph_task_thread thread{};
      for (std::uint64_t i = 0; i < threads; ++i) {
        make(ends, thread);
        pe_.check(ph_task_thread_awaken(pe_, thread));
        pe_.check(ph_task_run(pe_, 1, nullptr));
      }
    });
  }

 private:
  static void ends(ph_task_pe*, void*) {}
  static void yields(ph_task_pe* pe, void* user) {
    auto& self = *static_cast<Switches*>(user);
    while (self.left_ != 0) {
      --self.left_;
      if (ph_task_thread_yield(pe) != PH_OK) self.pe_.check(PH_ERR_MEMORY);
    }
  }
  void make(ph_task_thread_function function, ph_task_thread& thread) {
    ph_task_thread_args args{};
    args.size = sizeof args;
    args.function = function;
    args.user = this;
    pe_.check(ph_task_thread_create(pe_, &args, &thread));
  }

  TaskPe pe_;
  std::uint64_t left_ = 0;
};

}  // namespace

void ask_task_switch(Bench& bench) {
  const MemoryRow memory;
  Switches switches(bench.job);  // all processes have PEs
  if (bench.job.rank() > 1) return;
  Team team(bench.block, Team::Scope::pair, bench.job.rank(), 2);
  const bool measures = team.index() == 0;
  // Whoever computes has rounded something. A switch between two that differ in it takes many times
  // as long on some processors (docs/tasks.md, "The life of a thread").
  std::feraiseexcept(FE_INEXACT);
  const Entry entries[] = {
      {"yield, 256 threads",
       [&](std::uint64_t count) { return switches.yield(256, false, count); }},
      {"yield, 10,000 threads in random order",
       [&](std::uint64_t count) { return switches.yield(10'000, true, count); }},
      {"create, run and free", [&](std::uint64_t count) { return switches.make_and_free(count); }}};
  const auto on_first = [&](Run run) {
    return [&team, measures, run = std::move(run)](std::uint64_t count) {
      team.barrier();
      return measures ? run(count) : Outcome{};
    };
  };
  for (const Entry& entry : entries) {
    Contest contest;
    contest.least = kLeast;
    contest.ours = {entry.name, on_first(entry.run)};
    contest.limits = {{"a switch there and back", on_first(bare_switch)}};
    auto row = row_of(bench, contest, compete(team, contest, bench.options.iterations));
    row.transport = "none";
    bench.report.add(std::move(row));
  }
  memory.add(bench);
}

}  // namespace photon::perf
