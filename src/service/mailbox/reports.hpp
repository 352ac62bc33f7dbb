// Reports tell the senders of mails what became of them, or wait until they read: one of each kind
// leaves at once if there is a line for it. Else it waits here, merged with what stands before it,
// so that a sender that does not read costs a counter.
//
//   said -- there is a line --> gone
//        -- there is none, or others wait --> waits -- on_room() --> gone
//
// Invariants: what waits leaves in the order in which it was said, and a credit only behind all of
// it; a rank is among waiting_ while something waits for it, its credit included.
// Owner: a Receiver, under the lane's lock.
#pragma once

#include <cstdint>
#include <map>

#include "base/ring_queue.hpp"
#include "service/mailbox/letter.hpp"
#include "service/service.hpp"

namespace photon::service::mailbox {

class Reports {
 public:
  explicit Reports(Port& port) noexcept : port_(port) {}

  // Kept, or the verdict, of a mail of that rank.
  void say(Rank to, Op op, std::uint64_t number, const End& end = {}) noexcept;
  // False: it has to be said again when send() has returned true for that rank.
  bool say_credit(Rank to, std::uint64_t number) noexcept;
  // There is room. True: nothing waits for that rank any more.
  bool send(Rank to) noexcept;
  void on_lost(Rank to) noexcept { waiting_.erase(to); }

  bool empty() const noexcept { return waiting_.empty(); }

 private:
  // A report of `count` mails in a row.
  struct Report {
    std::uint64_t number = 0;
    std::uint64_t epoch = PH_ANY_EPOCH;
    std::uint32_t count = 1;
    std::int16_t status = PH_OK;
    Op op = Op::kept;
  };
  using Queue = base::RingQueue<Report>;

  ph_status say_now(Rank to, const Report& report) noexcept;
  void wait(Rank to, const Report* report) noexcept;

  Port& port_;
  std::map<Rank, Queue> waiting_;
};

}  // namespace photon::service::mailbox
