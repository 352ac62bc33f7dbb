// task-pingpong: one way of a message whose handler reads every byte of it and sends it back,
// between two processes and between two PEs of one; and messages a second from one PE to the other.
// Limits, in the same run: an active message to a handler that reads it (am-latency), a put of 8
// bytes (put-latency), and a line that two threads write in turns.
#include <thread>

#include "checksum.hpp"
#include "clock.hpp"
#include "contest.hpp"
#include "messages.hpp"
#include "streams.hpp"
#include "tasks.hpp"

namespace photon::perf {
namespace {

constexpr std::uint64_t kSmallBytes = 40;  // what travels in one line
constexpr std::uint64_t kMessageBytes = 48;

enum PingHandler : std::uint32_t { kBounce, kTake, kEndPings };

// One message that goes to and fro between PE 0 and `other`, and reads of it on both sides.
class Bouncing {
 public:
  Bouncing(const Bench& bench, std::uint32_t pes)
      : pes_(bench.job, {pes, {bounce, take, stop}, this, &bench.processors, bench.job.rank()}) {}

  // By PE 0; by PE `other` if it is the first of a process. Both with the same count.
  Outcome run(std::uint32_t other, std::uint64_t size_bytes, std::uint64_t round_trips) {
    other_ = other;
    ph_task_pe* pe = pes_.pe();
    const bool begins = own_of(pe) == 0;
    const auto batches = batches_for(round_trips);
    if (begins) {
      left_ = 0;
      ph_task_message* message = TaskPes::make(pe, kBounce, size_bytes);
      fill_pattern(ph_task_body(message), size_bytes, size_bytes);
      expected_ = checksum_of(ph_task_body(message), size_bytes);
      kept_ = message;
    }
    Outcome outcome;
    for (std::uint64_t batch = 0; batch < batches.count; ++batch) {
      left_ = batches.each;
      const auto start_ns = now_ns();
      if (begins) TaskPes::check(pe, ph_task_send(pe, other, kept_));
      TaskPes::check(pe, ph_task_run(pe, -1, nullptr));
      if (begins)
        outcome.batches_ns.push_back(static_cast<double>(now_ns() - start_ns) /
                                     static_cast<double>(2 * batches.each));
    }
    if (begins) TaskPes::check(pe, ph_task_free(pe, kept_));
    return outcome;
  }
  // Messages of the pool of PE 0 to PE 1 of the same process, which frees them.
  Outcome stream(std::uint64_t count) {
    ph_task_pe* pe = pes_.pe();
    left_taken_ = count;
    const auto start_ns = now_ns();
    constexpr std::uint64_t kAtOnce = 64;
    for (std::uint64_t sent = 0; sent != count; ++sent) {
      if (sent % kAtOnce == 0) TaskPes::check(pe, ph_task_run(pe, 0, nullptr));
      TaskPes::check(pe, ph_task_send(pe, 1, TaskPes::make(pe, kTake, 8)));
    }
    TaskPes::check(pe, ph_task_run(pe, -1, nullptr));  // until PE 1 says that it has all
    return {{}, static_cast<double>(count) * 1e9 / static_cast<double>(now_ns() - start_ns)};
  }
  // The other PEs of this process.
  void end_others(std::uint32_t first, std::uint32_t count) {
    ph_task_pe* pe = pes_.pe();
    for (std::uint32_t i = 1; i < count; ++i)
      TaskPes::check(pe, ph_task_send(pe, first + i, TaskPes::make(pe, kEndPings, 0)));
  }

 private:
  static std::uint32_t own_of(const ph_task_pe* pe) {
    ph_task_place place{};
    place.size = sizeof place;
    static_cast<void>(ph_task_shape(pe, &place));
    return place.pe;
  }
  static void bounce(ph_task_pe* pe, ph_task_message* message, void* user) {
    auto& self = *static_cast<Bouncing*>(user);
    const std::uint64_t sum = checksum_of(ph_task_body(message), ph_task_size(message));
    if (ph_task_source(message) == 0) {
      self.answered_ = sum;  // read, as the other side reads
      if (self.counts_here(pe)) ph_task_stop(pe);
      return TaskPes::check(pe, ph_task_send(pe, 0, message));
    }
    if (sum != self.expected_) throw Failure("a message came back with other bytes");
    if (--self.left_ == 0) {
      self.kept_ = message;
      static_cast<void>(ph_task_stop(pe));
      return;
    }
    TaskPes::check(pe, ph_task_send(pe, self.other_, message));
  }
  // The first PE of another process ends its run behind the last answer of a batch.
  bool counts_here(ph_task_pe* pe) { return pe == pes_.pe() && --left_ == 0; }
  static void take(ph_task_pe* pe, ph_task_message* message, void* user) {
    auto& self = *static_cast<Bouncing*>(user);
    if (pe == self.pes_.pe()) {  // PE 1 has all
      TaskPes::check(pe, ph_task_free(pe, message));
      static_cast<void>(ph_task_stop(pe));
    } else if (--self.left_taken_ == 0) {
      TaskPes::check(pe, ph_task_send(pe, 0, message));
    } else {
      TaskPes::check(pe, ph_task_free(pe, message));
    }
  }
  static void stop(ph_task_pe* pe, ph_task_message* message, void*) {
    TaskPes::check(pe, ph_task_free(pe, message));
    static_cast<void>(ph_task_stop(pe));
  }

  TaskPes pes_;
  std::uint32_t other_ = 0;
  std::uint64_t left_ = 0;        // of PE 0, or of the first PE of another process
  std::uint64_t left_taken_ = 0;  // written before the first one is sent, then PE 1's
  std::uint64_t expected_ = 0;
  std::uint64_t answered_ = 0;
  ph_task_message* kept_ = nullptr;
};

// What two threads can do: one line that they write in turns.
Outcome line_between_threads(const Processors& processors, std::uint64_t round_trips) {
  SharedWord word;
  const auto batches = batches_for(round_trips);
  const std::uint64_t all = batches.total();
  std::thread other([&] {
    processors.bind(1);  // this side is on 0
    for (std::uint64_t i = 1; i <= all; ++i) {
      spin_until_equal<SpinForm::pause>(word, 2 * i - 1);
      word.store_release(2 * i);
    }
  });
  Outcome outcome;
  std::uint64_t number = 0;
  for (std::uint64_t batch = 0; batch < batches.count; ++batch) {
    const auto start_ns = now_ns();
    for (std::uint64_t i = 0; i < batches.each; ++i) {
      ++number;
      word.store_release(2 * number - 1);
      spin_until_equal<SpinForm::pause>(word, 2 * number);
    }
    outcome.batches_ns.push_back(static_cast<double>(now_ns() - start_ns) /
                                 static_cast<double>(2 * batches.each));
  }
  other.join();
  return outcome;
}

void ask_between_processes(Bench& bench, Team& team, Bouncing& tasks) {
  for (const auto size_bytes : sizes_or(bench.options, {8, kSmallBytes, 1024, 16384})) {
    const bool is_small = size_bytes <= kSmallBytes;
    Contest contest;
    contest.size_bytes = size_bytes;
    contest.ours = {"between processes", [&](std::uint64_t count) {
                      team.barrier();
                      return tasks.run(1, size_bytes, count);
                    }};
    Link message(bench, team, {bench.options.memory, is_small ? kMessageBytes : size_bytes});
    contest.limits = {{is_small ? "an active message of 48 B" : "an active message",
                       [&](std::uint64_t count) { return message_ping_pong(message, count); }}};
    bench.report.add(
        row_of(bench, contest, compete(team, contest, bench.options.iterations), message));
    if (!is_small) continue;
    Link put(bench, team, {bench.options.memory, kWordBytes});
    contest.limits = {
        {"ph_put_u64 of 8 B", [&](std::uint64_t count) { return ping_pong(put, count); }}};
    bench.report.add(row_of(bench, contest, compete(team, contest, bench.options.iterations), put));
  }
}

// Rank 0 measures between its two PEs; the other one waits for the verdict.
void ask_within_a_process(Bench& bench, Team& team, Bouncing& tasks) {
  const bool measures = team.index() == 0;
  const auto here = [&](auto run) {
    return [&team, measures, run](std::uint64_t count) {
      team.barrier();
      Outcome outcome = measures ? run(count) : Outcome{};
      team.barrier_asleep();
      return outcome;
    };
  };
  Contest contest;
  contest.size_bytes = kWordBytes;
  contest.ours = {"between two PEs",
                  here([&](std::uint64_t count) { return tasks.run(1, kWordBytes, count); })};
  contest.limits = {{"a line between two threads", here([&](std::uint64_t count) {
                       return line_between_threads(bench.processors, count);
                     })}};
  Row row = row_of(bench, contest, compete(team, contest, bench.options.iterations));
  row.transport = "none";
  bench.report.add(std::move(row));
  contest.unit = Unit::per_second;
  contest.ours = {"one way between two PEs",
                  here([&](std::uint64_t count) { return tasks.stream(count); })};
  contest.limits.clear();
  row = row_of(bench, contest, compete(team, contest, bench.options.iterations));
  row.transport = "none";
  bench.report.add(std::move(row));
}

}  // namespace

void ask_task_pingpong(Bench& bench) {
  const std::uint32_t rank = bench.job.rank();
  {
    Bouncing tasks(bench, 1);
    Team team(bench.block, Team::Scope::pair, rank, 2);
    if (rank < 2) ask_between_processes(bench, team, tasks);
  }
  constexpr std::uint32_t kPes = 2;
  Bouncing tasks(bench, kPes);
  Team team(bench.block, Team::Scope::pair, rank, 2);
  if (rank < 2) ask_within_a_process(bench, team, tasks);
  tasks.end_others(rank * kPes, kPes);
}

}  // namespace photon::perf
