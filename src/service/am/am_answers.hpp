// What we owe the ranks that send us messages: credit, which is merged and said when it is due, and
// answers, which must go (docs/active-messages.md, "Credit").
//
//   credit: handled -- a message of ours carries it, or a quarter of the slots is owed, or it was
//           asked for: said --> told
//                   -- there is no line --> kept -- on_room() --> told
//   refused, unreplied, read, done: said, or queued by the seam, in the order of the calls
//
// Invariant: credit never passes the refusal of a message that it covers, for the refusal is said
// first, and what queues lets nothing of ours pass. Owner: Am, under the lane's lock.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "service/am/gate.hpp"
#include "service/am/word.hpp"
#include "service/service.hpp"

namespace photon::service::am {

class Answers {
 public:
  Answers(Port& port, Gates& gates)
      : port_(port), gates_(gates), quarter_(gates.slots() / 4), owed_(port.size()) {
    touched_.reserve(port.size());
  }

  // A message of that number has ended with an error. `items`: of an aggregate, so many have.
  // These throw bad_alloc, and then nothing was said.
  void say_refused(Rank to, std::uint16_t id, std::uint64_t number, ph_status status,
                   std::uint64_t items = 0);
  void say_read(Rank to, std::uint64_t token);
  void say_done(Rank to, std::uint64_t token, ph_status status);

  // The header handler of that rank's next message has returned. `wants_to_know`: its sender waits.
  void note_handled(Rank from, bool wants_to_know) noexcept {
    Gate& gate = gates_.of(from);
    ++gate.handled;
    if (wants_to_know || gate.handled - gate.told >= quarter_) [[unlikely]]
      want_credit(from);
  }
  // A message of its that wanted a reply is over, with one or without.
  void note_reply_over(Rank from, bool was_replied) noexcept;
  // Says of all that was noted what is due now. Throws bad_alloc; the rest is said by the next one.
  void end_batch() {
    if (!touched_.empty()) [[unlikely]]
      say_all_due();
  }
  bool has_due() const noexcept { return !touched_.empty(); }
  // There is a line again. Where memory runs out a turn goes on.
  void on_room(Rank to) noexcept;
  void on_lost(Rank rank) noexcept;

  // Refusals that it was told, ever.
  std::uint64_t refused(Rank rank) const noexcept { return owed_[rank].refused; }
  bool is_idle() const noexcept { return kept_ == 0 && touched_.empty(); }

 private:
  struct Owed {
    std::uint64_t refused = 0;
    std::uint32_t unreplied = 0;
    bool is_touched = false;  // it is among touched_
    bool wants_credit = false;
    bool keeps_credit = false;  // there was no line
  };

  template <class... Words>
  void say_surely(Rank to, Words... words);
  void touch(Rank rank) noexcept;
  void want_credit(Rank of) noexcept;
  void say_all_due();
  void say_due(Rank to, Owed& owed);
  void say_credit(Rank to, Owed& owed);
  void set_kept(Owed& owed, bool is) noexcept;

  Port& port_;
  Gates& gates_;
  const std::uint64_t quarter_;  // of the slots
  std::vector<Owed> owed_;       // by rank
  std::vector<Rank> touched_;
  std::uint64_t kept_ = 0;
};

}  // namespace photon::service::am
