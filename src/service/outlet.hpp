// What a rank writes to first, whatever it sends to a peer: the ring, and what has to be looked at
// before and after a line is written. The engine's Peer begins with it, so that a service writes a
// short message as a small put is written: without a call.
// Invariant: can_say is true only while lines of `tx` may be written in front of nothing that
// waits: the peer is not lost, no bye was said, and no message of a service queues.
// Owner: a Peer, under the lane's lock.
#pragma once

#include <cstdint>

#include "transport/transport.hpp"

namespace photon::service {

using LineProducer = sync::LineProducer<transport::Policy>;

struct Outlet {
  // The engine looks at all of these for every small put: they are kept together.
  LineProducer tx;
  std::uint64_t runway_begin = 0;                   // tx.tail() when it was granted
  std::uint64_t runway_end = 0;                     // <= tail: none
  const transport::RegionEntry* regions = nullptr;  // the peer's, if visible
  const transport::Credits* credits = nullptr;
  transport::Link* link = nullptr;
  bool kick_always = false;
  bool post_kicks = false;
  bool fenced = false;
  bool tells_always = false;    // kick_always or fenced
  bool claims_answers = false;  // its ring's lines stand apart
  bool can_say = false;
  std::uint64_t messages = 0;  // lines of them that were written here, ever
};

}  // namespace photon::service
