// The receiving direction of a link: what the messages of an open peer do. Every number in them is
// checked before anything is done.
//
//   none -- bulk: room for the chunk was given --> in a record -- lines: the rest of it --> none
//   none -- lines, with all of their bulk --> none
//
// Owner: OfiPeer, under the transport's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/network/ring_over_network.hpp"
#include "transport/ofi/ofi_message.hpp"

namespace photon::transport::ofi {

class Inlet {
 public:
  enum class Took : std::uint8_t {
    news,     // for the ring
    nothing,  // yet
    word,     // about memory: the caller reads its body
    bye,
    left,      // a bye in order
    disorder,  // it is not the next one: the provider has lost or exchanged some
    garbage,   // no rank of this library sends such a thing
  };
  // Of the message that comes next.
  std::uint32_t next_sequence() const noexcept { return sequence_ + 1; }
  // Any kind but a handshake.
  Took take(const MessageHead& head, std::span<const std::byte> body,
            network::RingOverNetwork& link);

 private:
  bool begin(const MessageHead& head, network::RingOverNetwork& link) noexcept;
  Took take_lines(const MessageHead& head, std::span<const std::byte> body,
                  network::RingOverNetwork& link) noexcept;

  std::uint32_t sequence_ = 0;     // of the latest message
  std::uint32_t lines_count_ = 0;  // of the record whose bulk is coming; 0: none is
  std::uint32_t bulk_bytes_ = 0;
  std::size_t bulk_left_ = 0;
  std::byte* bulk_to_ = nullptr;
};

}  // namespace photon::transport::ofi
