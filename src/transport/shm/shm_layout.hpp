// Where things stand in the three kinds of shared memory (docs/wire-format.md, "Shared memory").
// Invariant: a function of the settings that both sides compared, the job's size and the page size.
// Owner: none (values).
#pragma once

#include <bit>
#include <cstddef>

#include "base/config.hpp"
#include "sync/line_ring.hpp"
#include "transport/shm/shm_segment.hpp"

namespace photon::transport::shm {

// Whole words of doorbells are compared at once.
inline constexpr std::size_t kDoorbellsPerWord = 8;
inline constexpr std::size_t kLineBytes = 64;
inline constexpr std::size_t kRegionBytes = 32;

struct Layout {
  Layout(const base::Config& config, std::size_t ranks_count)
      : page(page_bytes()),
        lines_offset(2 * page),
        bulk_offset(lines_offset + round_up(ring_bytes(config), page)),
        overflow_offset(bulk_offset + round_up(config.bulk_bytes, page)),
        ring{overflow_offset + round_up(config.overflow_bytes, page), page + kControlBytes},
        regions_offset(round_up(kGatesOffset + config.max_lanes * kLaneBytes, page)),
        published{regions_offset + round_up(config.max_regions * kRegionBytes, page), 0},
        doorbells_stride(round_up(kDoorbellsOffset + ranks_count, kLaneBytes)),
        doorbells_bytes(round_up(kLaneBytes + config.max_lanes * doorbells_stride, page)),
        arena_bytes(round_up(config.arena_bytes, page)),
        arena{doorbells_bytes + arena_bytes, 0} {}

  // Room for either order. In a row only the first half is used; apart, all pages soon are.
  static std::size_t ring_bytes(const base::Config& config) noexcept {
    const auto log2 = static_cast<unsigned>(std::countr_zero(config.ring_lines));
    return sync::LinePlaces::size(sync::LineOrder::apart, log2) * kLineBytes;
  }

  // Two lines: processors fetch them in pairs, and lanes share none.
  static constexpr std::size_t kLaneBytes = 128;

  std::size_t page;

  // Ring: credit words at 0, what is taken of the overflow behind them; intent word at `page`, the
  // control behind it, then what is published in the overflow, then what is mapped of the
  // receiver's memory; lines; bulk ring; overflow.
  static constexpr std::size_t kTakenOffset = 1024;
  std::size_t published_offset() const noexcept { return page + 2 * kControlBytes; }
  std::size_t holds_offset() const noexcept { return page + 3 * kControlBytes; }
  std::size_t lines_offset;
  std::size_t bulk_offset;
  std::size_t overflow_offset;
  SegmentShape ring;

  // Public: the control at 0, a sleep gate for each lane, region table.
  static constexpr std::size_t kGatesOffset = kLaneBytes;
  std::size_t regions_offset;
  SegmentShape published;

  static constexpr std::size_t kDoorbellsOffset = 8;  // behind the lane's doorbell, in its line

  // Arena: the control at 0; for each lane its lane doorbell and doorbells; memory for ph_alloc at
  // doorbells_bytes.
  std::size_t doorbells_stride;
  std::size_t doorbells_bytes;
  std::size_t arena_bytes;
  SegmentShape arena;

  std::size_t gate_at(std::size_t slot) const noexcept { return kGatesOffset + slot * kLaneBytes; }
  std::size_t lane_doorbell_at(std::size_t slot) const noexcept {
    return kLaneBytes + slot * doorbells_stride;
  }
  std::size_t doorbells_at(std::size_t slot) const noexcept {
    return lane_doorbell_at(slot) + kDoorbellsOffset;
  }
};

}  // namespace photon::transport::shm
