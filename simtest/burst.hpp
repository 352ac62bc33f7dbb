// How many ids a rank can send at once to a peer that has probed everything: what shows that all
// credit that is due was given back, and no more.
//
// A quarter of the ledger and of the ring may be withheld, and a line is kept
// (docs/flow-control.md). What finds no credit goes to the overflow, if
// there is one; what finds no room there is queued, and goes only when its initiator makes
// progress. Owner: none. Threads: pure functions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "wire/record.hpp"

namespace photon::simtest {

struct Burst {
  std::uint64_t ledger_slots;
  std::uint64_t ring_lines;
  std::uint64_t requests;
  std::uint32_t id_bytes;
  std::uint64_t overflow_bytes;  // 0: none

  std::uint64_t overflowing() const noexcept {
    return overflow_bytes / sizeof(std::uint64_t) / (1 + (id_bytes + 7) / 8);
  }
  std::uint64_t lines_each() const noexcept {
    return wire::lines_for(wire::Kind::put, id_bytes, 0);
  }
  std::uint64_t least() const noexcept {
    const std::uint64_t ids = ledger_slots - (std::max<std::uint64_t>(1, ledger_slots / 4) - 1);
    return std::min(ids, (ring_lines - 1 - (ring_lines / 4 - 1)) / lines_each()) + overflowing();
  }
  std::uint64_t most() const noexcept {
    return std::min(ledger_slots, (ring_lines - 1) / lines_each()) + overflowing();
  }
  // What finds no credit takes a request each.
  std::uint64_t posted() const noexcept { return std::min(most() + 2, least() + requests); }

  // In words what is wrong if so many came while their sender stood still; empty if nothing is.
  std::string breach(std::uint64_t came) const {
    if (came >= least() && came <= most()) return {};
    return std::to_string(came) + " ids of " + std::to_string(id_bytes) +
           " bytes came at once, with " + std::to_string(ledger_slots) + " slots and " +
           std::to_string(ring_lines) + " lines it should be " + std::to_string(least()) + " to " +
           std::to_string(most());
  }
};

}  // namespace photon::simtest
