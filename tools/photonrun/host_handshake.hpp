// What is said on a new socket before it is a HostConnection. Fixed sizes, and nothing is believed
// before it is proved.
//
//   leaf                                             root
//    |  Hello: versions, ranks, 32 random bytes       |
//    | ---------------------------------------------> |
//    |  Challenge: versions, 32 random bytes          |
//    | <--------------------------------------------- |
//    |  its Proof                                     |  checks it: a stranger learns nothing that
//    | ---------------------------------------------> |  depends on the key
//    |  Answer: welcome or why not, its Proof         |
//    | <--------------------------------------------- |
//    |  frames                                        |
//
// Owner: none (values and functions).
#pragma once

#include <photon/launch.h>

#include <array>
#include <cstdint>
#include <string>

#include "proof.hpp"

namespace photonrun {

inline constexpr std::uint32_t kHostMagic = 0x4e524850;  // "PHRN" in memory, little-endian
inline constexpr std::uint16_t kHostVersion = 2;
inline constexpr unsigned kMaxRanks = 16384;  // far above what hosts carry; catches mistakes

struct Hello {
  std::uint32_t magic = kHostMagic;
  std::uint16_t version = kHostVersion;
  std::uint16_t launch_version = PH_LAUNCH_VERSION;
  std::uint32_t ranks = 0;  // it can start
  std::uint32_t seat = 0;   // from 1: which host of the root's list; 0: of none
  Nonce nonce{};
  std::array<char, 64> host{};  // its name, for messages
};

struct Challenge {
  std::uint32_t magic = kHostMagic;
  std::uint16_t version = kHostVersion;
  std::uint16_t launch_version = PH_LAUNCH_VERSION;
  Nonce nonce{};
};

enum class Verdict : std::uint32_t { welcome = 1, wrong_key = 2, no_room = 3 };

struct Answer {
  Verdict verdict{};
  std::uint32_t room = 0;  // no_room: ranks that are left
  Proof proof{};           // of nothing where the leaf has proved nothing
};

// What is wrong with it; empty: nothing. "is no photonrun", "speaks version 7 of ..."
std::string objection(const Hello& hello);
std::string objection(const Challenge& challenge);

// "name", made printable, or "?".
std::string host_of(const Hello& hello);

// Hides and shows: the same mask twice is none.
void apply_mask(const Proof& mask, std::array<std::uint8_t, PH_LAUNCH_SECRET_BYTES>& secret);

}  // namespace photonrun
