// What a card knows of each pair of one of its ranks and a rank elsewhere.
// Invariant: of a pair, credits here + messages on their way + buffers used there + buffers free
// but untold there + credits on their way are buffers_per_peer. Owner: one card.
#pragma once

#include <vector>

#include "netsim/nic/port.hpp"
#include "netsim/nic/ring.hpp"

namespace photon::netsim::nic {

enum class Address : std::uint8_t {
  unknown,
  asked,
  known
};  // of the peer's buffers, in this order

// There may be as many pairs as ranks squared, so a pair is small: 32 bytes.
struct Pair {
  std::uint32_t node = 0;  // of the peer
  std::uint8_t peer_slot = 0;
  std::uint8_t slot = 0;
  Address address = Address::unknown;
  // As a sender to the peer.
  std::uint16_t credits = 0;
  std::uint16_t registered = 0;  // uses of a buffer, up to buffers_per_peer
  std::uint32_t messages = 0;    // numbered
  List waiting;                  // for a credit, or for the address
  // As a receiver from the peer.
  std::uint16_t used = 0;      // buffers
  std::uint16_t untold = 0;    // free ones
  std::uint32_t more = kNone;  // place of its PairMore, if it has one

  Rank peer() const { return {node, peer_slot}; }
};
static_assert(sizeof(Pair) == 32);

// What only some protocols need of a pair, made when it is needed first.
struct PairMore {
  List unacknowledged;             // rendezvous
  std::uint32_t next_message = 0;  // all before it are in: of order = hold alone
  std::uint32_t next_index = 0;
  List held;                   // packets, by (message, index)
  std::uint32_t next_put = 0;  // of fences: all before it are in
  std::uint64_t complete = 0;  // bit i: put next_put + i is in
  List told;                   // messages behind puts that are not, by number
};

class Pairs {
 public:
  explicit Pairs(std::uint32_t credits) : credits_(static_cast<std::uint16_t>(credits)) {}
  std::uint32_t find(std::uint32_t slot, const Rank& peer);  // makes it
  Pair& operator[](std::uint32_t index) { return pairs_[index]; }
  PairMore& more_of(Pair& pair);  // makes it; stays where it is until another is made
  std::size_t size() const { return pairs_.size(); }

 private:
  std::size_t place_of(std::uint32_t slot, const Rank& peer) const;
  void grow();

  std::uint16_t credits_;
  std::vector<Pair> pairs_;
  std::vector<PairMore> more_;
  std::vector<std::uint32_t> places_;  // open addressing; a power of two
};

}  // namespace photon::netsim::nic
