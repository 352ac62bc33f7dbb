#include "compat/registrations.hpp"

namespace photon::classic {

ph_status Registrations::add(void* base, std::uint64_t size_bytes) {
  const Range range{reinterpret_cast<std::uintptr_t>(base), size_bytes};
  const std::scoped_lock lock(mutex_);
  const auto place = entries_.try_emplace(range).first;
  Entry& entry = place->second;
  if (entry.is_stale) {
    if (ph_unregister(context_, entry.keys.key0) == PH_TIMEOUT) return PH_TIMEOUT;
    entry = {};
  }
  if (entry.count == 0) {
    ph_region region{};
    const ph_status status = ph_register(context_, base, size_bytes, PH_ACCESS_ALL, &region);
    if (status != PH_OK) {
      entries_.erase(place);
      return status;
    }
    entry.keys.key0 = region.key;
  }
  ++entry.count;
  return PH_OK;
}

ph_status Registrations::remove(void* base, std::uint64_t size_bytes) {
  const std::scoped_lock lock(mutex_);
  const auto found = entries_.find({reinterpret_cast<std::uintptr_t>(base), size_bytes});
  if (found == entries_.end()) return PH_ERR_NOT_FOUND;
  if (found->second.count > 1) {
    --found->second.count;
    return PH_OK;
  }
  const ph_status status = ph_unregister(context_, found->second.keys.key0);
  // Of one that cannot be ended now the caller keeps the memory, and calls again: its key serves
  // nobody any more.
  if (status == PH_TIMEOUT)
    found->second.is_stale = true;
  else
    entries_.erase(found);
  return status;
}

const photon_buffer_priv_t* Registrations::find(const void* base, std::uint64_t size_bytes) {
  ph_region region{};
  const std::scoped_lock lock(mutex_);
  // The context knows the smallest. All of its regions are ours but those of announced buffers,
  // which may be smaller.
  if (ph_find_region(context_, base, size_bytes, &region) != PH_OK) return nullptr;
  const auto found = entries_.find({region.address, region.size_bytes});
  if (found != entries_.end() && !found->second.is_stale) return &found->second.keys;
  const auto address = reinterpret_cast<std::uintptr_t>(base);
  const photon_buffer_priv_t* best = nullptr;
  std::uint64_t best_bytes = UINT64_MAX;
  for (const auto& [range, entry] : entries_) {
    if (range.base > address) break;
    const std::uint64_t offset = address - range.base;
    const bool contains = offset <= range.size_bytes && size_bytes <= range.size_bytes - offset;
    if (!contains || entry.is_stale || range.size_bytes >= best_bytes) continue;
    best = &entry.keys;
    best_bytes = range.size_bytes;
  }
  return best;
}

void Registrations::clear() noexcept {
  const std::scoped_lock lock(mutex_);
  entries_.clear();
}

}  // namespace photon::classic
