// What the lanes of one context have in common: the memory that its rank shows to peers, and the
// cores that their threads run on.
// Invariant: a piece of the arena is given back after its registration was released; a piece that
// peers have mapped keeps its slot until then.
// Owner: the engines of the lanes together (shared_ptr); the transports of all of them see the same
// arena and table. Threads: any.
#pragma once

#include <mutex>
#include <utility>
#include <vector>

#include "base/config.hpp"
#include "engine/parts/active_lanes.hpp"
#include "engine/parts/arena.hpp"
#include "engine/parts/region_book.hpp"
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
    freed_.reserve(pieces_ + 1);  // put_off() does not allocate
    std::byte* const base = arena_.take(size_bytes);
    if (base != nullptr) ++pieces_;
    return base;
  }
  void give(std::byte* base) noexcept {
    const std::scoped_lock lock(mutex_);
    arena_.give(base);
    --pieces_;
  }
  // Freed, and mapped by peers: nobody else gets it before they have let go. It was shelved.
  void put_off(const ph_region& region) noexcept {
    const std::scoped_lock lock(mutex_);
    freed_.push_back(region);
  }
  bool has_freed() const noexcept {
    const std::scoped_lock lock(mutex_);
    return !freed_.empty();
  }
  // Of those that were put off, all that `is_free` says of that nobody has them mapped.
  template <class IsFree>
  void give_back(IsFree is_free) noexcept {
    const std::scoped_lock lock(mutex_);
    std::erase_if(freed_, [&](const ph_region& region) {
      if (!is_free(region)) return false;
      regions.unshelve(region);
      arena_.give(reinterpret_cast<std::byte*>(region.address));
      --pieces_;
      return true;
    });
  }
  std::size_t arena_bytes() const noexcept { return arena_.size_bytes(); }

  RegionBook regions;
  ActiveLanes active_lanes;

 private:
  mutable std::mutex mutex_;
  Arena arena_;
  std::size_t pieces_ = 0;  // of the arena, taken
  std::vector<ph_region> freed_;
};

}  // namespace photon::engine
