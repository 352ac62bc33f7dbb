// task-ring: a hop of a message that goes round the PEs of all processes, one each, whose handlers
// send it on; on fewer processors than processes, as oversubscribe. The limit is a hop of the token
// of oversubscribe, the better of its two forms.
#include <fmt/core.h>

#include <algorithm>

#include "clock.hpp"
#include "questions.hpp"
#include "tasks.hpp"
#include "team.hpp"
#include "token_ring.hpp"

namespace photon::perf {
namespace {

constexpr std::uint64_t kRingLaps = 5'000;
constexpr int kRingRepetitions = 3;

class TaskRing {
 public:
  explicit TaskRing(Bench& bench)
      : crew_(bench.block, Team::Scope::job, bench.job.rank(), bench.job.size()),
        pes_(bench.job, {1, {pass_on}, this}) {}

  Team& crew() noexcept { return crew_; }

  Outcome run(std::uint64_t laps) {
    const auto laps_a_batch = (kBatch + crew_.count() - 1) / crew_.count();
    Outcome outcome;
    crew_.barrier();
    if (crew_.index() != 0) run_until(laps);
    for (std::uint64_t done = 0; crew_.index() == 0 && done < laps;) {
      const auto batch = std::min<std::uint64_t>(laps_a_batch, laps - done);
      const auto start_ns = now_ns();
      left_ = batch;
      send(TaskPes::make(pes_.pe(), 0, 0));
      run_until(batch);
      outcome.batches_ns.push_back(static_cast<double>(now_ns() - start_ns) /
                                   static_cast<double>(batch * crew_.count()));
      done += batch;
    }
    crew_.barrier_while([this] { TaskPes::check(pes_.pe(), ph_task_run(pes_.pe(), 0, nullptr)); });
    return outcome;
  }

 private:
  static void pass_on(ph_task_pe* pe, ph_task_message* message, void* user) {
    auto& self = *static_cast<TaskRing*>(user);
    ++self.met_;
    if (self.crew_.index() == 0 && --self.left_ == 0)
      return TaskPes::check(pe, ph_task_free(pe, message));
    self.send(message);
  }
  void send(ph_task_message* message) {
    const auto next = (crew_.index() + 1) % crew_.count();
    TaskPes::check(pes_.pe(), ph_task_send(pes_.pe(), next, message));
  }
  void run_until(std::uint64_t times) {
    for (const auto wanted = met_ + times; met_ < wanted;)
      TaskPes::check(pes_.pe(), ph_task_run(pes_.pe(), 1, nullptr));
  }

  Team crew_;
  std::uint64_t met_ = 0;   // times that the message was here
  std::uint64_t left_ = 0;  // laps, at index 0
  TaskPes pes_;
};

void keep_faster(Outcome& best, Outcome outcome) {
  const auto figure = [](const Outcome& each) { return figure_of(each, Unit::nanoseconds, 0); };
  if (best.batches_ns.empty() || figure(outcome) < figure(best)) best = std::move(outcome);
}

}  // namespace

void ask_task_ring(Bench& bench) {
  TaskRing ring(bench);
  const auto laps =
      std::min(bench.options.iterations == 0 ? kRingLaps : bench.options.iterations, kRingLaps);
  Outcome tasks;
  Outcome probing;
  Outcome asleep;
  pass_token(bench.job, ring.crew(), 1, Waiting::probing);
  ring.run(1);
  for (int repetition = 0; repetition < kRingRepetitions; ++repetition) {
    keep_faster(probing, pass_token(bench.job, ring.crew(), laps, Waiting::probing));
    keep_faster(asleep, pass_token(bench.job, ring.crew(), laps, Waiting::asleep));
    keep_faster(tasks, ring.run(laps));
  }
  const double probing_ns = figure_of(probing, Unit::nanoseconds, 0);
  const double asleep_ns = figure_of(asleep, Unit::nanoseconds, 0);
  Row row;
  row.question = bench.options.question;
  row.transport = bench.job.path_to(bench.job.rank() == 0 ? 1 : 0).transport;
  row.mode = "a hop of tasks";
  row.iterations = laps;
  row.latency = summarize(tasks.batches_ns);
  if (row.latency) {
    row.limit = std::min(probing_ns, asleep_ns);
    row.limit_name = probing_ns <= asleep_ns ? "rounds, ph_probe" : "rounds, ph_wait";
    row.limit_ratio = row.latency->p50_ns / *row.limit;
  }
  row.note = fmt::format("among {} PEs on {} processors; limit: {}", ring.crew().count(),
                         bench.processors.count(), row.limit_name);
  bench.report.add(std::move(row));
}

}  // namespace photon::perf
