// Where things stand in the three kinds of shared memory (docs/wire-format.md, "Shared memory").
// Invariant: a function of the settings that both sides compared, the job's size and the page size.
// Owner: none (values).
#pragma once

#include <cstddef>

#include "base/config.hpp"
#include "transport/shm/segment.hpp"

namespace photon::transport::shm {

// Whole words of bells are compared at once.
inline constexpr std::size_t kBellsPerWord = 8;
inline constexpr std::size_t kLineBytes = 64;
inline constexpr std::size_t kRegionBytes = 32;

struct Layout {
  Layout(const base::Config& config, std::size_t ranks_count)
      : page(page_bytes()),
        lines_offset(2 * page),
        bulk_offset(lines_offset + round_up(config.ring_lines * kLineBytes, page)),
        ring{bulk_offset + round_up(config.bulk_bytes, page), page + kControlBytes},
        regions_offset(page),
        published{page + round_up(config.max_regions * kRegionBytes, page), kPublicControl},
        bells_bytes(
            round_up(round_up(kBellsOffset + ranks_count, kControlBytes) + kControlBytes, page)),
        arena_bytes(round_up(config.arena_bytes, page)),
        arena{bells_bytes + arena_bytes, round_up(kBellsOffset + ranks_count, kControlBytes)} {}

  static constexpr std::size_t kPublicControl = 2 * kControlBytes;  // behind the sleep gate

  std::size_t page;

  // Ring: credit words at 0; intent word at `page`, the control behind it; lines; bulk ring.
  std::size_t lines_offset;
  std::size_t bulk_offset;
  SegmentShape ring;

  // Public: sleep gate at 0, the control behind it; region table.
  std::size_t regions_offset;
  SegmentShape published;

  static constexpr std::size_t kBellsOffset = 8;  // behind the alarm, in its line

  // Arena: alarm at 0, bells, the control behind them; memory for ph_alloc at bells_bytes.
  std::size_t bells_bytes;
  std::size_t arena_bytes;
  SegmentShape arena;
};

}  // namespace photon::transport::shm
