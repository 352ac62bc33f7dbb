// Completions of one peer that wait to be probed, in order.
// Invariant: bounded by its users (local: the setting requests; remote: ledger_slots); grows up to
// what was ever needed, then allocates no more; of LOCAL ones what is beyond the usual is given
// back when a rank rests. Owner: a Peer.
#pragma once

#include <cstdint>

#include "base/ring_queue.hpp"

namespace photon::engine {

// An id up to 8 bytes is its value; a longer one lies in a block of the engine's id pool.
struct HeldId {
  std::uint64_t value = 0;
  std::uint32_t bytes = 0;

  bool is_long() const noexcept { return bytes > 8; }
};

struct Event {
  std::uint64_t id = 0;
  std::uint32_t id_bytes = 0;
  std::int32_t status = 0;  // a ph_status, or of remote ids:
};
inline constexpr std::int32_t kComing = 1000;     // its bytes are still on their way
inline constexpr std::int32_t kWithdrawn = 1001;  // they will never come

using EventQueue = base::RingQueue<Event>;

}  // namespace photon::engine
