// A list of peers that never grows while it is used: room is made when a peer is met.
// Invariant: size() <= capacity, every peer stands in it at most once. Owner: the Engine.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>

#include "engine/parts/peer.hpp"

namespace photon::engine {

class PeerList {
 public:
  void reserve(std::size_t peers_count) {
    if (peers_count <= capacity_) return;
    const std::size_t capacity = std::max(peers_count, capacity_ * 2);
    auto peers = std::make_unique<Peer*[]>(capacity);
    std::copy_n(peers_.get(), size_, peers.get());
    peers_ = std::move(peers);
    capacity_ = capacity;
  }
  void push(Peer* peer) noexcept { peers_[size_++] = peer; }
  void erase(std::size_t index) noexcept {
    std::copy(&peers_[index + 1], &peers_[size_], &peers_[index]);
    --size_;
  }
  void clear() noexcept { size_ = 0; }
  // The first goes behind the others.
  void rotate() noexcept { std::rotate(&peers_[0], &peers_[1], &peers_[size_]); }

  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }
  Peer* operator[](std::size_t index) const noexcept { return peers_[index]; }

 private:
  std::unique_ptr<Peer*[]> peers_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace photon::engine
