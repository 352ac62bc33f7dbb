// Which mailbox stands under an address: open addressing, without tombstones, so that a look
// touches one place or the few behind it.
//
// Invariant: at most half of the places are used, and between an entry's own place and where it
// stands all are. Owner: Receiver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace photon::service::mailbox {

template <class Value>
class AddressTable {
 public:
  Value* find(std::uint64_t address) const noexcept {
    if (used_ == 0) return nullptr;
    for (std::size_t i = home(address);; i = next(i)) {
      const Entry& entry = entries_[i];
      if (entry.value == nullptr || entry.address == address) return entry.value;
    }
  }
  // The address is in no entry. Throws bad_alloc, and then nothing has changed.
  void add(std::uint64_t address, Value* value) {
    if (2 * (used_ + 1) > capacity_) grow();
    put(address, value);
    ++used_;
  }
  // The address is in one.
  void remove(std::uint64_t address) noexcept {
    std::size_t hole = home(address);
    while (entries_[hole].address != address) hole = next(hole);
    // Those behind move up, as far as their own places allow.
    for (std::size_t i = next(hole); entries_[i].value != nullptr; i = next(i)) {
      const std::size_t own = home(entries_[i].address);
      if (((i - own) & (capacity_ - 1)) < ((i - hole) & (capacity_ - 1))) continue;
      entries_[hole] = std::exchange(entries_[i], Entry{});
      hole = i;
    }
    entries_[hole] = {};
    --used_;
  }
  std::size_t size() const noexcept { return used_; }

 private:
  static constexpr std::size_t kFirst = 16;

  struct Entry {
    std::uint64_t address = 0;
    Value* value = nullptr;
  };

  std::size_t home(std::uint64_t address) const noexcept {
    constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15;  // 2^64 over the golden ratio
    return static_cast<std::size_t>(address * kSpread >> shift_);
  }
  std::size_t next(std::size_t i) const noexcept { return (i + 1) & (capacity_ - 1); }
  void put(std::uint64_t address, Value* value) noexcept {
    std::size_t i = home(address);
    while (entries_[i].value != nullptr) i = next(i);
    entries_[i] = {address, value};
  }
  void grow() {
    const std::size_t before = capacity_;
    const std::size_t capacity = before == 0 ? kFirst : 2 * before;
    auto larger = std::make_unique<Entry[]>(capacity);
    const auto old = std::exchange(entries_, std::move(larger));
    capacity_ = capacity;
    shift_ = 64;
    for (std::size_t size = capacity; size > 1; size /= 2) --shift_;
    for (std::size_t i = 0; i < before; ++i)
      if (old[i].value != nullptr) put(old[i].address, old[i].value);
  }

  std::unique_ptr<Entry[]> entries_;
  std::size_t capacity_ = 0;
  std::size_t used_ = 0;
  unsigned shift_ = 64;
};

}  // namespace photon::service::mailbox
