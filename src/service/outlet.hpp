// What a rank writes to first, whatever it sends to a peer: the ring, and what has to be looked at
// before and after a line is written. The engine's Peer begins with it, so that a service writes a
// short message as a small put is written: without a call.
// Invariant: can_say is true only while lines of `tx` may be written in front of nothing that
// waits: the peer is not lost, no bye was said, and no message of a service queues.
// Owner: a Peer, under the lane's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "transport/transport.hpp"

namespace photon::service {

using LineProducer = sync::LineProducer<transport::Policy>;

// What writing a line at once comes to. tell: it was written, and its reader wants to be told.
enum class Written : std::uint8_t { no, done, tell };

// Up to 48 bytes without a call: two or three overlapping moves of the largest power of two that
// fits.
[[gnu::always_inline]] inline void copy_into_line(void* to, const void* from,
                                                  std::size_t size) noexcept {
  auto* out = static_cast<std::byte*>(to);
  const auto* in = static_cast<const std::byte*>(from);
  if (size == 8) [[likely]] {
    std::memcpy(out, in, 8);
  } else if (size >= 16) {
    std::byte head[16], middle[16], tail[16];
    std::memcpy(head, in, 16);
    if (size > 32) std::memcpy(middle, in + 16, 16);
    std::memcpy(tail, in + size - 16, 16);
    std::memcpy(out, head, 16);
    if (size > 32) std::memcpy(out + 16, middle, 16);
    std::memcpy(out + size - 16, tail, 16);
  } else if (size > 8) {
    std::byte head[8], tail[8];
    std::memcpy(head, in, 8);
    std::memcpy(tail, in + size - 8, 8);
    std::memcpy(out, head, 8);
    std::memcpy(out + size - 8, tail, 8);
  } else {
    for (std::size_t i = 0; i < size; ++i) out[i] = in[i];
  }
}

struct Outlet {
  // The engine looks at all of these for every small put: they are kept together.
  LineProducer tx;
  std::uint64_t grant_begin = 0;                    // tx.tail() when it was granted
  std::uint64_t grant_end = 0;                      // <= tail: none
  const transport::RegionEntry* regions = nullptr;  // the peer's, if visible
  const transport::Credits* credits = nullptr;
  transport::Link* link = nullptr;
  bool kick_always = false;
  bool post_kicks = false;
  bool fenced = false;
  bool always_kicks = false;    // kick_always or fenced
  bool claims_answers = false;  // its ring's lines stand apart
  bool can_say = false;
  std::uint64_t messages = 0;  // lines of them that were written here, ever
};

}  // namespace photon::service
