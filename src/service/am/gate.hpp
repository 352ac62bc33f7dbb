// How many messages have gone to a rank and may go, and how many of its own were handled
// (docs/active-messages.md, "Sending"): what the fast path looks at, so it is one line of memory.
//
// Messages to one target are counted from 0, by both sides alike.
// Invariants: known <= sent <= known + slots; told <= handled. Slots come back in the order of the
// numbers, so `known` says of each message whether its header handler has returned.
// Owner: Gates, under the lane's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "service/message.hpp"

namespace photon::service::am {

struct alignas(64) Gate {
  std::uint64_t sent = 0;     // messages that have gone: the next one's number
  std::uint64_t until = 0;    // sent < until: the next one may go at once, past no other
  std::uint64_t known = 0;    // of them, those that the target has told to be handled
  std::uint64_t handled = 0;  // of the target's messages to us: header handlers that have returned
  std::uint64_t told = 0;     // of those, what the target knows
  std::uint32_t wanted = 0;   // replies that we wait for
  std::uint32_t owed = 0;     // of its messages, those that still may be replied to
  std::uint64_t arrived = 0;  // of its messages to us, those that have come

  void set(bool is_open, std::uint64_t slots) noexcept { until = is_open ? known + slots : sent; }
  bool has_slot(std::uint64_t slots) const noexcept { return sent - known < slots; }
  // What a message in word 0 says of those we were sent; it is told then.
  std::uint16_t tell() noexcept {
    told = handled;
    return static_cast<std::uint16_t>(handled);
  }
  // False: it says that we were told what we have not sent, or less than before.
  bool learn(std::uint64_t count) noexcept {
    if (count < known || count > sent) return false;
    known = count;
    return true;
  }
  // The count whose low bits these are: the first one from `known` on.
  std::uint64_t count_of(std::uint16_t low) const noexcept {
    return known + static_cast<std::uint16_t>(low - static_cast<std::uint16_t>(known));
  }
};
static_assert(sizeof(Gate) == 64);

// Of all ranks; and what quiescence adds up. Only gates that were used count.
class Gates {
 public:
  Gates(std::uint32_t ranks, std::uint64_t slots) : gates_(ranks), slots_(slots) {}

  Gate& of(Rank rank) noexcept { return gates_[rank]; }
  const Gate& of(Rank rank) const noexcept { return gates_[rank]; }
  std::uint64_t slots() const noexcept { return slots_; }
  Gate* data() noexcept { return gates_.data(); }

  // Messages accepted, and those that are over; both only grow, whatever becomes of a message.
  // Beside the gates' own counts: +1 as a message is queued or collected, -1 as it goes;
  // +1 as a pull is over, -1 as it begins, and items - 1 of an aggregate.
  std::uint64_t beside_sent = 0;
  std::uint64_t beside_handled = 0;
  std::uint64_t sent() const noexcept {
    std::uint64_t sum = beside_sent;
    for (const Gate& one : gates_) sum += one.sent;
    return sum;
  }
  std::uint64_t handled() const noexcept {
    std::uint64_t sum = beside_handled;
    for (const Gate& one : gates_) sum += one.handled;
    return sum;
  }

 private:
  std::vector<Gate> gates_;
  std::uint64_t slots_;
};

}  // namespace photon::service::am
