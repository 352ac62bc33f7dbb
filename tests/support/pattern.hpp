// Bytes that tell where they belong: byte i of a pattern is (131 seed + 7 i + i / 256) mod 256.
//
// They are written and compared by blocks of 256, each of which is a piece of one sequence: a loop
// over bytes would be most of a test's time under ThreadSanitizer.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace photon::test {

// What every block is a piece of.
inline constexpr auto kPatternSequence = [] {
  std::array<unsigned char, 512> sequence{};
  for (std::size_t i = 0; i < sequence.size(); ++i) sequence[i] = static_cast<unsigned char>(7 * i);
  return sequence;
}();

class Pattern {
 public:
  explicit constexpr Pattern(std::uint64_t seed) : seed_(seed) {}

  constexpr unsigned char at(std::size_t i) const {
    return static_cast<unsigned char>(seed_ * 131 + i * 7 + (i >> 8));
  }

  void fill(void* data, std::size_t size_bytes) const {
    auto* bytes = static_cast<unsigned char*>(data);
    for (std::size_t i = 0; i < size_bytes; i += kBlock)
      std::memcpy(bytes + i, block(i), std::min(kBlock, size_bytes - i));
  }

  // The first index that does not carry the pattern; the size if all do.
  std::size_t first_difference(const void* data, std::size_t size_bytes) const {
    const auto* bytes = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < size_bytes; i += kBlock) {
      const std::size_t count = std::min(kBlock, size_bytes - i);
      const unsigned char* expected = block(i);
      if (std::memcmp(bytes + i, expected, count) == 0) continue;
      return i + static_cast<std::size_t>(
                     std::mismatch(expected, expected + count, bytes + i).first - expected);
    }
    return size_bytes;
  }

 private:
  static constexpr std::size_t kBlock = 256;
  static constexpr unsigned kInverse = 183;  // of 7 modulo 256

  // The block that begins at i, a multiple of its size.
  const unsigned char* block(std::size_t i) const {
    return &kPatternSequence[at(i) * kInverse % kBlock];
  }

  std::uint64_t seed_;
};

// Every byte has this value: each is like the one before it, which memcmp finds out by itself. A
// loop over bytes would be most of a test's time under ThreadSanitizer.
inline bool all_are(std::span<const std::byte> bytes, std::byte value) {
  return bytes.empty() ||
         (bytes[0] == value && std::memcmp(&bytes[0], &bytes[0] + 1, bytes.size() - 1) == 0);
}

}  // namespace photon::test
