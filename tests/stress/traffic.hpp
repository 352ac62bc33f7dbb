// What the stress test sends from one rank to another: everything follows from the seed, so that
// the receiver knows each id, its order and every byte before it comes.
//
// Owner: none (values and functions).
#pragma once

#include <photon/photon.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace photon::stress {

// Sebastiano Vigna's splitmix64: one multiplication chain a word, good enough to tell bytes apart.
inline std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(mix(seed)) {}
  std::uint64_t next() { return mix(state_++); }
  std::uint64_t below(std::uint64_t limit) { return next() % limit; }

 private:
  std::uint64_t state_;
};

inline void fill(std::span<std::byte> bytes, std::uint64_t seed) {
  for (std::size_t i = 0; i < bytes.size(); i += 8) {
    const std::uint64_t word = mix(seed + i / 8);
    std::memcpy(bytes.data() + i, &word, std::min<std::size_t>(8, bytes.size() - i));
  }
}

// The first byte that is not what fill() wrote; the size if there is none.
inline std::size_t first_difference(std::span<const std::byte> bytes, std::uint64_t seed) {
  for (std::size_t i = 0; i < bytes.size(); i += 8) {
    const std::uint64_t word = mix(seed + i / 8);
    const std::size_t part = std::min<std::size_t>(8, bytes.size() - i);
    if (std::memcmp(bytes.data() + i, &word, part) != 0) return i;
  }
  return bytes.size();
}

// Sizes that mean something else than a message.
inline constexpr std::uint32_t kAckIdBytes = 5;       // "verified up to here"
inline constexpr std::uint32_t kFinishedIdBytes = 6;  // "I need nothing of you any more"

inline constexpr std::uint64_t kSlots = 8;  // of messages under way between two ranks
inline constexpr std::size_t kSmallSlotBytes = 64 << 10;
inline constexpr std::size_t kConstantBytes = 256 << 10;

// Where things lie in the memory that every rank exposes.
struct Layout {
  explicit Layout(std::uint32_t ranks)
      : ranks_count(ranks),
        large_bytes(ranks <= 3   ? 8 << 20
                    : ranks <= 5 ? 1 << 20
                                 : 256 << 10) {}

  std::size_t slot_bytes(std::uint64_t slot) const {
    return slot == 0 ? large_bytes : kSmallSlotBytes;
  }
  std::size_t area_bytes() const { return large_bytes + kSlots * kSmallSlotBytes; }
  std::size_t slot_offset(ph_rank from, std::uint64_t slot) const {
    return kConstantBytes + from * area_bytes() +
           (slot == 0 ? 0 : large_bytes + (slot - 1) * kSmallSlotBytes);
  }
  // For puts that are read back: behind the slots.
  std::size_t echo_offset(ph_rank from) const { return slot_offset(from, kSlots); }
  std::size_t total_bytes() const { return kConstantBytes + ranks_count * area_bytes(); }

  std::uint32_t ranks_count;
  std::size_t large_bytes;
};

inline std::uint64_t constant_seed(std::uint64_t seed, ph_rank rank) {
  return mix(seed ^ 0xc0c0 ^ std::uint64_t{rank} << 20);
}

// The n-th message from one rank to another.
struct Message {
  std::uint64_t slot = 0;
  std::size_t size_bytes = 0;
  std::uint64_t data_seed = 0;
  std::uint32_t id_bytes = 0;
  std::uint64_t id_seed = 0;
};

inline std::size_t random_size(Random& random, std::size_t most) {
  switch (random.below(8)) {
    case 0: return 0;
    case 1: return random.below(9);
    case 2: return random.below(300);
    case 3: return std::min<std::size_t>(most, 4096 - 8 + random.below(16));
    case 4: return random.below(std::min<std::size_t>(most, 20'000) + 1);
    default: return random.below(most + 1);
  }
}

inline std::uint32_t random_id_bytes(Random& random, std::uint32_t most) {
  for (;;) {
    const auto bound = random.below(4) == 0 ? most : std::min<std::uint32_t>(most, 16);
    const auto bytes = static_cast<std::uint32_t>(random.below(bound + 1));
    if (bytes != kAckIdBytes && bytes != kFinishedIdBytes) return bytes;
  }
}

struct Pair {
  ph_rank from;
  ph_rank to;
};

inline Message message_at(std::uint64_t seed, Pair pair, std::uint64_t n, const Layout& layout,
                          std::uint32_t max_id_bytes) {
  Random random(seed ^ mix(std::uint64_t{pair.from} << 32 | pair.to) ^ mix(n * 2 + 1));
  Message message;
  message.slot = n % kSlots;
  const bool rarely_large = message.slot == 0 && random.below(4) != 0;
  message.size_bytes =
      random_size(random, rarely_large ? kSmallSlotBytes : layout.slot_bytes(message.slot));
  message.data_seed = random.next();
  message.id_bytes = random_id_bytes(random, max_id_bytes);
  message.id_seed = random.next();
  return message;
}

}  // namespace photon::stress
