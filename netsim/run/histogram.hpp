// How often which value came, in buckets of 1/64 of the value: quantiles are right to 1.6%, the
// maximum exactly. Invariant: adding is independent of order, so that sums over workers are equal
// for any number of them. Owner: one worker.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace photon::netsim {

class Histogram {
 public:
  void add(std::uint64_t value) {
    ++counts_[bucket_of(value)];
    ++count_;
    most_ = std::max(most_, value);
  }
  void add(const Histogram& other) {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
    count_ += other.count_;
    most_ = std::max(most_, other.most_);
  }
  std::uint64_t count() const { return count_; }
  std::uint64_t most() const { return most_; }
  // The least value of the bucket in which the share is reached; 0 without values.
  std::uint64_t quantile(double share) const {
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (seen > 0 && static_cast<double>(seen) >= share * static_cast<double>(count_)) {
        return least_of(i);
      }
    }
    return 0;
  }

 private:
  static constexpr std::size_t kFine = 64;
  static constexpr std::size_t bucket_of(std::uint64_t value) {
    if (value < 2 * kFine) return value;
    const auto shift = static_cast<std::size_t>(std::bit_width(value)) - 7;
    return shift * kFine + (value >> shift);
  }
  static constexpr std::uint64_t least_of(std::size_t bucket) {
    if (bucket < 2 * kFine) return bucket;
    const std::size_t shift = bucket / kFine - 1;
    return (bucket - shift * kFine) << shift;
  }

  std::array<std::uint64_t, (64 - 7 + 2) * kFine> counts_{};
  std::uint64_t count_ = 0;
  std::uint64_t most_ = 0;
};

}  // namespace photon::netsim
