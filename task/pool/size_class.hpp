// Sizes of blocks, chunk and header included: multiples of 64 bytes from 128 to 512, then four for
// each doubling, so a block is at most a quarter larger than what was asked for (from 256 on).
// Invariant: size_of(class_of(n)) is the smallest size that is at least n.
// Owner: none (pure functions).
#pragma once

#include <bit>
#include <cstdint>

namespace photon::task {

class SizeClass {
 public:
  static constexpr std::uint64_t kLeastBytes = 128;
  static constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 46;
  static constexpr unsigned kEven = 7;  // classes of up to 512 bytes
  static constexpr unsigned kCount = kEven + 4 * (46 - 9);

  // Of at most kMostBytes.
  static constexpr unsigned class_of(std::uint64_t bytes) noexcept {
    if (bytes <= kLeastBytes) return 0;
    if (bytes <= kEvenBytes) return static_cast<unsigned>((bytes + 63) / 64 - 2);
    const auto log2 = static_cast<unsigned>(std::bit_width(bytes - 1) - 1);  // 9 or more
    const std::uint64_t quarters = (bytes - 1) >> (log2 - 2);                // 4 to 7
    return kEven + 4 * (log2 - 9) + static_cast<unsigned>(quarters - 4);
  }
  static constexpr std::uint64_t size_of(unsigned size_class) noexcept {
    if (size_class < kEven) return 64 * (std::uint64_t{size_class} + 2);
    const unsigned beyond = size_class - kEven;
    return (std::uint64_t{beyond} % 4 + 5) << (beyond / 4 + 7);
  }
  // The largest one that is at most `bytes`, which are kLeastBytes or more.
  static constexpr unsigned within(std::uint64_t bytes) noexcept {
    const unsigned least = class_of(bytes);
    return size_of(least) == bytes ? least : least - 1;
  }

 private:
  static constexpr std::uint64_t kEvenBytes = 512;
};

}  // namespace photon::task
