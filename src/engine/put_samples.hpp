// Puts that the bulk ring or the kernel could bring to memory of a peer's: which of them does, and
// how long such a put takes by the ring. Its sender sees that end only if it asks, so some of these
// puts are samples: in front of the last 64 bytes goes a mark, which the peer answers when it has
// copied all before it (docs/data-paths.md, "Bulk or CMA").
//
//   put, sampled -- its last chunk is due --> mark sent; the put goes on as any other
//                -- no free request, failed, ended by the kernel --> none
//   mark sent -- answered --> timed, if the ends are known --> freed
//             -- peer lost --> freed, and nobody is told
//
// Invariant: a mark is no operation. It stands in the acks of its peer beside the limit of
// requests, nobody waits for it, and what becomes of its put is the put's own affair. A time is
// taken only between two ends that were seen when they came, with no more than an eighth of the
// put's bytes sent in between that were not the put's.
// Owner: the Engine, which makes one for each use, under the lane's lock.
#pragma once

#include "engine/engine.hpp"

namespace photon::engine {

class PutSamples {
 public:
  using Way = CopyChoice::Way;
  static constexpr std::uint64_t kLeastBytes = 64 << 10;  // of less nothing is learnt
  static constexpr std::uint64_t kTailBytes = 64;         // what the target places behind the mark

  explicit PutSamples(Engine& engine) noexcept : engine_(engine) {}

  // Decides who copies a put that could go by the ring, and whether it is a sample.
  void choose(Peer& peer, Request& request, const TargetRange& there) noexcept;
  // Of a sample whose next chunk would have so many bytes: how many it has. Sends the mark.
  std::uint64_t next_chunk(Peer& peer, Request& request, std::uint64_t bytes);
  // The peer has answered that mark, which is over.
  void answered(Peer& peer, Request& mark) noexcept;
  // The kernel has copied a put that could go by the ring, or the rest of one that went by it.
  void ended_by_kernel(Peer& peer, Request& request) noexcept;

 private:
  static bool follows(const Peer& peer, std::uint64_t sent_bytes,
                      std::uint64_t size_bytes) noexcept;
  bool mark(Peer& peer, const Request& put);
  bool was_seen(const Request& mark, std::int64_t now) const noexcept;

  Engine& engine_;
};

}  // namespace photon::engine
