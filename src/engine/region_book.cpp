#include "engine/region_book.hpp"

#include <random>
#include <utility>

namespace photon::engine {

namespace {

bool contains(std::uint64_t base, std::uint64_t size, std::uint64_t address,
              std::uint64_t bytes) noexcept {
  return address >= base && bytes <= size && address - base <= size - bytes;
}

}  // namespace

KeySource seeded_keys(std::uint64_t seed) {
  return [random = std::mt19937_64(seed)]() mutable { return random(); };
}

RegionBook::RegionBook(std::span<transport::RegionEntry> table, KeySource keys)
    : table_(table), keys_(std::move(keys)) {}

base::Result<ph_region> RegionBook::add(ph_region region, std::uint32_t access, bool allocated) {
  if (const auto slot = allocated ? -1 : same(region, access); slot >= 0) {
    ++slots_[index(slot)].count;
    return slots_[index(slot)].region;
  }
  std::uint64_t slot = 0;
  if (!free_.empty()) {
    slot = free_.back();
    free_.pop_back();
  } else if (slots_.size() < table_.size()) {
    slot = slots_.size();
    slots_.emplace_back();
  } else {
    return base::Error{PH_ERR_MEMORY, 0,
                       "register: all " + std::to_string(table_.size()) +
                           " registration slots are used; unregister some or raise "
                           "PHOTON_MAX_REGIONS",
                       PH_ANY_RANK};
  }
  std::uint64_t key = 0;
  do {
    key = (keys_() & ~(table_.size() - 1)) | slot;
  } while (key <= slot);
  region.key = key;
  slots_[slot] = Slot{region, access, 1, allocated};
  table_[slot].publish(key, {region.address, region.size_bytes, access});
  return region;
}

std::int64_t RegionBook::slot_of(std::uint64_t key) const noexcept {
  const std::uint64_t slot = key & (table_.size() - 1);
  if (key == 0 || slot >= slots_.size()) return -1;
  const Slot& entry = slots_[slot];
  return entry.count > 0 && entry.region.key == key ? static_cast<std::int64_t>(slot) : -1;
}

bool RegionBook::remove(std::int64_t slot) noexcept {
  Slot& entry = slots_[index(slot)];
  if (entry.count > 1) {
    --entry.count;
    return false;
  }
  entry.stale = true;
  table_[index(slot)].revoke();
  return true;
}

void RegionBook::release(std::int64_t slot) noexcept {
  slots_[index(slot)] = Slot{};
  free_.push_back(static_cast<std::uint32_t>(slot));
}

const ph_region* RegionBook::find(std::uint64_t address, std::uint64_t size_bytes) const noexcept {
  const ph_region* best = nullptr;
  for (const Slot& slot : slots_) {
    if (slot.count == 0 || slot.stale ||
        !contains(slot.region.address, slot.region.size_bytes, address, size_bytes))
      continue;
    if (best == nullptr || slot.region.size_bytes < best->size_bytes) best = &slot.region;
  }
  return best;
}

std::int64_t RegionBook::find_allocated(std::uint64_t address) const noexcept {
  for (std::size_t i = 0; i < slots_.size(); ++i)
    if (slots_[i].count > 0 && slots_[i].allocated && slots_[i].region.address == address)
      return static_cast<std::int64_t>(i);
  return -1;
}

std::int64_t RegionBook::same(const ph_region& region, std::uint32_t access) const noexcept {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    if (slot.count > 0 && !slot.stale && !slot.allocated && slot.access == access &&
        slot.region.address == region.address && slot.region.size_bytes == region.size_bytes)
      return static_cast<std::int64_t>(i);
  }
  return -1;
}

void RegionBook::revoke_all() noexcept {
  for (std::size_t i = 0; i < slots_.size(); ++i)
    if (slots_[i].count > 0) table_[i].revoke();
}

}  // namespace photon::engine
