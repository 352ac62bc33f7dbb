#include "engine/parts/region_book.hpp"

#include <random>
#include <utility>

namespace photon::engine {

namespace {

// Registrations of one range are told apart by what they grant; each of ph_alloc is one of its own.
RangeIndex::Range range_of(const ph_region& region, std::uint32_t kind) noexcept {
  return {region.address, region.address + region.size_bytes, kind};
}

constexpr std::uint32_t kAllocated = 0x80000000u;

}  // namespace

KeySource seeded_keys(std::uint64_t seed) {
  return [random = std::mt19937_64(seed)]() mutable { return random(); };
}

RegionBook::RegionBook(std::span<transport::RegionEntry> table, KeySource keys)
    : table_(table), keys_(std::move(keys)) {}

base::Result<ph_region> RegionBook::add(ph_region region, std::uint32_t access, bool allocated) {
  const std::scoped_lock lock(mutex_);
  const auto same =
      allocated ? RangeIndex::kNone : index_of(access).find_same(range_of(region, access));
  if (same != RangeIndex::kNone) {
    ++slots_[same].count;
    return slots_[same].region;
  }
  if (!ensure_slot()) {
    return base::Error{PH_ERR_MEMORY, 0,
                       "register: all " + std::to_string(table_.size()) +
                           " registration slots are used; unregister some or raise "
                           "PHOTON_MAX_REGIONS",
                       PH_ANY_RANK};
  }
  const std::uint32_t slot = free_.back();
  std::uint64_t key = 0;
  do {
    key = (keys_() & ~(table_.size() - 1)) | slot;
  } while (key <= slot);
  region.key = key;
  std::set<std::pair<std::uint64_t, std::uint32_t>> made;  // merged when nothing can fail any more
  if (allocated) made.emplace(region.address, slot);
  index_of(access).insert(slot, range_of(region, allocated ? kAllocated | slot : access));
  allocated_.merge(made);
  free_.pop_back();
  slots_[slot] = Slot{region, access, 1, allocated};
  // Whatever else the caller tells its registrations apart by is no right.
  table_[slot].publish(key, {region.address, region.size_bytes, access & PH_ACCESS_ALL, allocated});
  return region;
}

std::uint32_t RegionBook::new_exposer() noexcept {
  const std::scoped_lock lock(mutex_);
  constexpr std::uint32_t kStep = PH_ACCESS_ALL + 1;  // above the rights
  exposers_ = (exposers_ + kStep) % kTemporary;
  return kTemporary | exposers_;
}

// So that one is free.
bool RegionBook::ensure_slot() {
  if (!free_.empty()) return true;
  if (slots_.size() == table_.size()) return false;
  slots_.reserve(slots_.size() + 1 > slots_.capacity() ? 2 * slots_.size() + 16 : 0);
  free_.reserve(slots_.capacity());  // release() does not allocate
  slots_.emplace_back();
  free_.push_back(static_cast<std::uint32_t>(slots_.size() - 1));
  return true;
}

std::int64_t RegionBook::slot_of(std::uint64_t key) const noexcept {
  const std::scoped_lock lock(mutex_);
  return find_slot(key);
}

std::uint32_t RegionBook::access_of(std::uint64_t key) const noexcept {
  const std::scoped_lock lock(mutex_);
  const std::int64_t slot = find_slot(key);
  if (slot < 0 || slots_[static_cast<std::size_t>(slot)].stale) return 0;
  return slots_[static_cast<std::size_t>(slot)].access;
}

std::int64_t RegionBook::find_slot(std::uint64_t key) const noexcept {
  const std::uint64_t slot = key & (table_.size() - 1);
  if (key == 0 || slot >= slots_.size()) return -1;
  const Slot& entry = slots_[slot];
  return entry.count > 0 && entry.region.key == key ? static_cast<std::int64_t>(slot) : -1;
}

RegionBook::Removed RegionBook::remove(std::uint64_t key, ph_region& region) noexcept {
  const std::scoped_lock lock(mutex_);
  const std::int64_t slot = find_slot(key);
  if (slot < 0) return Removed::unknown;
  Slot& entry = slots_[static_cast<std::size_t>(slot)];
  if (entry.allocated) return Removed::is_allocated;
  if (entry.count > 1) {
    --entry.count;
    return Removed::counted_down;
  }
  return revoke(static_cast<std::size_t>(slot), region);
}

RegionBook::Removed RegionBook::remove_allocated(std::uint64_t address,
                                                 ph_region& region) noexcept {
  const std::scoped_lock lock(mutex_);
  const auto found = allocated_.lower_bound({address, 0});
  if (found == allocated_.end() || found->first != address) return Removed::unknown;
  return revoke(found->second, region);
}

// Again, where its copies had not ended the first time.
RegionBook::Removed RegionBook::revoke(std::size_t slot, ph_region& region) noexcept {
  Slot& entry = slots_[slot];
  if (!std::exchange(entry.stale, true))
    index_of(entry.access).remove(static_cast<std::uint32_t>(slot));
  table_[slot].revoke();
  region = entry.region;
  return Removed::stale;
}

bool RegionBook::release(const ph_region& region) noexcept {
  const std::scoped_lock lock(mutex_);
  return free_slot(region, false);
}

bool RegionBook::unshelve(const ph_region& region) noexcept {
  const std::scoped_lock lock(mutex_);
  return free_slot(region, true);
}

// False: it is not stale, or was shelved or freed by another thread.
bool RegionBook::free_slot(const ph_region& region, bool is_shelved) noexcept {
  const std::int64_t found = find_slot(region.key);
  const auto slot = static_cast<std::size_t>(found);
  if (found < 0 || !slots_[slot].stale || slots_[slot].shelved != is_shelved) return false;
  if (slots_[slot].allocated) allocated_.erase({region.address, static_cast<std::uint32_t>(slot)});
  slots_[slot] = Slot{};
  free_.push_back(static_cast<std::uint32_t>(slot));
  return true;
}

bool RegionBook::shelve(const ph_region& region) noexcept {
  const std::scoped_lock lock(mutex_);
  const std::int64_t found = find_slot(region.key);
  const auto slot = static_cast<std::size_t>(found);
  if (found < 0 || !slots_[slot].stale || slots_[slot].shelved) return false;
  slots_[slot].shelved = true;
  allocated_.erase({region.address, static_cast<std::uint32_t>(slot)});
  return true;
}

void RegionBook::keep(std::uint64_t slot) noexcept {
  const std::scoped_lock lock(mutex_);
  if (slot < slots_.size()) slots_[slot].kept = true;
}

bool RegionBook::is_kept(std::uint64_t slot) const noexcept {
  const std::scoped_lock lock(mutex_);
  return slot < slots_.size() && slots_[slot].kept;
}

std::optional<ph_region> RegionBook::find(std::uint64_t address,
                                          std::uint64_t size_bytes) const noexcept {
  if (size_bytes > ~address) return std::nullopt;  // it wraps around
  const std::scoped_lock lock(mutex_);
  const std::uint32_t slot = live_.find(address, address + size_bytes);
  if (slot == RangeIndex::kNone) return std::nullopt;
  return slots_[slot].region;
}

void RegionBook::revoke_all() noexcept {
  const std::scoped_lock lock(mutex_);
  for (std::size_t i = 0; i < slots_.size(); ++i)
    if (slots_[i].count > 0) table_[i].revoke();
}

}  // namespace photon::engine
