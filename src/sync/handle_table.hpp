// Finds what belongs to a handle of somebody else's, by a few loads and no lock.
//
//   place:  free -- set() --> a key and a value -- erase() --> the key without a value -- set() of
//           that key --> a key and a value
//
// A key stays in its place for ever, for owners of handles give the same ones out again; so a
// search ends at the first free place. A writer stores the value before the key [handle-key], and a
// value again by release, so that a reader that finds either sees what stands behind it
// [handle-value].
// Owner: whoever holds it. Threads: find() any; set() and erase() one at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "sync/policy.hpp"

namespace photon::sync {

// Keys are any numbers but `kFree`.
template <class Policy, class Value, std::size_t kPlaces>
class HandleTable {
  static_assert((kPlaces & (kPlaces - 1)) == 0);

 public:
  // Null: there is none.
  Value* find(std::uint64_t key) const noexcept {
    for (std::size_t at = hash(key);; at = (at + 1) % kPlaces) {
      const std::uint64_t there = places_[at].key.load(std::memory_order_acquire);  // [handle-key]
      if (there == key + 1)
        return places_[at].value.load(std::memory_order_acquire);  // [handle-value]
      if (there == 0) return nullptr;
    }
  }
  // False: it is full. The key ~0 cannot be had.
  bool set(std::uint64_t key, Value* value) noexcept {
    if (key + 1 == 0) return false;
    for (std::size_t at = hash(key);; at = (at + 1) % kPlaces) {
      const std::uint64_t there = places_[at].key.load(std::memory_order_relaxed);
      if (there != 0 && there != key + 1) continue;
      if (there == 0 && ++used_ > kPlaces * 3 / 4) return false;
      places_[at].value.store(value, std::memory_order_release);  // [handle-value]
      places_[at].key.store(key + 1, std::memory_order_release);  // [handle-key]
      return true;
    }
  }
  void erase(std::uint64_t key) noexcept {
    if (find(key) != nullptr) set(key, nullptr);
  }

 private:
  struct Place {
    typename Policy::template Atomic<std::uint64_t> key;  // + 1; 0: free
    typename Policy::template Atomic<Value*> value;
  };
  static std::size_t hash(std::uint64_t key) noexcept {
    return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15ULL) >> 32) % kPlaces;
  }

  std::array<Place, kPlaces> places_{};
  std::size_t used_ = 0;
};

}  // namespace photon::sync
