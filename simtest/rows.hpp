// Where the bytes of a step lie: rows of equal size with gaps between them, here and at the target.
// A step that is not vectored is one row.
//
//   | row 0 | gap | row 1 | gap | ... | last row, maybe shorter |
//
// Invariant: the bytes of a step are numbered along its rows, the same on both sides.
// Owner: none. Threads: pure functions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "simtest/program.hpp"

namespace photon::simtest {

class Rows {
 public:
  explicit Rows(const Step& step) noexcept
      : size_bytes_(step.size_bytes),
        row_bytes_(
            std::max<std::uint64_t>(1, step.row_bytes != 0 ? step.row_bytes : step.size_bytes)),
        offset_(step.offset),
        own_gap_(step.own_gap_bytes),
        far_gap_(step.far_gap_bytes) {}

  std::uint64_t count() const noexcept { return (size_bytes_ + row_bytes_ - 1) / row_bytes_; }
  std::uint64_t first(std::uint64_t row) const noexcept { return row * row_bytes_; }
  std::uint64_t bytes(std::uint64_t row) const noexcept {
    return std::min(row_bytes_, size_bytes_ - first(row));
  }
  // Of byte `index` in the own buffer; in the target's area.
  std::uint64_t own_at(std::uint64_t index) const noexcept {
    return index + index / row_bytes_ * own_gap_;
  }
  std::uint64_t far_at(std::uint64_t index) const noexcept {
    return offset_ + index + index / row_bytes_ * far_gap_;
  }
  // From the first byte to behind the last.
  std::uint64_t own_span() const noexcept {
    return size_bytes_ == 0 ? 0 : own_at(size_bytes_ - 1) + 1;
  }
  std::uint64_t far_span() const noexcept {
    return size_bytes_ == 0 ? 0 : far_at(size_bytes_ - 1) + 1 - offset_;
  }
  // Which byte lies there in the target's area.
  std::optional<std::uint64_t> index_at(std::uint64_t place) const noexcept {
    if (place < offset_) return std::nullopt;
    const std::uint64_t row = (place - offset_) / (row_bytes_ + far_gap_);
    const std::uint64_t column = (place - offset_) % (row_bytes_ + far_gap_);
    if (column >= row_bytes_ || first(row) + column >= size_bytes_) return std::nullopt;
    return first(row) + column;
  }

 private:
  std::uint64_t size_bytes_;
  std::uint64_t row_bytes_;
  std::uint64_t offset_;
  std::uint64_t own_gap_;
  std::uint64_t far_gap_;
};

}  // namespace photon::simtest
