// The sending direction of a link: its records, chunks and credits as messages of a bounded size.
//
//   records, credits in the link -- compose() --> one message -- the caller sends it -->
//   a chunk that does not fit: bulk, bulk, ... lines with the rest of it
//
// Invariant: what compose() has written is off the link, so the caller sends every message, in
// their order. Owner: OfiPeer, under the transport's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/network/ring_over_network.hpp"
#include "transport/ofi/ofi_message.hpp"

namespace photon::transport::ofi {

class Outlet {
 public:
  // The next message, at least kLeastMessageBytes of room; its bytes, 0 if there is nothing to say.
  // `head`: the key, the sender and the sequence number.
  std::size_t compose(std::span<std::byte> room, network::RingOverNetwork& link, MessageHead head);
  // Whether they have changed or not.
  static std::size_t compose_credits(std::span<std::byte> room,
                                     const network::RingOverNetwork& link,
                                     MessageHead head) noexcept;
  std::uint64_t lines_composed() const noexcept { return lines_composed_; }
  // Whether records wait.
  bool has_run(network::RingOverNetwork& link) const noexcept { return has_run_ || link.has_run(); }
  bool is_idle(network::RingOverNetwork& link) const noexcept {
    return !has_run(link) && !link.owes_credits();
  }

 private:
  std::size_t add_run(std::span<std::byte> room, MessageHead& head) noexcept;

  network::RingOverNetwork::Run run_;
  std::size_t bulk_done_ = 0;
  bool has_run_ = false;
  std::uint64_t lines_composed_ = 0;
};

}  // namespace photon::transport::ofi
