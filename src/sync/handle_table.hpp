// Finds what belongs to a handle of somebody else's, by a few loads and no lock.
//
//   place:  free -- set() --> a key and a value -- erase() --> the key without a value
//           the key without a value -- set() of any key --> that key and its value
//           the key without a value, and the place behind it is free -- erase() --> free
//
// A search ends at the first free place: between where it begins and the place of a key that has a
// value none is free. The writer stores the key first and the value then. So a reader that finds
// its key sees no value of the key before it [handle-key]; and one that finds a value sees what
// stands behind it, and the key of that value when it looks at the key once more [handle-value].
// Invariant: no key stands in two places.
// Owner: whoever holds it. Threads: find() any; set() and erase() one at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "sync/policy.hpp"

namespace photon::sync {

// A value fits a word, as pointers do; Value{} is none.
template <class Policy, class Value, std::size_t kPlaces>
class HandleTable {
  static_assert((kPlaces & (kPlaces - 1)) == 0);

 public:
  // Value{}: there is none.
  Value find(std::uint64_t key) const noexcept {
    for (std::size_t at = hash(key);; at = (at + 1) % kPlaces) {
      const Place& place = places_[at];
      const std::uint64_t there = place.key.load(std::memory_order_acquire);  // [handle-key]
      if (there == 0) return Value{};
      if (there != key + 1) continue;
      const Value value = place.value.load(std::memory_order_acquire);  // [handle-value]
      if (place.key.load(std::memory_order_relaxed) == there) [[likely]]
        return value;
    }
  }
  // False: it is full. The key ~0 cannot be had.
  bool set(std::uint64_t key, Value value) noexcept {
    if (key + 1 == 0) return false;
    Place* const place = place_for(key + 1);
    if (place == nullptr) return false;
    place->key.store(key + 1, std::memory_order_release);  // [handle-key]
    place->value.store(value, std::memory_order_release);  // [handle-value]
    return true;
  }
  void erase(std::uint64_t key) noexcept {
    if (find(key) == Value{}) return;
    Place* place = place_for(key + 1);
    place->value.store(Value{}, std::memory_order_release);  // [handle-value]
    // Owners may give out new handles for ever: what no search needs is free again.
    for (std::size_t at = static_cast<std::size_t>(place - places_.data()); is_over(at);
         at = (at + kPlaces - 1) % kPlaces) {
      places_[at].key.store(0, std::memory_order_release);  // [handle-key]
      --used_;
    }
  }

 private:
  struct Place {
    typename Policy::template Atomic<std::uint64_t> key;  // + 1; 0: free
    typename Policy::template Atomic<Value> value;
  };
  // It has a key without a value, and no search goes on behind it.
  bool is_over(std::size_t at) const noexcept {
    const auto key_at = [&](std::size_t place) {
      return places_[place].key.load(std::memory_order_relaxed);
    };
    return key_at(at) != 0 && places_[at].value.load(std::memory_order_relaxed) == Value{} &&
           key_at((at + 1) % kPlaces) == 0;
  }
  // Where that word stands, else a place without a value, else a free one. Null: there is no room.
  Place* place_for(std::uint64_t word) noexcept {
    Place* empty = nullptr;
    for (std::size_t at = hash(word - 1);; at = (at + 1) % kPlaces) {
      Place& place = places_[at];
      const std::uint64_t there = place.key.load(std::memory_order_relaxed);
      if (there == word) return &place;
      if (there != 0) {
        if (empty == nullptr && place.value.load(std::memory_order_relaxed) == Value{})
          empty = &place;
        continue;
      }
      if (empty != nullptr) return empty;
      if (used_ == kPlaces * 3 / 4) return nullptr;
      ++used_;
      return &place;
    }
  }
  static std::size_t hash(std::uint64_t key) noexcept {
    return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15ULL) >> 32) % kPlaces;
  }

  std::array<Place, kPlaces> places_{};
  std::size_t used_ = 0;
};

}  // namespace photon::sync
