// The registrations of one rank, where its peers can read them: an initiator that reaches memory
// by itself checks key, bounds and access here, without a message.
//
//   entry: free(key 0) -- publish --> live(key) -- revoke --> free(key 0)
//
// Invariant: a key's low bits are its slot, the rest is random and never 0; address, size and
// access do not change while the key is live. A reader checks the key before and after it read
// the rest, so it never combines two registrations. [region]
// Owner: the registering rank writes (lane lock); peers map it read-only.
#pragma once

#include <cstdint>

#include "sync/policy.hpp"

namespace photon::sync {

struct RegionView {
  std::uint64_t address = 0;
  std::uint64_t size_bytes = 0;
  std::uint32_t access = 0;
  bool is_allocated = false;  // by ph_alloc()
};

template <class Policy>
class alignas(32) RegionEntry {
 public:
  void publish(std::uint64_t key, const RegionView& view) noexcept {
    address_.store(view.address, std::memory_order_release);                            // [slot]
    size_access_.store(view.size_bytes << 2 | view.access, std::memory_order_release);  // [slot]
    is_allocated_.store(view.is_allocated ? 1 : 0, std::memory_order_release);          // [slot]
    key_.store(key, std::memory_order_release);                                         // [region]
  }
  // An exchange, so that the next publish() of this slot cannot be seen under the old key. [slot]
  void revoke() noexcept { key_.exchange(0, std::memory_order_acq_rel); }
  std::uint64_t key() const noexcept { return key_.load(std::memory_order_relaxed); }

  // The region under `key`, or false.
  [[gnu::always_inline]] bool read(std::uint64_t key, RegionView& view) const noexcept {
    if (key_.load(std::memory_order_acquire) != key) return false;     // [region]
    view.address = address_.load(std::memory_order_acquire);           // [slot]
    const auto packed = size_access_.load(std::memory_order_acquire);  // [slot]
    view.size_bytes = packed >> 2;
    view.access = static_cast<std::uint32_t>(packed & 3);
    return key_.load(std::memory_order_relaxed) == key;
  }
  // Whether it is the region under `key`, and memory of ph_alloc().
  bool is_allocated(std::uint64_t key) const noexcept {
    if (key_.load(std::memory_order_acquire) != key) return false;          // [region]
    const bool is_so = is_allocated_.load(std::memory_order_acquire) != 0;  // [slot]
    return is_so && key_.load(std::memory_order_relaxed) == key;
  }
  // Whether it is the region under `key`, has all of [address, address + size_bytes) and may be
  // used so. What read() says and what follows from it, in fewer registers.
  [[gnu::always_inline]] bool grants(std::uint64_t key, std::uint64_t address,
                                     std::uint64_t size_bytes,
                                     std::uint32_t access) const noexcept {
    if (key_.load(std::memory_order_acquire) != key) return false;           // [region]
    const auto offset = address - address_.load(std::memory_order_acquire);  // [slot]
    const auto packed = size_access_.load(std::memory_order_acquire);        // [slot]
    if (key_.load(std::memory_order_relaxed) != key) return false;
    // No sum that could overflow; below the region the offset is larger than any region.
    const auto left = (packed >> 2) - size_bytes;
    return size_bytes <= packed >> 2 && offset <= left && (packed & access) == access;
  }

 private:
  typename Policy::template Atomic<std::uint64_t> key_;
  typename Policy::template Atomic<std::uint64_t> address_;
  typename Policy::template Atomic<std::uint64_t> size_access_;  // size << 2 | access
  typename Policy::template Atomic<std::uint64_t> is_allocated_;
};

}  // namespace photon::sync
