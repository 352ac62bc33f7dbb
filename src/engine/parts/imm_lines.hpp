// Which lines of our ring may give their imm to a put (docs/posted-writes.md).
//
//   free -- take --> under way -- give_back --> free
//                    under way -- withdrawn --> free when the peer has read the withdrawal
//
// Owner: a Peer. Maps memory in open() only, which costs pages when lines give an imm.
#pragma once

#include <cstdint>

#include "base/zero_array.hpp"

namespace photon::engine {

class ImmLines {
 public:
  void open(std::uint64_t ring_lines) {
    free_from_ = base::ZeroArray<std::uint64_t>(ring_lines);
    mask_ = ring_lines - 1;
  }
  bool is_open() const noexcept { return static_cast<bool>(free_from_); }

  // `lines_given`: how many lines the peer has given back by now.
  bool is_free(std::uint64_t line, std::uint64_t lines_given) const noexcept {
    const std::uint64_t from = free_from_[line & mask_];
    return from != kUnderWay && from <= lines_given;
  }
  void take(std::uint64_t line) noexcept { free_from_[line & mask_] = kUnderWay; }
  void give_back(std::uint64_t line) noexcept { free_from_[line & mask_] = 0; }
  // The record that withdraws it stands at line `at`.
  void withdrawn(std::uint64_t line, std::uint64_t at) noexcept {
    free_from_[line & mask_] = at + 1;
  }

 private:
  static constexpr std::uint64_t kUnderWay = UINT64_MAX;

  base::ZeroArray<std::uint64_t> free_from_;
  std::uint64_t mask_ = 0;
};

}  // namespace photon::engine
