// The room that a requester reserves for the replies that it waits for, so that no reply is ever
// refused (docs/active-messages.md, "Replies").
//
//   wanted, from the call on -- its handler has returned, it will not come, its rank is lost -->
//   over
//
// Invariant: of each rank the replies beyond its slots are in the budget. Owner: the sender, under
// the lane's lock.
#pragma once

#include <cstdint>
#include <string>

#include "service/am/am_entry.hpp"
#include "service/am/gate.hpp"
#include "service/service.hpp"

namespace photon::service::am {

class ReplyRoom {
 public:
  ReplyRoom(Port& port, Gates& gates, Budget& budget)
      : port_(port),
        gates_(gates),
        budget_(budget),
        bytes_(port.config().am_carried_max + PH_AM_HEADER_BYTES) {}

  // Whether one more of that rank may be wanted. Outside handlers the caller waits for it: a queue
  // here could make two ranks wait for each other.
  ph_status may_want(Rank of, Asker asker) {
    const std::uint32_t wanted = gates_.of(of).wanted;
    if (wanted < gates_.slots()) return PH_OK;
    if (asker == Asker::user) return port_.again();
    if (wanted < kMost && budget_.has_room(asker)) return PH_OK;
    return port_.fail(PH_ERR_MEMORY, of,
                      "am_send: " + std::to_string(wanted) +
                          " replies of that rank are still to come, and more find no room; raise "
                          "PHOTON_AM_QUEUE_BYTES, or ask less in handlers");
  }
  void want(Rank of) noexcept {
    if (++gates_.of(of).wanted > gates_.slots()) budget_.take(bytes_);
  }
  // So many are wanted.
  void unwant(Rank of, std::uint32_t count) noexcept {
    Gate& gate = gates_.of(of);
    for (; count != 0; --count)
      if (gate.wanted-- > gates_.slots()) budget_.give(bytes_);
  }

 private:
  static constexpr std::uint64_t kMost = 65536;  // a target cuts off who wants more

  Port& port_;
  Gates& gates_;
  Budget& budget_;
  const std::uint64_t bytes_;  // that a reply beyond the slots stands for
};

}  // namespace photon::service::am
