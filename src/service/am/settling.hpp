// What becomes of messages when their handlers have run: counts, refusals, credit, loans
// (docs/active-messages.md, "Running handlers").
//
//   entry: done -- [lock] settle() --> its slot is free, its bytes are released, who asked hears
//   of one that is pulled: its landing begins to be read, or the pull is over with its status
//
// Invariant: entries are settled in the order in which they ran, each once, also where memory runs
// out between two of them. Owner: Am, under the lane's lock.
#pragma once

#include <cstddef>

#include "service/am/am_answers.hpp"
#include "service/am/am_arriving.hpp"
#include "service/am/am_inbox.hpp"
#include "service/am/am_loans.hpp"
#include "service/am/am_pulls.hpp"
#include "service/am/am_runner.hpp"
#include "service/am/am_sender.hpp"
#include "service/service.hpp"

namespace photon::service::am {

class Settling {
 public:
  struct Parts {
    Port& port;
    Gates& gates;
    Inbox& inbox;
    Loans& loans;
    Runner& runner;
    Arriving& arriving;
    Answers& answers;
    Sender& sender;
    Pulls& pulls;
  };
  explicit Settling(const Parts& parts) : its_(parts) {}

  // All that has run. Throws bad_alloc: the rest is settled by the next call.
  void settle() {
    if (settled_ != its_.runner.done() || !its_.loans.empty() || its_.answers.has_due())
      settle_due();
  }
  // The lane closes: what has not run is over, too. Who would be told without memory is cut off.
  void drop_all() noexcept;

 private:
  void settle_due();
  void settle_one(Arrived& entry);
  void end(Arrived& entry) noexcept;
  void end_pulled(Arrived& entry) noexcept;
  void drop(Arrived& entry) noexcept;
  void end_batch() noexcept;

  Parts its_;
  std::size_t settled_ = 0;  // of `running`
};

}  // namespace photon::service::am
