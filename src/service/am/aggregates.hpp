// Messages that may wait for others to the same rank, and go with them (docs/active-messages.md,
// "Aggregation").
//
//   none -- one is collected --> open -- full, time, another message, sleep, flush --> goes, or
//                                        waits in the outbox like any other message
//
// Invariants: while an aggregate is open its rank's gate is shut, so every other message to it
// comes by the general way, which sends the aggregate first. Those that are open form a list, the
// oldest one first. It needs no memory to go. Owner: the sender, under the lane's lock.
#pragma once

#include <cstdint>

#include "service/am/am_args.hpp"
#include "service/am/am_outbox.hpp"

namespace photon::service::am {

class Aggregates {
 public:
  Aggregates(Port& port, Gates& gates, Outbox& outbox)
      : port_(port),
        gates_(gates),
        outbox_(outbox),
        capacity_(port.config().am_aggregate_bytes),
        wait_ns_(static_cast<std::int64_t>(port.config().am_aggregate_us) * 1000) {}

  // It is allowed to wait, and an aggregate has the words for it.
  bool may_collect(const Checked& what) const noexcept;
  // There is room for it now, in what is open or is opened for it; or why not. Throws bad_alloc.
  ph_status prepare(To& to, const Draft& draft, Asker asker);
  // Behind prepare(): it is in.
  void collect(To& to, const Draft& draft, bool has_id) noexcept;
  // One block and nothing else, into what is open. False: nothing was done.
  bool collect_now(To& to, const ph_am_args& args) noexcept;
  // What is open goes, or waits in the outbox.
  void send(To& to) noexcept;
  void send_all() noexcept {
    while (first_ != nullptr) send(*first_);
  }
  // Those whose time has come.
  void send_due() noexcept;
  // When that is of the next one; INT64_MAX: there is none.
  std::int64_t due_ns() const noexcept {
    return first_ == nullptr ? INT64_MAX : first_->opened_ns + wait_ns_;
  }
  void lose(To& to, ph_status why) noexcept;
  std::uint64_t open() const noexcept { return open_; }

 private:
  static std::uint64_t bytes_of(const Draft& draft) noexcept;
  void link(To& to) noexcept;
  std::unique_ptr<Entry> unlink(To& to) noexcept;

  Port& port_;
  Gates& gates_;
  Outbox& outbox_;
  const std::uint64_t capacity_;
  const std::int64_t wait_ns_;
  To* first_ = nullptr;
  To* last_ = nullptr;
  std::uint64_t open_ = 0;
};

}  // namespace photon::service::am
