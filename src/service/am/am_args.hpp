// The arguments of ph_am_send() and ph_am_reply(), checked: what is wrong with them is said in
// words, and nothing has begun (docs/active-messages.md, "Bad input").
// Owner: none; plain values and functions that keep nothing.
#pragma once

#include <photon/am.h>

#include "service/am/am_entry.hpp"
#include "service/am/carrying.hpp"
#include "service/service.hpp"

namespace photon::service::am {

// A message that may be sent. Its draft refers to the caller's memory, and to this.
class Checked {
 public:
  Checked() = default;
  Checked(const Checked&) = delete;
  Checked& operator=(const Checked&) = delete;

  // PH_OK, or what is wrong, by port.fail(). Op, way and words of the draft are still to be chosen.
  ph_status check(Port& port, Rank to, const ph_am_args& args, Asker asker);

  Draft draft;
  UserEnd end;                // PH_NO_LCE: nothing is promised
  bool is_delivered = false;  // its completion waits for its handlers
  bool may_wait = false;
  bool is_collected = false;  // nothing is noted of it alone

 private:
  ph_const_block block_{};
};

// The first bytes of an id, as a late completion has them.
std::uint64_t first_bytes_of(const ph_id& id) noexcept;

}  // namespace photon::service::am
