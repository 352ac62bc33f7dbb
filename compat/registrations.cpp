#include "compat/registrations.hpp"

#include <algorithm>

namespace photon::classic {

ph_status Registrations::add(void* base, std::uint64_t size_bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(base);
  const std::scoped_lock lock(mutex_);
  if (const auto found = exactly(address, size_bytes); found != entries_.end()) {
    ++found->count;
    return PH_OK;
  }
  entries_.push_back({address, size_bytes, 1, {}});
  ph_region region{};
  const ph_status status = ph_register(context_, base, size_bytes, PH_ACCESS_ALL, &region);
  if (status == PH_OK)
    entries_.back().keys.key0 = region.key;
  else
    entries_.pop_back();
  return status;
}

ph_status Registrations::remove(void* base, std::uint64_t size_bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(base);
  const std::scoped_lock lock(mutex_);
  auto found = exactly(address, size_bytes);
  if (found == entries_.end()) return PH_ERR_NOT_FOUND;
  if (found->count > 1) {
    --found->count;
    return PH_OK;
  }
  const ph_status status = ph_unregister(context_, found->keys.key0);
  if (status == PH_OK || status == PH_ERR_KEY) entries_.erase(found);
  return status;
}

const photon_buffer_priv_t* Registrations::find(const void* base, std::uint64_t size_bytes) {
  const std::scoped_lock lock(mutex_);
  const auto found = smallest_around(reinterpret_cast<std::uintptr_t>(base), size_bytes);
  return found == entries_.end() ? nullptr : &found->keys;
}

void Registrations::clear() noexcept {
  const std::scoped_lock lock(mutex_);
  entries_.clear();
}

Registrations::Entries::iterator Registrations::exactly(std::uintptr_t base,
                                                        std::uint64_t size_bytes) {
  return std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.base == base && entry.size_bytes == size_bytes;
  });
}

Registrations::Entries::iterator Registrations::smallest_around(std::uintptr_t base,
                                                                std::uint64_t size_bytes) {
  auto best = entries_.end();
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    const bool contains = entry->base <= base && base - entry->base <= entry->size_bytes &&
                          size_bytes <= entry->size_bytes - (base - entry->base);
    if (contains && (best == entries_.end() || entry->size_bytes < best->size_bytes)) best = entry;
  }
  return best;
}

}  // namespace photon::classic
