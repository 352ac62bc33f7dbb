// The sending side of a port: of a card and of a router alike.
//
//   waiting --packet queued, or credit came--> armed --after F--> looks
//   looks: sends a packet --> busy for flits x F, then looks again; nothing can go --> waiting
//
// A look that would find nothing and a credit that would change nothing else are no events. The
// port keeps the time of its next look and the list of credits on their way, and works out what
// they would have done when it needs to know it. `from`..`until` is the span in which the port is
// armed or busy; outside of it, it waits. At `until` it looks. `due` is that time if a look is an
// event. Invariant: due == kNever while no packet is queued, and when it waits for credits of which
// none is on its way. Owner: the part that owns the router or host.
#pragma once

#include <cstdint>

#include "netsim/net/packet.hpp"

namespace photon::netsim {

struct Credit {
  Time at;
  std::uint32_t next;
  std::uint16_t vc;
  std::uint16_t flits;
};
using CreditPool = Pool<Credit>;

struct SendPort {
  Time from = 0;
  Time until = 0;
  Time due = kNever;
  List credits;              // on their way
  std::uint32_t queued = 0;  // packets in its FIFOs
  std::uint32_t last_vc = 0;

  // Does it wait at `now`? `is_after_look`: what asks comes behind looks of this picosecond.
  bool is_waiting(Time now, bool is_after_look) const {
    return now < from || (is_after_look ? now >= until : now > until);
  }
  void arm(Time now, Time flit_ps) {
    from = now;
    until = now + flit_ps;
  }
  bool is_starved() const { return queued > 0 && due == kNever; }

  void add_credit(CreditPool& pool, const Credit& credit) {
    const std::uint32_t index = pool.take();
    pool[index] = credit;
    append(pool, credits, index);
  }

  // Takes in the credits that came before `end`. `give(vc, flits)` adds them to a queue.
  template <class Give>
  void settle(CreditPool& pool, Time end, Time flit_ps, Give give) {
    while (!credits.is_empty() && pool[credits.first].at < end) {
      const std::uint32_t index = take_first(pool, credits);
      const Credit& credit = pool[index];
      if (credit.at > until) arm(credit.at, flit_ps);
      give(credit.vc, credit.flits);
      pool.give_back(index);
    }
  }
};

}  // namespace photon::netsim
