// What a write tells its target when it has landed (docs/ofi.md, Imms), and what the fragments of
// one peer have told us.
//
//   bits of the data: 0-27 the imm, 28-31 the fragment's number modulo 16, 32-63 a part of the
//   target's key, where the provider carries so many
//
// Invariant: of 16 fragments with numbers in a row one at most is in doubt for each number modulo
// 16, so that a count for each says which have told us. Owner: OfiPeer, under the transport's lock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "transport/ofi/ofi_message.hpp"

namespace photon::transport::ofi {

inline constexpr unsigned kImmBits = 28;
static_assert(kMostNumbers == 1u << (32 - kImmBits));

constexpr std::uint64_t imm_data(std::uint32_t imm, std::uint64_t number) noexcept {
  return imm | (number % kMostNumbers) << kImmBits;
}
constexpr std::uint32_t imm_in(std::uint64_t data) noexcept {
  return static_cast<std::uint32_t>(data) & ((1u << kImmBits) - 1);
}
constexpr std::size_t number_in(std::uint64_t data) noexcept {
  return (data >> kImmBits) % kMostNumbers;
}
// Of a provider that carries 8 bytes of data.
constexpr std::uint64_t with_tag(std::uint64_t data, std::uint64_t key) noexcept {
  return data | key << 32;
}
constexpr bool has_tag(std::uint64_t data, std::uint64_t key) noexcept {
  return data >> 32 == (key & UINT32_MAX);
}

class Told {
 public:
  void add(std::size_t number) noexcept {
    ++counts_[number];
    ++count_;
  }
  // That we have not said to have heard.
  std::uint64_t unsaid() const noexcept { return count_ - said_; }
  // How many in all; from here on it is said.
  std::uint64_t say() noexcept { return said_ = count_; }
  const std::array<std::uint32_t, kMostNumbers>& counts() const noexcept { return counts_; }

 private:
  std::array<std::uint32_t, kMostNumbers> counts_{};
  std::uint64_t count_ = 0;
  std::uint64_t said_ = 0;
};

}  // namespace photon::transport::ofi
