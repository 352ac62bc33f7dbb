// What this rank has registered.
//
//   slot: free -- add --> live (counted) -- last remove --> stale -- release --> free
//                     stale -- shelve --> stale, and freed for its owner -- unshelve --> free
//
// Invariant: the table's entry of a slot is live exactly while its count is above zero. Keys are
// slot | random << slot bits, so a stale key never names a later registration but by chance.
// Cost: logarithmic in the live registrations, however they nest (range_index.hpp); a memory
// allocation only where there never were so many, or for ph_alloc.
// Owner: the lanes of a context together. Threads: any, under a mutex of its own that nothing else
// is locked inside of; the table is read without it.
#pragma once

#include <photon/memory.h>

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "engine/parts/range_index.hpp"
#include "transport/access.hpp"
#include "transport/transport.hpp"

namespace photon::engine {

using transport::check_access;
using transport::is_granted;

// Random bits for keys.
using KeySource = std::function<std::uint64_t()>;
KeySource seeded_keys(std::uint64_t seed);

class RegionBook {
 public:
  RegionBook(std::span<transport::RegionEntry> table, KeySource keys);

  // In `access`: for one use, by who asked. Found by nobody else, and counted with such only.
  static constexpr std::uint32_t kTemporary = 1u << 30;
  // That, and what tells those of one lane from those of the others: a lane that takes one back
  // makes its own NIC let go of it, and no other lane's.
  std::uint32_t new_exposer() noexcept;

  // Registers, or counts once more.
  base::Result<ph_region> add(ph_region region, std::uint32_t access, bool allocated);
  // stale: that was the last of its registrations; nobody finds it any more, and its slot stays
  // occupied until release(). Told again to who asks again before.
  enum class Removed : std::uint8_t { unknown, is_allocated, counted_down, stale };
  Removed remove(std::uint64_t key, ph_region& region) noexcept;
  // Of ph_alloc, by where it begins: unknown or stale.
  Removed remove_allocated(std::uint64_t address, ph_region& region) noexcept;
  // Its copies have ended. False: it was released already.
  bool release(const ph_region& region) noexcept;
  // The same, but its slot stays occupied until unshelve(): peers have it mapped. Of ph_alloc.
  bool shelve(const ph_region& region) noexcept;
  bool unshelve(const ph_region& region) noexcept;
  // Somebody may have it mapped, and nobody will tell when that is over.
  void keep(std::uint64_t slot) noexcept;
  bool is_kept(std::uint64_t slot) const noexcept;
  // The slot of a key, be it stale, or -1.
  std::int64_t slot_of(std::uint64_t key) const noexcept;
  // What the live registration of a key was given for; 0: there is none.
  std::uint32_t access_of(std::uint64_t key) const noexcept;
  // The smallest live region, no temporary one, around [address, address + size), that of the
  // lowest slot if there are several; or none.
  std::optional<ph_region> find(std::uint64_t address, std::uint64_t size_bytes) const noexcept;

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
    bool shelved = false;
    bool kept = false;  // occupied until the end
  };

  bool ensure_slot();
  bool free_slot(const ph_region& region, bool is_shelved) noexcept;
  RangeIndex& index_of(std::uint32_t access) noexcept {
    return (access & kTemporary) != 0 ? temporary_ : live_;
  }
  std::int64_t find_slot(std::uint64_t key) const noexcept;
  Removed revoke(std::size_t slot, ph_region& region) noexcept;

  const std::span<transport::RegionEntry> table_;
  mutable std::mutex mutex_;  // of all below
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  RangeIndex temporary_;                                         // the same of kTemporary
  RangeIndex live_;                                              // but for stale ones; by slot
  std::set<std::pair<std::uint64_t, std::uint32_t>> allocated_;  // address, slot; stale ones, too
  KeySource keys_;
  std::uint32_t exposers_ = 0;
};

}  // namespace photon::engine
