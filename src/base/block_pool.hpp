// Blocks of one size, named by index: long ids and payloads that wait for credit.
// Invariant: a block is either free or held by exactly one owner of its index. Grows in steps up to
// what the limits of its users allow, and allocates only then; trim() gives back what is beyond the
// usual.
// Owner: the Engine, under the lane's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace photon::base {

class BlockPool {
 public:
  explicit BlockPool(std::size_t block_bytes) : block_bytes_(block_bytes ? block_bytes : 1) {}

  // The next `count` calls of take() do not allocate, so they do not fail.
  void reserve(std::size_t count) {
    while (free_.size() < count) grow();
  }
  std::uint32_t take() {
    if (free_.empty()) grow();
    const std::uint32_t index = free_.back();
    free_.pop_back();
    return index;
  }
  void give(std::uint32_t index) noexcept { free_.push_back(index); }  // capacity is reserved

  // Gives what is beyond the usual back to the system, if no block is held.
  void trim() noexcept {
    if (used() != 0 || chunks_.size() <= kUsual) return;
    chunks_.resize(kUsual);
    free_.clear();
    offer_from(0);
  }

  std::byte* at(std::uint32_t index) noexcept {
    return chunks_[index / kStep].get() + (index % kStep) * block_bytes_;
  }
  std::size_t made() const noexcept { return chunks_.size() * kStep; }
  std::size_t used() const noexcept { return made() - free_.size(); }
  std::size_t block_bytes() const noexcept { return block_bytes_; }

 private:
  static constexpr std::uint32_t kStep = 64;
  static constexpr std::uint32_t kUsual = 64;  // chunks: the setting `requests` is 4096 by default

  void grow() {
    const std::size_t first = made();
    if (free_.capacity() < first + kStep) free_.reserve(2 * (first + kStep));
    chunks_.push_back(std::make_unique<std::byte[]>(kStep * block_bytes_));
    offer_from(first);
  }
  void offer_from(std::size_t first) noexcept {
    for (std::size_t i = made(); i > first; --i) free_.push_back(static_cast<std::uint32_t>(i - 1));
  }

  std::size_t block_bytes_;
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  std::vector<std::uint32_t> free_;
};

}  // namespace photon::base
