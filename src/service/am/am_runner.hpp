// Runs the handlers of what has come, in order (docs/active-messages.md, "Running handlers").
//
//   entry: running -- its turn: its handler is called, a landing that it names is filled, the
//          completion handler is called for each part --> done: its outcome stands in the entry
//   of one that is pulled the landing stands in its pull
//   call:  a part of a pull that was read --> its completion handler is called, and run() comes
//   back
//
// Invariants: handlers of a lane run one after the other; run() comes back between two of them when
// so many lent bytes were handled that their room should go back, or so many messages that their
// senders should hear of slots while the others run.
// Owner: Am. Threads: run() is called without the lock by the one thread that has the right to; all
// else under the lock, and by another thread than that one only between ran() and collect().
#pragma once

#include <photon/am.h>

#include <array>
#include <cstdint>
#include <utility>

#include "service/am/aggregate_items.hpp"
#include "service/am/am_inbox.hpp"
#include "service/am/am_loans.hpp"
#include "service/am/am_pulls.hpp"
#include "service/am/handlers.hpp"

namespace photon::service::am {

// What a user's code has returned, as its sender hears it: a status of this version.
ph_status as_told(ph_status returned) noexcept;

// The message whose handlers run, and what they have done about it.
struct Asked {
  Rank from = 0;
  Word word;
  bool was_replied = false;
};

class Runner {
 public:
  struct Parts {
    Inbox& inbox;
    Loans& loans;
    const HandlerTable& table;
    Rank self = 0;
    std::uint64_t lent_limit = 0;   // so many bytes of lent chunks end a run early
    std::size_t most_at_once = 16;  // so many messages do, too
  };
  explicit Runner(const Parts& parts) noexcept : its_(parts) { message_.size = sizeof message_; }

  // What handlers see as message->context.
  void belong_to(ph_context* context) noexcept { message_.context = context; }
  bool has_context() const noexcept { return message_.context != nullptr; }

  // A message that is run without an entry of the inbox.
  struct Alone {
    HandlerNode* node = nullptr;
    Rank from = 0;
    Word word;
    std::uint64_t number = 0;
    ph_status status = PH_OK;  // left by the handler
  };
  // Under the lock; run_alone() follows without it. Of a line its bytes are copied.
  [[gnu::always_inline]] void show_alone(const Alone& what, const transport::Line& line,
                                         std::uint64_t bytes) noexcept {
    for (std::uint32_t i = 0; i * sizeof(std::uint64_t) < bytes; ++i)
      alone_bytes_[i] = line.words[i + 1].get();
    show_alone(what, alone_bytes_.data(), bytes);
  }
  [[gnu::always_inline]] void show_alone(const Alone& what, const void* payload,
                                         std::uint64_t bytes) noexcept {
    alone_.node = what.node;
    alone_.from = what.from;
    alone_.word = what.word;
    alone_.number = what.number;
    asked_.from = what.from;
    asked_.word = what.word;
    asked_.was_replied = false;
    message_.source = what.from;
    message_.id = what.word.id;
    message_.flags = 0;
    message_.immediate = 0;
    message_.header_bytes = 0;
    message_.header = nullptr;
    message_.payload = payload;
    message_.payload_bytes = bytes;
  }
  void run_alone() noexcept;
  const Alone& alone() const noexcept { return alone_; }
  // What was run alone stands in `running` now, as the first there.
  void note_done() noexcept { ++done_; }

  void run() noexcept;
  // So many of `running` have had their turn.
  std::size_t done() const noexcept { return done_; }
  // Handlers that were called, ever.
  std::uint64_t calls() const noexcept { return calls_; }
  // All of `running` was taken back.
  void begin_anew() noexcept { done_ = 0; }

  // A part that is to be told of by the next run, behind the messages that it runs.
  void tell(const Pulls::Call& call) noexcept { call_ = call; }
  bool has_told() const noexcept { return call_.pull != nullptr; }
  // The part that was told of, if any.
  Pulls::Call take_told() noexcept { return std::exchange(call_, {}); }

  // The message that a handler is called with right now, by the thread that calls it. Null: it is
  // another one.
  Asked* shown_as(const ph_am_message* message) noexcept {
    return message == &message_ && is_shown_ ? &asked_ : nullptr;
  }

 private:
  void run_due();
  void run_call();
  void handle(Arrived& entry);
  void handle_items(Arrived& entry);
  ph_status handle_item(Rank from, const Item& item);
  void show(Rank from, const Word& word, std::uint64_t immediate) noexcept;
  void show(const Arrived& entry) noexcept;
  void show_plain(const Arrived& entry) noexcept;
  void show_no_bytes() noexcept;
  ph_status land_here(std::span<const std::byte> payload, const ph_am_landing& named);
  ph_status land_later(Pull& pull, HandlerNode& node, const ph_am_landing& named);
  ph_status call_done(const Landing& landing, const ph_am_part& part);
  [[noreturn]] void die() const noexcept;

  const Parts its_;
  std::size_t done_ = 0;
  std::uint64_t calls_ = 0;
  Pulls::Call call_;
  Alone alone_;
  std::array<std::uint64_t, PH_AM_SMALL_BYTES / sizeof(std::uint64_t)> alone_bytes_{};
  bool is_shown_ = false;    // a handler runs
  Asked asked_;              // its message
  ph_am_message message_{};  // the same, as it sees it
};

}  // namespace photon::service::am
