// The 32 bits, or fewer, that a NIC tells the target of a fragment (docs/wire-format.md): who
// posted it, and the line of the record that waits for it. Invariant: of(rank, line) of any rank of
// the job is read back as that rank and the line modulo 2^bits(). Owner: none; plain values.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace photon::wire {

class ImmCodec {
 public:
  // Of a job of so many ranks. Too few bits for them: imms do not suffice.
  explicit constexpr ImmCodec(std::uint32_t ranks_count, unsigned imm_bits = 32) noexcept
      : bits_(imm_bits -
              std::min(imm_bits, static_cast<unsigned>(std::bit_width(ranks_count - 1)))) {}

  // Whether imms tell any two lines apart that can be meant at one time.
  constexpr bool suffice(std::uint64_t ring_lines) const noexcept {
    return 2 * ring_lines <= lines();
  }
  constexpr std::uint32_t of(std::uint32_t rank, std::uint64_t line) const noexcept {
    return static_cast<std::uint32_t>(std::uint64_t{rank} << bits_ | (line & (lines() - 1)));
  }
  constexpr std::uint32_t rank_in(std::uint32_t imm) const noexcept {
    return static_cast<std::uint32_t>(std::uint64_t{imm} >> bits_);
  }
  constexpr std::uint64_t line_in(std::uint32_t imm) const noexcept { return imm & (lines() - 1); }
  // How far the line of an imm lies behind another one, going forward.
  constexpr std::uint64_t distance(std::uint64_t from, std::uint64_t line_in_imm) const noexcept {
    return (line_in_imm - from) & (lines() - 1);
  }

 private:
  constexpr std::uint64_t lines() const noexcept { return std::uint64_t{1} << bits_; }

  unsigned bits_;
};

}  // namespace photon::wire
