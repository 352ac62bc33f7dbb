// What this rank has registered.
//
//   slot: free -- add --> live (counted) -- last remove --> free
//
// Invariant: the table's entry of a slot is live exactly while its count is above zero. Keys are
// slot | random << slot bits, so a stale key never names a later registration but by chance.
// Cost: logarithmic in the live registrations, however they nest (range_index.hpp); a memory
// allocation only where there never were so many, or for ph_alloc.
// Owner: the Engine, under the lane's lock.
#pragma once

#include <photon/memory.h>

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "engine/range_index.hpp"
#include "transport/access.hpp"
#include "transport/transport.hpp"

namespace photon::engine {

using transport::check_access;

// Random bits for keys.
using KeySource = std::function<std::uint64_t()>;
KeySource seeded_keys(std::uint64_t seed);

class RegionBook {
 public:
  RegionBook(std::span<transport::RegionEntry> table, KeySource keys);

  // Registers, or counts once more.
  base::Result<ph_region> add(ph_region region, std::uint32_t access, bool allocated);
  // The slot of a live key, or -1.
  std::int64_t slot_of(std::uint64_t key) const noexcept;
  bool allocated(std::int64_t slot) const noexcept { return slots_[index(slot)].allocated; }
  // Counts down; true: that was the last, and the key is stale from now on. The slot stays
  // occupied until release().
  bool remove(std::int64_t slot) noexcept;
  void release(std::int64_t slot) noexcept;
  // The smallest live region around [address, address + size), that of the lowest slot if there are
  // several; or none.
  const ph_region* find(std::uint64_t address, std::uint64_t size_bytes) const noexcept;
  // The live region of ph_alloc that begins at address, or -1.
  std::int64_t find_allocated(std::uint64_t address) const noexcept;
  const ph_region& region(std::int64_t slot) const noexcept { return slots_[index(slot)].region; }

  void revoke_all() noexcept;
  std::span<const transport::RegionEntry> table() const noexcept { return table_; }
  std::uint64_t slots_used() const noexcept { return slots_.size(); }

 private:
  struct Slot {
    ph_region region{};
    std::uint32_t access = 0;
    std::uint32_t count = 0;
    bool allocated = false;
    bool stale = false;  // removed; occupied until its copies have ended
  };

  static std::size_t index(std::int64_t slot) noexcept { return static_cast<std::size_t>(slot); }
  bool ensure_slot();

  std::span<transport::RegionEntry> table_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  RangeIndex live_;                                              // but for stale ones; by slot
  std::set<std::pair<std::uint64_t, std::uint32_t>> allocated_;  // address, slot; stale ones, too
  KeySource keys_;
};

}  // namespace photon::engine
