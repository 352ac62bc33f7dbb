// Registering, allocating, and taking memory back.
#include <new>

#include "base/hex.hpp"
#include "engine/engine.hpp"
#include "engine/peer_view.hpp"

namespace photon::engine {

ph_status Engine::add_region(const ph_region& range, std::uint32_t access, ph_region& region) {
  if (range.address == 0 || range.size_bytes == 0)
    return fail(PH_ERR_ARGUMENT, self_, "register: the range is null or empty");
  if (range.size_bytes >= std::uint64_t{1} << 62 ||
      range.address + range.size_bytes < range.address)
    return fail(PH_ERR_ARGUMENT, self_, "register: the range wraps around the address space");
  if (access == 0 || (access & ~std::uint32_t{PH_ACCESS_ALL}) != 0)
    return fail(PH_ERR_ARGUMENT, self_,
                "register: access must be PH_ACCESS_READ, PH_ACCESS_WRITE or both");
  PeerView(*this).give_back_freed();
  auto added = memory_->regions.add(range, access, false);
  if (!added) return fail(added.error());
  region = *added;
  return PH_OK;
}

// The key is stale when this returns; removal.is_due: and every lane has to let go of it.
ph_status Engine::begin_removal(std::uint64_t key, Removal& removal) {
  switch (memory_->regions.remove(key, removal.region)) {
    case RegionBook::Removed::unknown:
      return fail(PH_ERR_KEY, self_,
                  std::string(removal.call) +
                      ": no registration has this key; it may have been taken back before");
    case RegionBook::Removed::is_allocated:
      return fail(PH_ERR_ARGUMENT, self_,
                  std::string(removal.call) + ": this memory is ph_alloc's; use ph_free");
    case RegionBook::Removed::counted_down: return PH_OK;
    case RegionBook::Removed::stale: removal.is_due = true; return PH_OK;
  }
  return PH_OK;
}

// Whoever of our threads was placing bytes under the key is through: we hold the lane's lock.
bool Engine::let_go_of(Removal& removal) {
  forget_own(removal.region);
  transport_->quiesce();
  if (removal.is_sure) return true;
  const std::uint64_t slot = removal.region.key & (regions_.size() - 1);
  if (!wait_for_copies(static_cast<std::int64_t>(slot))) return false;
  // After the intents: who maps it now has said so (sync/hold_table.hpp). By this lane's links
  // only.
  removal.is_held =
      removal.is_held || (removal.is_allocated && !is_lane_ && PeerView(*this).is_held(slot));
  return true;
}

ph_status Engine::end_removal(const Removal& removal, bool all_let_go) {
  if (!all_let_go)
    return fail(PH_TIMEOUT, self_,
                std::string(removal.call) +
                    ": a peer that does not run holds a copy open; keep the memory and call again");
  const bool is_first = removal.is_held ? memory_->regions.shelve(removal.region)
                                        : memory_->regions.release(removal.region);
  if (!is_first)
    return fail(PH_ERR_KEY, self_,
                std::string(removal.call) + ": another thread has taken it back");
  if (removal.is_held)
    memory_->put_off(removal.region);
  else if (removal.is_allocated)
    memory_->give(reinterpret_cast<std::byte*>(removal.region.address));
  return PH_OK;
}

// Until no peer copies under this slot, or under any (sync/intent.hpp). The keys are stale already.
// Who died in the middle of a copy is not waited for: so the transport is asked for news meanwhile.
// By index: it may tell of new peers.
bool Engine::wait_for_copies(std::int64_t slot) {
  const auto is_open = [slot](const transport::Intent& intent) {
    return slot == kEverySlot ? intent.names_any() : intent.names(static_cast<std::uint64_t>(slot));
  };
  transport::Policy::full_fence();     // for peers that fence
  transport::Policy::heavy_barrier();  // for all others
  const std::int64_t deadline =
      transport_->now_ns() + static_cast<std::int64_t>(config_.unregister_timeout_ms) * 1'000'000;
  for (std::size_t i = 0; i < contacted_.size(); ++i) {
    const Peer& peer = *contacted_[i];
    if (peer.rank == self_) continue;
    for (unsigned spins = 0; peer.shows_intent() && is_open(*peer.link->rx_intent); ++spins) {
      transport_->pause(spins);
      if (spins % 64 != 63) continue;
      activity_ = false;
      transport_->poll(*this);
      if (activity_) wake_sleeper();  // it takes what we have been told of
      if (transport_->now_ns() > deadline && peer.shows_intent() && is_open(*peer.link->rx_intent))
        return false;
    }
  }
  return true;
}

ph_status Engine::find_region(const ph_region& range, ph_region& region) {
  const auto found = memory_->regions.find(range.address, range.size_bytes);
  if (!found)
    return fail(PH_ERR_NOT_FOUND, self_,
                "no registration contains " + std::to_string(range.size_bytes) + " bytes at " +
                    base::hex(range.address));
  region = *found;
  return PH_OK;
}

ph_status Engine::allocate(std::uint64_t size_bytes, ph_region& region) {
  if (size_bytes == 0) return fail(PH_ERR_ARGUMENT, self_, "alloc: size 0");
  PeerView(*this).give_back_freed();
  std::byte* base = memory_->take(size_bytes);
  if (base == nullptr)
    return fail(PH_ERR_MEMORY, self_,
                "alloc of " + std::to_string(size_bytes) + " bytes: no room in the arena of " +
                    std::to_string(memory_->arena_bytes()) + " bytes; raise PHOTON_ARENA_BYTES");
  const auto add = [&] {
    try {
      return memory_->regions.add({reinterpret_cast<std::uint64_t>(base), size_bytes, 0},
                                  PH_ACCESS_ALL, true);
    } catch (const std::bad_alloc&) {
      memory_->give(base);
      throw;
    }
  };
  auto added = add();
  if (!added) {
    memory_->give(base);
    return fail(added.error());
  }
  region = *added;
  return PH_OK;
}

ph_status Engine::begin_freeing(void* base, Removal& removal) {
  if (base == nullptr) return PH_OK;
  const auto address = reinterpret_cast<std::uint64_t>(base);
  if (memory_->regions.remove_allocated(address, removal.region) == RegionBook::Removed::unknown)
    return fail(PH_ERR_NOT_FOUND, self_, "free: this is not the beginning of ph_alloc memory");
  removal.is_due = removal.is_allocated = true;
  removal.call = "free";
  return PH_OK;
}

}  // namespace photon::engine
