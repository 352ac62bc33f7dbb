// One operation as the oracle knows it, and what is still expected of it.
//
//   begun -- PH_OK --> accepted -- all that is expected was seen --> complete
//         -- else --> over
//
// Invariant: each completion is seen at most once, whatever the order of local and remote.
// Owner: the oracle. Threads: one.
#pragma once

#include <photon/photon.h>

#include <cstdint>
#include <span>
#include <string>

#include "simtest/pattern.hpp"
#include "simtest/program.hpp"
#include "simtest/rows.hpp"

namespace photon::simtest {

struct Operation {
  std::uint32_t number = 0;  // from 1
  ph_rank initiator = 0;
  std::uint32_t lane = 0;  // that it went by, at both of its ends
  const Step* step = nullptr;
  std::uint64_t posted_at = 0;           // on the oracle's count of events
  std::uint64_t landed_at = 0;           // known since; 0: not known
  std::uint64_t fences = 0;              // between the initiator and the target before it
  std::uint32_t generation = 0;          // of the lease
  ph_status must_fail = PH_OK;           // with this status, at the call or later
  bool may_fail = false;                 // with PH_ERR_KEY: its region was taken back meanwhile
  ph_request request = PH_REQUEST_NONE;  // that its initiator has not taken
  bool accepted = false;
  bool local_seen = false;
  bool remote_seen = false;
  bool error_seen = false;
  bool initiator_left = false;  // or is about to: its completions are discarded
  bool target_left = false;     // or is about to: it probes no more, and may take no more
  bool link_lost = false;       // that to its target: then the above holds, too
  bool initiator_died = false;  // what it had posted may come or not
  bool is_closed = false;       // its initiator's lane: what was to be said of it has been said
  std::span<std::byte> buffer;  // source; or guard, destination, guard

  static constexpr std::size_t kGuardBytes = 16;

  ph_rank target() const noexcept { return step->peer; }
  std::uint64_t size_bytes() const noexcept { return step->size_bytes; }
  // Whether it is of what ends there; it has two ends.
  bool is_of(const Endpoint& end, ph_rank rank) const noexcept {
    return rank == end.rank && (end.lane == 0 || end.lane == lane);
  }
  bool is_from(const Endpoint& end) const noexcept { return is_of(end, initiator); }
  bool is_to(const Endpoint& end) const noexcept { return is_of(end, target()); }
  bool has(std::uint32_t flag) const noexcept { return (step->flags & flag) != 0; }
  // Its bytes need nobody at the target.
  bool is_alone() const noexcept { return has(PH_ALONE) && size_bytes() != 0; }
  // Others may touch the same place.
  bool overlaps() const noexcept { return step->area == Area::contended || is_lent(step->area); }
  bool is_ordered() const noexcept { return !is_get(*step) && !has(PH_ORDER_NONE | PH_NO_RCE); }
  Rows rows() const noexcept { return Rows(*step); }
  // Source or destination, with the gaps between its rows.
  std::span<std::byte> own_bytes() noexcept {
    return is_put(*step) ? buffer : buffer.subspan(kGuardBytes, rows().own_span());
  }
  std::span<std::byte> destination() noexcept { return own_bytes(); }

  // Whether its target may still refuse it after its source was freed.
  bool may_be_refused() const noexcept {
    return accepted && is_put(*step) && !has(PH_DELIVERED) && !error_seen && landed_at == 0 &&
           (may_fail || must_fail != PH_OK);
  }
  bool complete() const noexcept {
    if (!accepted || error_seen || initiator_died) return true;
    // A refusal that its initiator did not hear of is not told to anybody else.
    if (initiator_left)
      return target_left || has(PH_NO_RCE) || remote_seen || must_fail != PH_OK || may_fail;
    if (target_left) return has(PH_NO_LCE) || local_seen;
    if (must_fail != PH_OK) return false;
    return (has(PH_NO_LCE) || local_seen) && (has(PH_NO_RCE) || remote_seen);
  }

  std::string text() const {
    return "#" + std::to_string(number) + " of rank " + std::to_string(initiator) + " (" +
           text_of(*step) + ")";
  }
};

}  // namespace photon::simtest
