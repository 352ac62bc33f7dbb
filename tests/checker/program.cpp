#include "checker/program.hpp"

#include <algorithm>

namespace photon::checker {

Program::Program(const Scenario& scenario, const Weakening& weaken)
    : scenario_(scenario), weaken_(weaken), sample_(std::make_unique<Execution>(scenario, weaken)) {
  live_.resize(threads_count());
  is_read_.resize(locations().size());
  for (unsigned thread = 0; thread < threads_count(); ++thread) {
    const auto id = static_cast<NodeId>(nodes_.size());
    nodes_.push_back({.thread = thread});
    roots_.push_back(id);
    expand(id);
  }
}

NodeId Program::child(NodeId parent, std::uint64_t result) {
  if (nodes_[parent].op.kind == OpKind::retry)
    return static_cast<NodeId>(nodes_[parent].op.operand);
  for (const auto& [known, id] : nodes_[parent].children)
    if (known == result) return id;
  const auto id = static_cast<NodeId>(nodes_.size());
  nodes_.push_back({.parent = parent, .result = result, .thread = nodes_[parent].thread});
  nodes_[parent].children.emplace_back(result, id);
  expand(id);
  return id;
}

void Program::expand(NodeId id) {
  Node& node = nodes_[id];
  Live& live = live_[node.thread];
  if (live.execution && live.at == node.parent) {
    node.op = live.execution->resume({nodes_[node.parent].op, node.result, id});
  } else {
    live.execution = std::make_unique<Execution>(scenario_, weaken_);
    node.op = live.execution->run(node.thread, roots_[node.thread], history(id));
  }
  live.at = id;
  if (node.op.kind == OpKind::heavy_barrier) has_heavy_barrier_ = true;
  if (is_fence(node.op.kind)) has_fence_ = true;
  if (reads(node.op.kind)) note_read(node.op.location);
  if (node.op.kind == OpKind::relax || node.op.kind == OpKind::retry) find_watched(id);
}

std::vector<Past> Program::history(NodeId id) const {
  std::vector<Past> past;
  for (; nodes_[id].parent != kNoNode; id = nodes_[id].parent)
    past.push_back({nodes_[nodes_[id].parent].op, nodes_[id].result, id});
  std::reverse(past.begin(), past.end());
  return past;
}

// What was read since the turn of the loop began: since the last relax, or where wait_until began.
void Program::find_watched(NodeId id) {
  Node& spin = nodes_[id];
  const NodeId begin =
      spin.op.kind == OpKind::retry ? static_cast<NodeId>(spin.op.operand) : kNoNode;
  for (NodeId at = id; at != begin && nodes_[at].parent != kNoNode; at = nodes_[at].parent) {
    const Operation& op = nodes_[nodes_[at].parent].op;
    if (op.kind == OpKind::relax) break;
    if (reads(op.kind)) spin.watched.push_back({op.location, nodes_[at].result});
  }
}

std::string Program::finish(const std::vector<NodeId>& ends,
                            const std::vector<std::uint64_t>& values) {
  Execution execution(scenario_, weaken_);
  for (unsigned thread = 0; thread < threads_count(); ++thread)
    execution.run(thread, roots_[thread], history(ends[thread]));
  std::string failure = execution.finish(values);
  for (const LocationId location : execution.read_at_end()) note_read(location);
  return failure;
}

void Program::note_read(LocationId location) {
  if (is_read_[location]) return;
  is_read_[location] = true;
  ++read_locations_;
}

}  // namespace photon::checker
