// Runs the handlers of what has come, in order (docs/active-messages.md, "Running handlers").
//
//   entry: running -- its turn: its handler is called, a landing that it names is filled, the
//          completion handler is called for each part --> done: its outcome stands in the entry
//
// Invariants: handlers of a lane run one after the other; run() comes back between two of them when
// so many lent bytes were handled that their room should go back.
// Owner: Am. Threads: run() is called without the lock by the one thread that has the right to; all
// else under the lock, and by another thread than that one only between ran() and collect().
#pragma once

#include <photon/am.h>

#include <cstdint>

#include "service/am/am_inbox.hpp"
#include "service/am/handlers.hpp"

namespace photon::service::am {

// What a user's code has returned, as its sender hears it: a status of this version.
ph_status as_told(ph_status returned) noexcept;

class Runner {
 public:
  // `lent_limit`: so many bytes of lent chunks end a run early.
  Runner(Inbox& inbox, const HandlerTable& table, Rank self, std::uint64_t lent_limit) noexcept
      : inbox_(inbox), table_(table), self_(self), lent_limit_(lent_limit) {
    message_.size = sizeof message_;
  }

  // What handlers see as message->context.
  void belong_to(ph_context* context) noexcept { message_.context = context; }
  bool has_context() const noexcept { return message_.context != nullptr; }

  void run() noexcept;
  // So many of `running` have had their turn.
  std::size_t done() const noexcept { return done_; }
  // Handlers that were called, ever.
  std::uint64_t calls() const noexcept { return calls_; }
  // All of `running` was taken back.
  void begin_anew() noexcept { done_ = 0; }

  // The message that a handler is called with right now, by the thread that calls it. Null: it is
  // another one.
  Arrived* shown_as(const ph_am_message* message) noexcept {
    return message == &message_ ? current_ : nullptr;
  }

 private:
  void run_due();
  void handle(Arrived& entry);
  void show(const Arrived& entry) noexcept;
  ph_status land_here(const Arrived& entry, const ph_am_landing& named);
  [[noreturn]] void die() const noexcept;

  Inbox& inbox_;
  const HandlerTable& table_;
  const Rank self_;
  const std::uint64_t lent_limit_;
  std::size_t done_ = 0;
  std::uint64_t calls_ = 0;
  Arrived* current_ = nullptr;  // whose handlers run
  ph_am_message message_{};     // of it, as they see it
};

}  // namespace photon::service::am
