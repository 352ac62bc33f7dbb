// Registering, allocating, and taking memory back.
#include "engine/engine.hpp"

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
  auto added = regions_.add(range, access, false);
  if (!added) return fail(added.error());
  region = *added;
  return PH_OK;
}

ph_status Engine::remove_region(std::uint64_t key) {
  const auto slot = regions_.slot_of(key);
  if (slot < 0)
    return fail(PH_ERR_KEY, self_,
                "unregister: no registration has this key; it may have been taken back before");
  if (regions_.allocated(slot))
    return fail(PH_ERR_ARGUMENT, self_, "unregister: this memory is ph_alloc's; use ph_free");
  if (!regions_.remove(slot)) return PH_OK;
  forget_own(regions_.region(slot));
  transport_->quiesce();
  if (!wait_for_copies(slot))
    return fail(PH_TIMEOUT, self_,
                "unregister: a peer that does not run holds a copy open; keep the memory and "
                "call again");
  regions_.release(slot);
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
      if (activity_ && sleeping_) transport_->wake();  // it takes what we have been told of
      if (transport_->now_ns() > deadline) return false;
    }
  }
  return true;
}

ph_status Engine::find_region(const ph_region& range, ph_region& region) {
  const ph_region* found = regions_.find(range.address, range.size_bytes);
  if (found == nullptr)
    return fail(PH_ERR_NOT_FOUND, self_,
                "no registration contains " + std::to_string(range.size_bytes) +
                    " bytes at address " + std::to_string(range.address));
  region = *found;
  return PH_OK;
}

ph_status Engine::allocate(std::uint64_t size_bytes, ph_region& region) {
  if (size_bytes == 0) return fail(PH_ERR_ARGUMENT, self_, "alloc: size 0");
  std::byte* base = arena_.take(size_bytes);
  if (base == nullptr)
    return fail(PH_ERR_MEMORY, self_,
                "alloc of " + std::to_string(size_bytes) + " bytes: no room in the arena of " +
                    std::to_string(arena_.size_bytes()) + " bytes; raise PHOTON_ARENA_BYTES");
  auto added =
      regions_.add({reinterpret_cast<std::uint64_t>(base), size_bytes, 0}, PH_ACCESS_ALL, true);
  if (!added) {
    arena_.give(base);
    return fail(added.error());
  }
  region = *added;
  return PH_OK;
}

ph_status Engine::free_memory(void* base) {
  if (base == nullptr) return PH_OK;
  const auto slot = regions_.find_allocated(reinterpret_cast<std::uint64_t>(base));
  if (slot < 0)
    return fail(PH_ERR_NOT_FOUND, self_, "free: this is not the beginning of ph_alloc memory");
  regions_.remove(slot);
  forget_own(regions_.region(slot));
  transport_->quiesce();
  if (!wait_for_copies(slot))
    return fail(PH_TIMEOUT, self_, "free: a peer that does not run holds a copy open; call again");
  regions_.release(slot);
  arena_.give(static_cast<std::byte*>(base));
  return PH_OK;
}

}  // namespace photon::engine
