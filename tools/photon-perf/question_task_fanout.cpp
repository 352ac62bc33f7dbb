// task-fanout: from a message to all other PEs, one a process, until each of them has read it and
// its answer is there; by a broadcast, by a list and by a group. The limit are single sends.
#include <fmt/core.h>

#include <cstring>

#include "checksum.hpp"
#include "clock.hpp"
#include "contest.hpp"

#include "link.hpp"
#include "memory_row.hpp"
#include "tasks.hpp"

namespace photon::perf {
namespace {

enum FanoutHandler : std::uint32_t { kAsk, kAnswer };
enum class FanoutWay : std::uint8_t { broadcast, list, group, single };

class Fan {
 public:
  explicit Fan(Job& job) : size_(job.size()), pes_(job, {1, {ask, answer}, this}) {
    for (std::uint32_t pe = 1; pe < size_; ++pe) others_.push_back(pe);
    const ph_task_list list = others();
    TaskPes::check(pes_.pe(), ph_task_group(pes_.pe(), &list, &group_));
  }

  // All processes, with the same count.
  Outcome run(Team& team, FanoutWay way, std::uint64_t size_bytes, std::uint64_t count) {
    ph_task_pe* pe = pes_.pe();
    team.barrier_asleep();
    const auto batches = batches_for(count);
    Outcome outcome;
    if (team.index() != 0) {
      TaskPes::check(pe, ph_task_run(pe, static_cast<std::int64_t>(batches.total()), nullptr));
      return outcome;
    }
    ph_task_message* message = TaskPes::make(pe, kAsk, size_bytes);
    fill_pattern(ph_task_body(message), size_bytes, size_bytes);
    for (std::uint64_t batch = 0; batch < batches.count; ++batch) {
      const auto start_ns = now_ns();
      for (std::uint64_t i = 0; i < batches.each; ++i) {
        send(way, message);
        TaskPes::check(pe, ph_task_run(pe, size_ - 1, nullptr));
      }
      outcome.batches_ns.push_back(static_cast<double>(now_ns() - start_ns) /
                                   static_cast<double>(batches.each));
    }
    if (sum_ != batches.total() * (size_ - 1) * checksum_of(ph_task_body(message), size_bytes))
      throw Failure("a PE has read other bytes");
    sum_ = 0;
    TaskPes::check(pe, ph_task_free(pe, message));
    return outcome;
  }

 private:
  ph_task_list others() const { return {sizeof(ph_task_list), others_.data(), others_.size()}; }
  void send(FanoutWay way, ph_task_message* message) {
    ph_task_pe* pe = pes_.pe();
    const ph_task_list list = others();
    switch (way) {
      case FanoutWay::broadcast:
        return TaskPes::check(pe, ph_task_broadcast(pe, message, PH_TASK_KEEP));
      case FanoutWay::list:
        return TaskPes::check(pe, ph_task_send_list(pe, &list, message, PH_TASK_KEEP));
      case FanoutWay::group:
        return TaskPes::check(pe, ph_task_multicast(pe, group_, message, PH_TASK_KEEP));
      case FanoutWay::single: break;
    }
    for (const std::uint32_t to : others_) TaskPes::check(pe, ph_task_send_copy(pe, to, message));
  }
  static void ask(ph_task_pe* pe, ph_task_message* message, void*) {
    const std::uint64_t sum = checksum_of(ph_task_body(message), ph_task_size(message));
    TaskPes::check(pe, ph_task_free(pe, message));
    ph_task_message* answer = TaskPes::make(pe, kAnswer, sizeof sum);
    std::memcpy(ph_task_body(answer), &sum, sizeof sum);
    TaskPes::check(pe, ph_task_send(pe, 0, answer));
  }
  static void answer(ph_task_pe* pe, ph_task_message* message, void* user) {
    std::uint64_t sum = 0;
    std::memcpy(&sum, ph_task_body(message), sizeof sum);
    static_cast<Fan*>(user)->sum_ += sum;
    TaskPes::check(pe, ph_task_free(pe, message));
  }

  std::uint32_t size_;
  TaskPes pes_;
  std::vector<std::uint32_t> others_;
  std::uint32_t group_ = 0;
  std::uint64_t sum_ = 0;  // of what the others have read
};

struct FanoutCase {
  const char* name;
  FanoutWay way;
};
constexpr FanoutCase kFanoutCases[] = {{"a broadcast", FanoutWay::broadcast},
                                       {"a list", FanoutWay::list},
                                       {"a group", FanoutWay::group}};

}  // namespace

void ask_task_fanout(Bench& bench) {
  const MemoryRow memory;
  Fan fan(bench.job);
  Team team(bench.block, Team::Scope::job, bench.job.rank(), bench.job.size());
  for (const auto size_bytes : sizes_or(bench.options, {64, 16384}))
    for (const FanoutCase& one : kFanoutCases) {
      Contest contest;
      contest.size_bytes = size_bytes;
      contest.ours = {
          fmt::format("{} to {} PEs", one.name, team.count() - 1),
          [&](std::uint64_t count) { return fan.run(team, one.way, size_bytes, count); }};
      contest.limits = {{"single sends", [&](std::uint64_t count) {
                           return fan.run(team, FanoutWay::single, size_bytes, count);
                         }}};
      const auto verdict = compete(team, contest, bench.options.iterations);
      if (team.index() < 2) bench.report.add(row_of(bench, contest, verdict));
    }
  memory.add(bench);
}

}  // namespace photon::perf
