// A breadth-first search, level by level: for each edge out of the frontier a message goes to the
// owner of its other end, and a quiesce ends the level.
//
//   frontier -- a message an edge --> handlers at the owners fill `next_`
//            -- quiesce --> all were handled -- `next_` becomes the frontier --> sum of all: any
//            left?
//
// Nobody begins a level before all have swapped: the sum of the frontiers needs all ranks. So a
// message says no level; the handler knows it.
// Owner: main.
#pragma once

#include <cstdlib>
#include <utility>
#include <vector>

#include "graph.hpp"

namespace bfs {

class Search {
 public:
  Search(Job& job, const Graph& graph)
      : job_(&job),
        graph_(&graph),
        parents_(graph.vertices_count()),
        levels_(graph.vertices_count()),
        visit_(job.messages().on(kVisit,
                                 [this](const photon::Message& message) {
                                   if (const auto edge = message.value<Edge>()) visit(*edge);
                                 })),
        compare_(job.messages().on(kCompare, [this](const photon::Message& message) {
          if (const auto claim = message.value<Claim>()) compare(*claim);
        })) {
    job.barrier();  // all have the handlers
  }

  // Levels until nothing new was reached.
  std::uint64_t run(Vertex root) {
    parents_.assign(parents_.size(), kNone);
    levels_.assign(levels_.size(), kUnreached);
    level_ = 0;
    job_->barrier();  // all are ready
    if (job_->owner(root) == job_->rank()) visit({root, root});
    std::uint64_t reached = 0;
    while ((reached = swap()) != 0) {
      reached_ += reached;
      for (const Vertex from : frontier_)
        for (const Vertex to : graph_->neighbours(job_->place(from)))
          job_->send(job_->owner(to), kVisit, Edge{from, to});
      job_->settle();
    }
    return static_cast<std::uint64_t>(level_ - 1);
  }

  std::uint64_t take_reached() noexcept { return std::exchange(reached_, 0); }

  // Edges of the part that was reached; each is known at both of its ends.
  std::uint64_t edges_reached() {
    std::uint64_t ends = 0;
    for (std::uint32_t place = 0; place < levels_.size(); ++place)
      if (levels_[place] != kUnreached) ends += graph_->neighbours(place).size();
    return job_->sum(ends) / 2;
  }

  // What Graph500 asks of a tree: the parent of each vertex is its neighbour and one level nearer
  // to the root, and both ends of each edge were reached, at levels that differ by one at most, or
  // neither. How often that is not so, at all ranks.
  std::uint64_t faults(Vertex root) {
    job_->barrier();
    for (std::uint32_t place = 0; place < levels_.size(); ++place) {
      const Vertex vertex = job_->vertex_at(place);
      for (const Vertex other : graph_->neighbours(place))
        job_->send(job_->owner(other), kCompare, Claim{other, levels_[place], 0});
      if (levels_[place] == kUnreached) continue;
      if (vertex == root) {
        faults_ += parents_[place] != root || levels_[place] != 0;
        continue;
      }
      faults_ += !has_edge_to_parent(place);
      job_->send(job_->owner(parents_[place]), kCompare, Claim{parents_[place], levels_[place], 1});
    }
    job_->settle();
    return job_->sum(std::exchange(faults_, 0));
  }

 private:
  static constexpr std::uint32_t kVisit = 2;
  static constexpr std::uint32_t kCompare = 3;
  static constexpr Vertex kNone = ~Vertex{0};
  static constexpr std::int32_t kUnreached = -1;

  // That a neighbour of `vertex` has that level: a child of it, or any.
  struct Claim {
    Vertex vertex;
    std::int32_t level;
    std::uint32_t is_child;
  };

  // The handler: `to` is ours.
  void visit(const Edge& edge) {
    const std::uint32_t place = job_->place(edge.to);
    if (parents_[place] != kNone) return;
    parents_[place] = edge.from;
    levels_[place] = level_;
    next_.push_back(edge.to);
  }

  // The handler: `claim.vertex` is ours.
  void compare(const Claim& claim) {
    const std::int32_t level = levels_[job_->place(claim.vertex)];
    if (claim.is_child != 0)
      faults_ += claim.level != level + 1;
    else if (claim.level == kUnreached || level == kUnreached)
      faults_ += claim.level != level;
    else
      faults_ += std::abs(claim.level - level) > 1;
  }

  bool has_edge_to_parent(std::uint32_t place) const noexcept {
    for (const Vertex other : graph_->neighbours(place))
      if (other == parents_[place]) return true;
    return false;
  }

  // How many all ranks have for the next level.
  std::uint64_t swap() {
    frontier_.clear();
    frontier_.swap(next_);
    ++level_;
    return job_->sum(frontier_.size());
  }

  Job* job_;
  const Graph* graph_;
  std::vector<Vertex> parents_;       // of each vertex of ours
  std::vector<std::int32_t> levels_;  // the same
  std::vector<Vertex> frontier_;      // ours that were reached in the level before
  std::vector<Vertex> next_;          // filled by visit()
  std::int32_t level_ = 0;            // of what visit() reaches now
  std::uint64_t reached_ = 0;
  std::uint64_t faults_ = 0;
  photon::Handler visit_;  // they end first
  photon::Handler compare_;
};

}  // namespace bfs
