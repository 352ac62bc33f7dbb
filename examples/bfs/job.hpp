// The ranks of the search: who owns a vertex, and how small messages reach its owner.
// Invariant: vertices are owned cyclically; a handler of an owner is only told of its own.
// Owner: main. Threads: one; handlers run in its calls alone (setting am=polled).
#pragma once

#include <photon/photon.hpp>

#include <cstdint>
#include <functional>
#include <span>

#include "kronecker.hpp"

namespace bfs {

class Job {
 public:
  // `may_wait`: messages to a rank may wait for others, and go with them.
  explicit Job(bool may_wait)
      : context_({.options = {{"am", "polled"}}}),
        team_(context_.world()),
        messages_(context_.messages()),
        flags_(may_wait ? PH_AM_MAY_WAIT : 0) {}

  std::uint32_t rank() const noexcept { return context_.rank(); }
  std::uint32_t size() const noexcept { return context_.size(); }
  photon::Messages& messages() noexcept { return messages_; }

  photon::Rank owner(Vertex vertex) const noexcept { return vertex % size(); }
  // Number of a vertex among those of its owner, and the other way round for our own.
  std::uint32_t place(Vertex vertex) const noexcept { return vertex / size(); }
  Vertex vertex_at(std::uint32_t place) const noexcept { return place * size() + rank(); }
  std::uint32_t owned_count(std::uint64_t vertices_count) const noexcept {
    return static_cast<std::uint32_t>((vertices_count + size() - 1 - rank()) / size());
  }

  // Have handler `id` run for `value` at that rank; here, too, it is a message.
  template <photon::SmallValue T>
  void send(photon::Rank rank, std::uint32_t id, const T& value) {
    while (!messages_.send(rank, id, value, {.flags = flags_})) messages_.poll();
    // Posting runs no handler, and others wait for ours.
    if (++sent_ % kSendsBetweenPolls == 0) messages_.poll();
  }

  // All messages of all ranks were handled.
  void settle() { messages_.quiesce(); }

  // Of all ranks; nobody returns before all have called.
  std::uint64_t sum(std::uint64_t mine) {
    std::uint64_t all = 0;
    team_.run(photon::allreduce(std::span(&mine, 1), std::span(&all, 1), std::plus<>{}));
    return all;
  }
  // Everybody gets the value of `root`.
  std::uint64_t agree(std::uint64_t mine, photon::Rank root) {
    team_.run(photon::bcast(std::span(&mine, 1), root));
    return mine;
  }
  void barrier() { team_.barrier(); }

 private:
  static constexpr std::uint64_t kSendsBetweenPolls = 64;

  photon::Context context_;
  photon::Team team_;
  photon::Messages messages_;
  std::uint32_t flags_;
  std::uint64_t sent_ = 0;
};

}  // namespace bfs
