// What a service and its port hand to each other (service/service.hpp): messages, chunks of bodies,
// and what a user is promised.
// Owner: whoever made the value; spans end with the call.
#pragma once

#include <photon/request.h>
#include <photon/rma.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/transport.hpp"

namespace photon::service {

using transport::Rank;

// A message that has come. Both parts are copies that nobody else can change; they are the
// engine's, and end with the call.
struct Message {
  Rank from = 0;
  std::span<const std::byte> header;   // at most wire::kMaxIdBytes
  std::span<const std::byte> payload;  // at most wire::kMaxPackedBytes
};

// A part of a message's body, where it lies in the bulk ring: the peer that wrote it may still
// change it, so that a service copies what it checks before it checks.
struct Chunk {
  Message message;                   // its header and payload come with the first chunk
  std::uint64_t size_bytes = 0;      // of the whole body, not 0
  std::uint64_t offset = 0;          // of this part: 0, and then where the last one ended
  std::span<const std::byte> bytes;  // none: the rest will not come, for its memory is gone
  std::uint64_t loan = 0;            // how give_back() names it

  bool is_last() const noexcept { return offset + bytes.size() == size_bytes; }
};

// A body of one chunk that is all there is to do, whose message has a header of two words.
struct AloneChunk {
  std::array<std::uint64_t, 2> header{};
  std::span<const std::byte> bytes;  // in the bulk ring, until its handler has returned
};

// What becomes of a chunk when on_chunk() is over.
enum class Verdict : std::uint8_t {
  malformed,  // the peer is cut off
  taken,      // its room in the ring may be used again
  kept,       // it stays where it is, and readable whatever becomes of the peer, until give_back()
};

// A message to be sent.
struct Saying {
  Rank to = 0;
  std::span<const std::byte> header;   // 1 to wire::kMaxIdBytes bytes; copied
  std::span<const std::byte> payload;  // at most wire::kMaxPackedBytes; copied
  bool must_go = false;                // without a line it queues in our memory instead of PH_AGAIN
  bool behind_all = false;  // not before all that was posted to that rank has left for it: its
                            // bytes are placed, or come in front of the message. Implies must_go.
};

// A buffer that peers may use. `is_own`: its registration was made for this.
struct Exposed {
  ph_target target{};
  bool is_own = false;
};

// What a completion for the user is called (promise()).
struct UserEnd {
  Rank rank = 0;
  ph_id local{};
  std::uint32_t flags = 0;        // PH_NO_LCE
  ph_request* request = nullptr;  // or null
  std::uint64_t size_bytes = 0;   // as its result will say
  std::uint64_t token = 0;        // how on_cancel() names it
  bool is_beyond = false;         // beside `requests`: the user's code cannot wait for them
};

}  // namespace photon::service
