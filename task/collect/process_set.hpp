// A set of processes, one bit for each, as it travels in messages.
// Invariant: bits of processes that the job does not have are 0.
// Owner: whoever holds it; plain data.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace photon::task {

class ProcessSet {
 public:
  explicit ProcessSet(std::uint32_t processes)
      : processes_(processes), words_((processes + 63) / 64) {}

  static std::uint64_t bytes_of(std::uint32_t processes) noexcept {
    return (std::uint64_t{processes} + 63) / 64 * sizeof(std::uint64_t);
  }
  std::uint32_t processes() const noexcept { return processes_; }
  bool has(std::uint32_t process) const noexcept {
    return (words_[process / 64] >> (process % 64) & 1) != 0;
  }
  void add(std::uint32_t process) noexcept {
    words_[process / 64] |= std::uint64_t{1} << (process % 64);
  }
  void unite(const ProcessSet& other) noexcept {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }
  void intersect(const ProcessSet& other) noexcept {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
  }
  friend bool operator==(const ProcessSet&, const ProcessSet&) = default;

  // Both of words() bytes_of(processes) bytes.
  const std::uint64_t* words() const noexcept { return words_.data(); }
  // Of a peer: bits beyond the last process are left out.
  void take(const std::uint64_t* words) noexcept {
    std::copy_n(words, words_.size(), words_.data());
    if (processes_ % 64 != 0) words_.back() &= (std::uint64_t{1} << (processes_ % 64)) - 1;
  }

 private:
  std::uint32_t processes_;
  std::vector<std::uint64_t> words_;
};

}  // namespace photon::task
