// An idle PE looks after the lanes of siblings that are inside a long task (docs/tasks.md, "Busy
// siblings"); which one does it is decided in process_queue.hpp.
//
//   off -- set(true) --> on -- visit(), as often as it is idle --> on
//                        on -- end(): it has a task to run, or its run is over --> off
//
// Owner: the PE.
#pragma once

#include <cstdint>
#include <vector>

#include "task/queue/process_queue.hpp"

namespace photon::task {

class Pe;

class SiblingWatch {
 public:
  explicit SiblingWatch(std::uint32_t pes) : looks_(pes) {}

  bool is_on() const noexcept { return is_on_; }
  void set(bool is_on) noexcept { is_on_ = is_on; }
  // While it is on: the PE has something else to do. The sibling to be woken, which watches then.
  std::uint32_t end(ProcessQueue& queue) noexcept {
    is_on_ = false;
    return queue.end_watch();
  }
  // Those that have not looked since the last time.
  void visit(const Pe& own, const std::vector<Pe*>& all) noexcept;

 private:
  static constexpr unsigned kVisits = 64;  // of one lane, in a row

  std::vector<std::uint64_t> looks_;  // of each, when it was looked at
  bool is_on_ = false;
};

}  // namespace photon::task
