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
  };

  // Before it is sent; one number may be of a task for each PE. The body is filled, behind `front`,
  // with bytes that tell of its number.
  void made(const TaskFront& front, const Made& one);
  static void fill(ph_task_message* message, const TaskFront& front) noexcept;
  // The next of the tasks from one PE to another that are met in order.
  std::uint32_t next_order(std::uint32_t source, std::uint32_t target) {
    return sent_[{source, target}]++;
  }
  // At its turn. False: it is not what was sent.
  bool met(std::uint32_t pe, ph_task_message* message, std::uint64_t now_ns);

  void report(std::string finding) {
    if (finding_.empty()) finding_ = std::move(finding);
  }
  const std::string& finding() const noexcept { return finding_; }
  std::uint64_t left() const noexcept { return under_way_.size(); }
  std::string names_left() const;
  std::uint64_t tasks() const noexcept { return tasks_; }
  std::uint64_t digest() const noexcept { return digest_; }

 private:
  using Pair = std::pair<std::uint32_t, std::uint32_t>;
  void check_order(const TaskFront& front, const Made& one);

  std::map<std::pair<std::uint64_t, std::uint32_t>, Made> under_way_;  // number, target
  std::map<Pair, std::uint32_t> sent_, met_;
  std::string finding_;
  std::uint64_t tasks_ = 0;
  std::uint64_t digest_ = 0;
};

}  // namespace photon::simtest
