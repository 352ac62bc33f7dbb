// Chunks that are lent to handlers: they stand in the bulk ring until these have returned
// (docs/active-messages.md, "A lent chunk").
//
//   shown -- add() --> lent -- returned(), by the runner without the lock --> returned
//                      returned -- give_back(), under the lock --> given back
//
// Invariant: handlers run in the order in which their chunks came, so a count says which are over.
// Owner: Am, under the lane's lock, but for returned().
#pragma once

#include <cstdint>

#include "base/ring_queue.hpp"
#include "service/service.hpp"
#include "sync/lent.hpp"

namespace photon::service::am {

class Loans {
 public:
  // The next add() does not allocate. Throws bad_alloc.
  void make_room() { lent_.make_room(); }
  void add(Rank from, std::uint64_t loan) noexcept { lent_.push_unchecked({from, loan}); }
  // By the runner: the handler of the oldest one that it has not counted has returned.
  void returned() noexcept { count_.returned(); }

  bool empty() const noexcept { return lent_.empty(); }
  // Whether some can be given back.
  bool has_returned() noexcept {
    due_ += count_.take_returned();
    return due_ != 0;
  }
  void give_back(Port& port) {
    if (lent_.empty()) return;
    for (due_ += count_.take_returned(); due_ != 0; --due_) give_front(port);
  }
  // Also those whose handlers will not run.
  void give_all_back(Port& port) {
    while (!lent_.empty()) give_front(port);
    due_ = 0;
    static_cast<void>(count_.take_returned());
  }

 private:
  struct Loan {
    Rank from = 0;
    std::uint64_t loan = 0;
  };
  // It is gone before the port is called, which may call us.
  void give_front(Port& port) {
    const Loan one = lent_.front();
    lent_.pop();
    port.give_back(one.from, one.loan);
  }

  base::RingQueue<Loan> lent_;
  sync::Lent<sync::HardwarePolicy> count_;
  std::uint64_t due_ = 0;  // of those in front: returned, and not given back
};

}  // namespace photon::service::am
