// This rank's part of the graph: the neighbours of each vertex that it owns.
// Every rank draws its share of the edges and sends each end's owner the other end.
// Owner: main.
#pragma once

#include <numeric>
#include <span>
#include <vector>

#include "job.hpp"

namespace bfs {

class Graph {
 public:
  Graph(Job& job, const Kronecker& kronecker)
      : job_(&job), begins_(job.owned_count(kronecker.vertices_count()) + 1) {
    std::vector<Edge> ours;  // from is our own
    const photon::Handler keep = job.messages().on(kKeep, [&](const photon::Message& message) {
      if (const auto edge = message.value<Edge>()) ours.push_back(*edge);
    });
    job.barrier();  // all have the handler
    const std::uint64_t count = kronecker.edges_count();
    const std::uint64_t end = count * (job.rank() + 1) / job.size();
    for (std::uint64_t number = count * job.rank() / job.size(); number < end; ++number) {
      const Edge edge = kronecker.edge(number);
      if (edge.from == edge.to) continue;
      job.send(job.owner(edge.from), kKeep, edge);
      job.send(job.owner(edge.to), kKeep, Edge{edge.to, edge.from});
    }
    job.settle();
    sort(ours);
  }

  std::uint32_t vertices_count() const noexcept {
    return static_cast<std::uint32_t>(begins_.size() - 1);
  }
  // Of our vertex with that number.
  std::span<const Vertex> neighbours(std::uint32_t place) const noexcept {
    return std::span(neighbours_).subspan(begins_[place], begins_[place + 1] - begins_[place]);
  }

 private:
  static constexpr std::uint32_t kKeep = 1;

  void sort(const std::vector<Edge>& ours) {
    for (const Edge& edge : ours) ++begins_[job_->place(edge.from) + 1];
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    neighbours_.resize(ours.size());
    std::vector<std::size_t> next(begins_.begin(), begins_.end() - 1);
    for (const Edge& edge : ours) neighbours_[next[job_->place(edge.from)]++] = edge.to;
  }

  Job* job_;
  std::vector<std::size_t> begins_;  // in neighbours_, of each vertex and of one behind the last
  std::vector<Vertex> neighbours_;
};

}  // namespace bfs
