// One instance of the checked program, in which one thread at a time runs on a fiber: fed with the
// results of its past operations until it asks for one that is not known yet.
//
//   idle -- run(thread, history) --> running -- operation without result --> suspended
//                                       ^                                        |
//                                       +------------- resume(result) -----------+
//
// Outside a fiber (scenario, finally(), destructors) operations act at once on plain values.
// Owner: Program. A suspended fiber is dropped with its execution, without unwinding: the code
// under test is noexcept, so nothing can be thrown through it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checker/checker.hpp"
#include "checker/fiber.hpp"
#include "checker/operation.hpp"

namespace photon::checker {

enum class LocationKind : std::uint8_t { atomic, cell, event };

struct LocationInfo {
  LocationKind kind = LocationKind::atomic;
  std::string name;
};

// An operation of a thread's past.
struct Past {
  Operation op;
  std::uint64_t result = 0;
  NodeId node = kNoNode;  // the history that ends with this result
};

class Execution {
 public:
  Execution(const Scenario& scenario, const Weakening& weaken);
  ~Execution();
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  static Execution& current();  // the one that is being set up or run

  // For the policy and the functions of checker.hpp.
  LocationId add_location(LocationKind kind, std::uint64_t value);
  std::uint64_t perform(Operation op);
  void expect(bool holds, const char* text);
  void pause(unsigned spins);
  void retry(NodeId begin);
  NodeId node() const;
  void group(const std::string& name);

  // For Program. Both return the operation the thread asks for next.
  Operation run(unsigned thread, NodeId root, std::vector<Past> history);
  Operation resume(const Past& last);
  std::string finish(const std::vector<std::uint64_t>& values);  // what failed, or ""

  const std::vector<LocationId>& read_at_end() const { return read_at_end_; }  // by finish()

  unsigned threads_count() const { return static_cast<unsigned>(stage_.threads_.size()); }
  const std::string& thread_name(unsigned thread) const { return stage_.threads_[thread].first; }
  const std::vector<LocationInfo>& locations() const { return locations_; }
  const std::vector<std::uint64_t>& values() const { return values_; }

 private:
  static void fiber_main();
  void suspend(const Operation& op);
  std::uint64_t perform_directly(const Operation& op);
  bool weakened_away(Operation& op) const;

  const Weakening& weaken_;
  Stage stage_;
  std::vector<LocationInfo> locations_;
  std::vector<std::uint64_t> values_;  // of the scenario and finally(); threads see the model's
  std::string group_ = "location";
  unsigned group_begin_ = 0;
  const char* failure_ = nullptr;
  bool has_ended_ = false;
  std::vector<LocationId> read_at_end_;

  Fiber fiber_;
  bool in_fiber_ = false;
  unsigned thread_ = 0;
  NodeId root_ = kNoNode;
  std::vector<Past> history_;
  std::size_t position_ = 0;  // in history_
  NodeId after_first_pause_ = kNoNode;
  Operation pending_;
};

}  // namespace photon::checker
