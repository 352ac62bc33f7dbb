// An exhaustive checker for small concurrent programs: runs the real templates over CheckerPolicy
// through every interleaving the memory model allows, and shows the steps to the first failure.
//
// Memory model (README.md has the argument why the reductions are sound)
//   - Every thread has a store buffer. A relaxed store leaves it at any time; a release store only
//     after all earlier stores of its thread; stores to one location in order. Loads see the own
//     buffer first.
//   - full_fence, seq_cst stores, releasing read-modify-writes and EventFd calls empty the own
//     buffer. heavy_barrier empties every buffer, one thread at a time, in any order.
//   - Loads happen in program order, except with Options::stale_loads: then a load may return any
//     value that happens-before and coherence do not forbid (C++20 without seq_cst loads' order).
//   - Cells are plain memory: an access not ordered by happens-before is a failure.
//
// What the checked program must observe
//   - Threads share only Atomic, Cell and EventFd. Other state may be written by one thread, and
//     read by it and by finally(); each thread is replayed alone, with the values it read.
//   - All of these are constructed in the scenario, before any thread runs; values are
//     not pointers. A thread body is a function of what it reads (no clock, no randomness).
//   - Thread bodies own no heap memory in locals: a fiber that is not needed further is dropped.
//   - A loop that spins calls relax() or pause() each turn, changes nothing between two of them
//     but what it read, and spins without bound; for a bounded one set Options::idle_spins.
//     pause(spins) counts its turns from 0 in each loop, and nothing else depends on them.
// Owner: explore() owns everything; nothing outlives it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "checker/operation.hpp"

namespace photon::checker {

// Mutations, to show that the checker finds what each order and fence is there for.
struct Weakening {
  bool release = false;        // releasing stores and read-modify-writes become relaxed
  bool acquire = false;        // acquiring loads and read-modify-writes become relaxed
  bool full_fence = false;     // does nothing
  bool heavy_barrier = false;  // does nothing
  bool heavy_remote = false;   // heavy_barrier is a full fence of the caller only
  std::string only = {};       // release/acquire: only locations whose name begins so
};

struct Options {
  std::uint64_t max_steps = 2000;       // of one execution; more: not complete
  std::uint64_t max_states = 20000000;  // more: not complete
  unsigned idle_spins = 0;         // turns per thread of a spin loop that nothing has changed for
  unsigned max_preemptions = ~0U;  // a bound makes the result incomplete, as it says
  bool detect_races = true;        // false: a Cell is a relaxed atomic
  bool stale_loads = false;
  bool reduce = true;  // false: offer every move there is; slow, to test the reductions
  Weakening weaken = {};
  // The search begins again: what finally() has noted so far does not count.
  std::function<void()> begins_again = {};
};

struct Result {
  bool ok = true;
  bool complete = true;      // every execution was covered
  std::string trace;         // the failing execution
  std::uint64_t states = 0;  // distinct ones
  std::uint64_t transitions = 0;
  std::uint64_t executions = 0;  // distinct ends of an execution
  std::uint64_t longest = 0;     // steps of the longest execution
};

// What the scenario fills in. It runs many times and must do the same each time.
class Stage {
 public:
  void thread(std::string name, std::function<void()> body) {
    threads_.emplace_back(std::move(name), std::move(body));
  }
  // After all threads ended and all buffers are empty.
  void finally(std::function<void()> check) { finally_ = std::move(check); }
  // Locations constructed from here on are called group.0, group.1, ...
  void group(const std::string& name);

 private:
  friend class Execution;
  std::vector<std::pair<std::string, std::function<void()>>> threads_;
  std::function<void()> finally_;
};

using Scenario = std::function<void(Stage&)>;

Result explore(const Options& options, const Scenario& scenario);

// A claim inside a thread or finally(). `text` must outlive the exploration (a literal).
void expect(bool holds, const char* text);

namespace detail {
NodeId begin_wait();
void retry_wait(NodeId begin);
}  // namespace detail

// Wait until pred() holds. It must only read; between two turns something it read changes.
template <class Pred>
void wait_until(Pred pred) {
  for (;;) {
    const NodeId begin = detail::begin_wait();
    if (pred()) return;
    detail::retry_wait(begin);
  }
}

// Like eventfd(2): a counter in the kernel. Every call empties the caller's store buffer and is
// ordered with all calls on the same counter.
class EventFd {
 public:
  EventFd();
  EventFd(const EventFd&) = delete;
  EventFd& operator=(const EventFd&) = delete;
  void write(std::uint64_t value = 1);
  std::uint64_t read();  // blocks while 0; takes all
  void wait();           // poll(2): blocks while 0; takes nothing

 private:
  LocationId location_;
};

}  // namespace photon::checker
