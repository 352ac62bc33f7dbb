// What the lanes of one context have in common: the memory that its rank shows to peers, and the
// cores that their threads run on.
// Invariant: a piece of the arena is given back after its registration was released.
// Owner: the engines of the lanes together (shared_ptr); the transports of all of them see the same
// arena and table. Threads: any.
#pragma once

#include <mutex>
#include <utility>

#include "base/config.hpp"
#include "engine/arena.hpp"
#include "engine/crowd.hpp"
#include "engine/region_book.hpp"
#include "transport/transport.hpp"

namespace photon::engine {

class Memory {
 public:
  Memory(transport::Transport& transport, const base::Config& config, KeySource keys)
      : regions(transport.regions(), std::move(keys)),
        arena_(transport.arena(), config.arena_bytes) {}

  // Null: no room.
  std::byte* take(std::size_t size_bytes) {
    const std::scoped_lock lock(mutex_);
    return arena_.take(size_bytes);
  }
  void give(std::byte* base) noexcept {
    const std::scoped_lock lock(mutex_);
    arena_.give(base);
  }
  std::size_t arena_bytes() const noexcept { return arena_.size_bytes(); }

  RegionBook regions;
  Crowd crowd;

 private:
  std::mutex mutex_;
  Arena arena_;
};

}  // namespace photon::engine
