// The checked program seen as a function: from what a thread has read so far (its history) to the
// operation it asks for next. Histories form a tree that is filled on demand by running the real
// code of that one thread (execution.hpp); exploring costs no execution once a history is known.
// Invariant: a node's operation never changes. Owner: explore().
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "checker/execution.hpp"
#include "checker/operation.hpp"

namespace photon::checker {

// A value that a spin loop has read: its next turn differs only if this changed.
struct Watched {
  LocationId location = kNoLocation;
  std::uint64_t value = 0;
};

struct Node {
  NodeId parent = kNoNode;
  std::uint64_t result = 0;  // of the parent's operation
  unsigned thread = 0;
  Operation op;                  // asked for next
  std::vector<Watched> watched;  // of relax and retry
  std::vector<std::pair<std::uint64_t, NodeId>> children;
};

class Program {
 public:
  Program(const Scenario& scenario, const Weakening& weaken);

  unsigned threads_count() const { return sample_->threads_count(); }
  const std::string& thread_name(unsigned thread) const { return sample_->thread_name(thread); }
  const std::vector<LocationInfo>& locations() const { return sample_->locations(); }
  const std::vector<std::uint64_t>& initial_values() const { return sample_->values(); }
  // Among what was seen so far. Fences: full ones, and system calls.
  bool has_heavy_barrier() const { return has_heavy_barrier_; }
  bool has_fence() const { return has_fence_; }
  bool is_read(LocationId location) const { return is_read_[location]; }
  unsigned read_locations() const { return read_locations_; }  // how many

  NodeId root(unsigned thread) const { return roots_[thread]; }
  const Node& node(NodeId id) const { return nodes_[id]; }
  NodeId child(NodeId parent, std::uint64_t result);

  // Runs finally() on these values, with every thread's own memory as its history `ends` left it.
  std::string finish(const std::vector<NodeId>& ends, const std::vector<std::uint64_t>& values);

 private:
  struct Live {  // the last execution of a thread, often just where the next one is wanted
    std::unique_ptr<Execution> execution;
    NodeId at = kNoNode;
  };

  void expand(NodeId id);
  std::vector<Past> history(NodeId id) const;
  void find_watched(NodeId id);
  void note_read(LocationId location);

  const Scenario& scenario_;
  const Weakening& weaken_;
  std::unique_ptr<Execution> sample_;
  std::vector<Live> live_;
  std::vector<NodeId> roots_;
  std::deque<Node> nodes_;  // references stay valid
  bool has_heavy_barrier_ = false;
  bool has_fence_ = false;
  std::vector<bool> is_read_;
  unsigned read_locations_ = 0;
};

}  // namespace photon::checker
