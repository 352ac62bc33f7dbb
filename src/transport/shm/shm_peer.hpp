// One rank that we have met: our half of the connection, and the peer's once its offer came.
//
//   (none) -- connect(), or its offer --> offered -- its offer --> linked
//   offered, linked -- settings differ, malformed offer, disconnect() --> ended
//
// Invariant: the Link points into these segments only; all pointers of the receiving half,
// doorbell, gate and wake are there exactly when linked. An ended peer is never contacted again:
// its late offers are ignored. Owner: the transport's table, under the engine's lane lock.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "transport/shm/shm_cma.hpp"
#include "transport/shm/shm_offer.hpp"
#include "transport/shm/shm_segment.hpp"
#include "transport/transport.hpp"

namespace photon::transport::shm {

using Gate = sync::SleepGate<Policy>;
using Doorbell = sync::Doorbell<Policy>;

struct Peer {
  enum class State : std::uint8_t { offered, linked, ended };

  State state = State::offered;
  bool same_process = false;
  std::uint32_t alarms = 0;  // likewise, the lane's doorbell
  std::uint8_t rings = 0;    // what our doorbell at the peer shows
  Link link;

  Doorbell* doorbell = nullptr;
  LaneDoorbell* lane_doorbell = nullptr;
  const Gate* gate = nullptr;
  base::UniqueFd wake;  // its eventfd

  Segment sending;    // ours
  Segment receiving;  // the peer's, as are the next two
  Segment published;
  Segment arena;
  std::shared_ptr<Segment> mapped;    // the arena, once ph_map() has a part of it
  bool arena_reached = false;         // all of it is mapped, not only the doorbells
  std::byte* arena_memory = nullptr;  // its ph_alloc memory as we see it, or null

  Offer offer;  // the peer's, checked
  Cma cma;
  base::Error why_ended;
};

}  // namespace photon::transport::shm
