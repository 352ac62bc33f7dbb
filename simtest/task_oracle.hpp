// What is known of the tasks of a simulated job: which were made and have not run.
//
//   task: made() --> under way -- met() at its PE, with its bytes --> over
//
// Invariant: the first breach of a promise is the finding, and no later one replaces it.
// Owner: the run of a case. Threads: one.
#pragma once

#include <photon/task.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace photon::simtest {

// What a task knows of itself; its body begins with it.
struct TaskFront {
  std::uint64_t number;
  std::uint32_t budget;  // how many tasks come of it
  std::uint32_t order;   // among those that are met in order; kUnordered: it is none of them
};
static_assert(sizeof(TaskFront) == 16);
inline constexpr std::uint32_t kUnordered = ~std::uint32_t{0};

class TaskOracle {
 public:
  struct Made {
    std::uint32_t source;
    std::uint32_t target;
    std::uint64_t size_bytes;
    bool is_relayed = false;  // it goes through others, who may die
  };

  // Before it is sent; one number may be of a task for each PE. The body is filled, behind `front`,
  // with bytes that tell of its number.
  void made(const TaskFront& front, const Made& one);
  static void fill(ph_task_message* message, const TaskFront& front) noexcept;
  // The next of the tasks from one PE to another that are met in order.
  std::uint32_t next_order(std::uint32_t source, std::uint32_t target) {
    return sent_[{source, target}]++;
  }
  // Its target is lost, and the sender was told so.
  void lost(const TaskFront& front, std::uint32_t target) {
    under_way_.erase({front.number, target});
  }
  void died(std::uint32_t pe) { dead_.insert(pe); }
  bool is_dead(std::uint32_t pe) const { return dead_.count(pe) != 0; }
  // Nothing is left to do, it was said: so no task is under way but those that deaths may have
  // taken with them, and none is met from now on.
  void quiet();
  // At its turn. False: it is not what was sent.
  bool met(std::uint32_t pe, ph_task_message* message, std::uint64_t now_ns);

  void report(std::string finding) {
    if (finding_.empty()) finding_ = std::move(finding);
  }
  const std::string& finding() const noexcept { return finding_; }
  // Those that must be met still.
  std::string names_left() const;
  std::uint64_t tasks() const noexcept { return tasks_; }
  std::uint64_t digest() const noexcept { return digest_; }

 private:
  using Pair = std::pair<std::uint32_t, std::uint32_t>;
  void check_order(const TaskFront& front, const Made& one);
  bool may_be_lost(const Made& one) const {
    if (is_dead(one.source) || is_dead(one.target)) return true;
    return one.is_relayed && !dead_.empty();
  }

  std::map<std::pair<std::uint64_t, std::uint32_t>, Made> under_way_;  // number, target
  std::map<Pair, std::uint32_t> sent_, met_;
  std::set<std::uint32_t> dead_;
  bool is_quiet_ = false;
  std::string finding_;
  std::uint64_t tasks_ = 0;
  std::uint64_t digest_ = 0;
};

}  // namespace photon::simtest
