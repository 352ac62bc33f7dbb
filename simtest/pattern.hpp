// The bytes that the test can recognise: contents of memory and completion ids, all functions of
// a small number, so that nobody has to keep what is expected.
// Invariant: two patterns with different numbers differ in all but one of 256 bytes.
// Owner: none. Threads: pure functions.
#pragma once

#include <photon/photon.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "simtest/program.hpp"
#include "transport/sim/sim_random.hpp"

namespace photon::simtest {

// What a pattern is for; its number is the operation's or the rank's.
enum class Purpose : std::uint64_t {
  source,
  junk,
  landing,
  library,
  background,
  retired,
  id,
  mail
};

class Pattern {
 public:
  constexpr Pattern(Purpose purpose, std::uint64_t number) noexcept
      : seed_((static_cast<std::uint64_t>(purpose) + 1) << 56 ^ number) {}

  std::byte at(std::uint64_t index) const noexcept {
    return static_cast<std::byte>(word(index / 8) >> (index % 8 * 8) & 0xff);
  }
  void fill(std::span<std::byte> bytes, std::uint64_t first = 0) const noexcept {
    for_each_word(bytes.size(), first, [&](std::size_t at, std::uint64_t value, std::size_t size) {
      std::memcpy(bytes.data() + at, &value, size);
      return true;
    });
  }
  // Where `bytes` first differ from the pattern's, counted from `first`.
  std::optional<std::size_t> difference(std::span<const std::byte> bytes,
                                        std::uint64_t first = 0) const noexcept {
    std::optional<std::size_t> found;
    for_each_word(bytes.size(), first, [&](std::size_t at, std::uint64_t value, std::size_t size) {
      if (std::memcmp(bytes.data() + at, &value, size) == 0) return true;
      while (bytes[at] == static_cast<std::byte>(value & 0xff)) {
        value >>= 8;
        ++at;
      }
      found = at;
      return false;
    });
    return found;
  }

 private:
  std::uint64_t word(std::uint64_t index) const noexcept {
    return transport::sim::Random(seed_ ^ index * 0xd1342543de82ef95).next();
  }
  // Little-endian pieces of up to eight bytes, until visit(offset, value, size) says false.
  template <class Visit>
  void for_each_word(std::size_t size_bytes, std::uint64_t first, Visit visit) const noexcept {
    for (std::size_t done = 0; done < size_bytes;) {
      const std::uint64_t index = first + done;
      const std::size_t skipped = index % 8;
      const std::size_t size = std::min(8 - skipped, size_bytes - done);
      if (!visit(done, word(index / 8) >> (skipped * 8), size)) return;
      done += size;
    }
  }

  std::uint64_t seed_;
};

// The id of an operation's completion: its number in four bytes, with a mark for remote ones, then
// its pattern. Ids shorter than that are what is left of it.
inline constexpr std::uint32_t kRemoteMark = 0x80000000u;

inline void write_id(std::uint32_t number, std::uint32_t kind, std::span<std::byte> id) noexcept {
  const std::uint32_t marked = kind == PH_REMOTE ? number | kRemoteMark : number;
  Pattern(Purpose::id, marked).fill(id);
  if (!id.empty()) std::memcpy(id.data(), &marked, std::min<std::size_t>(4, id.size()));
}

}  // namespace photon::simtest
