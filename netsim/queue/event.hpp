// An event: a plain value that touches one router or one node. Events of one picosecond have a
// fixed order: by kind, then by index, then by payload. The order of insertion plays no part.
#pragma once

#include <cstdint>
#include <type_traits>

#include "netsim/clock/time.hpp"

namespace photon::netsim {

enum class EventKind : std::uint8_t {  // in the order of one picosecond
  crossbar_edge,                       // index: router
  arrival,                             // index: input queue of a router
  credit,                              // never queued: see net/send_port.hpp
  output_look,                         // index: output port of a router
  card_arrival,                        // index: host; payload: packet
  card_credit,                         // never queued either
  card_look,                           // index: host
  card_timer,                          // index: host; payload: what the card asked for
  host,                                // index: rank; payload: what the rank is told
};

struct Event {
  Time time;
  std::uint64_t key;  // kind above index
  std::uint64_t payload;

  static constexpr Event at(Time time, EventKind kind, std::uint64_t index,
                            std::uint64_t payload = 0) {
    return {time, static_cast<std::uint64_t>(kind) << 56 | index, payload};
  }
  EventKind kind() const { return static_cast<EventKind>(key >> 56); }
  std::uint64_t index() const { return key & ((std::uint64_t{1} << 56) - 1); }

  friend constexpr bool operator<(const Event& a, const Event& b) {
    if (a.time != b.time) return a.time < b.time;
    if (a.key != b.key) return a.key < b.key;
    return a.payload < b.payload;
  }
  friend constexpr bool operator==(const Event&, const Event&) = default;
};

static_assert(sizeof(Event) == 24 && std::is_trivially_copyable_v<Event>);

}  // namespace photon::netsim
