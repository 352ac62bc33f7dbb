// Gets that both the owner of the memory and the kernel could copy: who does, and the kernel as the
// one that takes over where the owner does not come.
//
//   asked -- data of all of it --> landed       asked -- refused --> failed
//   asked -- nothing came for as long as the kernel needs for the rest --> copied by the kernel,
//            a piece a turn -- all of it is here, by whomever --> landed, and its answer is stale
//         -- the kernel would not, for there is no path any more --> asked of the owner alone
//   stale -- the answer came --> forgotten (stale_answers.hpp)
//
// An operation that is over for its caller holds no request, and nobody waits for its stale answer:
// neither a fence nor a flush nor ph_finalize(). While there are stale answers of an owner that
// does not come, the kernel is not kept waiting again. Owner: the Engine, which makes one for each
// use, under the lane's lock.
#pragma once

#include <optional>

#include "engine/engine.hpp"

namespace photon::engine {

class GetTakeover {
 public:
  using Way = CopyChoice::Way;

  explicit GetTakeover(Engine& engine) noexcept : engine_(engine) {}

  // Decides who begins; none: there is no choice. Throws bad_alloc: nothing was done.
  std::optional<Way> choose(Peer& peer, const TargetRange& there, std::uint32_t flags);
  // False: the kernel has to, for the owner has not answered what it was asked, or reads nothing.
  bool may_ask(Peer& peer) const noexcept;
  // The question has gone.
  void asked(Peer& peer, Request& request) noexcept;
  // Copies a piece of the oldest get that waits for its owner.
  Engine::Step step(Peer& peer, std::uint64_t& budget);
  // Bytes of its owner's that are not here yet go to their place. False: that cannot be written.
  bool place(Peer& peer, Request& request, std::uint64_t bytes);
  // Its owner has answered.
  void answered(Peer& peer, Request& request) noexcept;
  // One that could have gone both ways has ended well.
  void took(Peer& peer, const Request& request, Way way) noexcept;
  // Whether to take the kernel's time at the call: that of a few, and of each that keeps one
  // waiting whose owner was asked, for that one has to be judged without it.
  static bool is_timed(Peer& peer, std::uint64_t size_bytes) noexcept {
    return peer.gets_under_way != 0 || peer.gets.copies.is_timed(size_bytes);
  }
  // The kernel has copied all of it at the call.
  void took_now(Peer& peer, std::uint64_t size_bytes, std::int64_t began_ns) noexcept;

 private:
  bool has_news(Peer& peer) noexcept;
  bool is_due(Peer& peer, Request& request) noexcept;
  ph_status copy(Peer& peer, Request& request, std::uint64_t& budget);
  void end(Peer& peer, Request& request) noexcept;
  void learn(Peer& peer, Way way, std::uint64_t size_bytes, std::int64_t began_ns) noexcept;

  Engine& engine_;
};

}  // namespace photon::engine
