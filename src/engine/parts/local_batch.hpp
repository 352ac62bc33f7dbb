// LOCAL completions of one peer that may be handed out one after the other, without looking at
// anything else in between. To take one is to move the head of its queue: a stream of puts makes
// two stores for each of its completions less, and the events come free together when they are told
// of: at the end, or when one is missed.
//
//   none -- begin() --> running -- its last was taken --> used up;  running, used up -- end() -->
//   none
//
// Invariant: who takes from the peer's queue has asked next() for it, or called end() before.
// Owner: an Engine, under the lane's lock.
#pragma once

#include "engine/parts/peer.hpp"

namespace photon::engine {

class LocalBatch {
 public:
  // The peer whose queue the next one heads; null: none is left.
  [[gnu::always_inline]] Peer* next() const noexcept {
    return peer_ != nullptr && peer_->local.begin() != end_ ? peer_ : nullptr;
  }
  std::uint64_t left() const noexcept { return peer_ != nullptr ? end_ - peer_->local.begin() : 0; }
  // The first `count` of the peer's queue. The batch before has ended.
  void begin(Peer& peer, std::uint64_t count) noexcept {
    peer_ = &peer;
    told_ = peer.local.begin();
    end_ = told_ + count;
  }
  // How many were taken and not told of by taken() before.
  std::int64_t taken() noexcept {
    if (peer_ == nullptr) return 0;
    const std::uint64_t before = told_;
    told_ = peer_->local.begin();
    return static_cast<std::int64_t>(told_ - before);
  }
  // The same, and it is over.
  std::int64_t end() noexcept {
    if (peer_ == nullptr) return 0;
    const std::uint64_t count = peer_->local.begin() - told_;
    peer_ = nullptr;
    return static_cast<std::int64_t>(count);
  }

 private:
  Peer* peer_ = nullptr;
  std::uint64_t end_ = 0;   // position in its queue
  std::uint64_t told_ = 0;  // the same, of taken()
};

}  // namespace photon::engine
