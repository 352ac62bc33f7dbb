// What waits for each rank, and how it goes: in the order of the calls, as slots and room come back
// (docs/active-messages.md, "The outbox").
//
//   open -- a message is queued --> shut -- the last one has gone --> open
//   any  -- the rank is lost, the lane closes --> shut
//
// Invariants: the gate of a rank is open only while nothing waits for it, so nothing passes what
// waits; queued and lent messages are in the budget, but for replies, whose room is the
// requester's. Owner: the sender, under the lane's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/ring_queue.hpp"
#include "service/am/am_entry.hpp"
#include "service/am/am_offers.hpp"
#include "service/am/counts.hpp"
#include "service/am/gate.hpp"
#include "service/am/notes.hpp"

namespace photon::service::am {

// All of the sender that belongs to one rank.
struct To {
  To(Rank of, std::uint64_t slots) noexcept : rank(of), notes(slots) {}

  const Rank rank;
  ph_status lost = PH_OK;            // else why
  bool is_moving = false;            // a turn goes on with it
  std::unique_ptr<Entry> aggregate;  // that is open, behind all in the queue
  std::int64_t opened_ns = 0;
  To* older = nullptr;  // of those with an open aggregate
  To* younger = nullptr;
  EntryList queue;
  EntryList lent;
  Notes notes;
  std::uint64_t refused_to = 0;  // numbers below it are not refused any more
  SentCounts counts;             // but for lines, which are the rest of gate.sent
};

class Outbox {
 public:
  // on_local() is for the outbox where its token has this bit.
  static constexpr std::uint64_t kToken = std::uint64_t{1} << 63;

  Outbox(Port& port, Gates& gates);
  ~Outbox();
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  To& use(Rank rank);  // throws bad_alloc
  To* find(Rank rank) noexcept { return peers_[rank].get(); }
  const To* find(Rank rank) const noexcept { return peers_[rank].get(); }

  // ---- what may go, and what goes
  bool may_go(const To& to) const noexcept {
    return is_open(to) && gates_.of(to.rank).has_slot(gates_.slots());
  }
  // Whether the next message waits in the queue, if it may: there is no slot, or others wait there.
  bool is_full(const To& to) const noexcept {
    return !is_closing_ && to.lost == PH_OK && to.aggregate == nullptr && !may_go(to);
  }
  // One whose payload its target reads.
  bool may_offer(const To& to) const noexcept { return may_go(to) && offers_.may_go(to.rank); }
  [[gnu::always_inline]] void set_gate(const To& to) noexcept {
    gates_.of(to.rank).set(is_open(to), gates_.slots());
  }
  // PH_OK, or why a message can not wait here: PH_AGAIN, PH_ERR_MEMORY.
  ph_status may_queue(const To& to, Asker asker);
  void queue(To& to, std::unique_ptr<Entry> entry, Asker asker) noexcept;
  // A message that did not wait has gone.
  void has_gone(To& to, const Head& head, const Note& note) noexcept;
  // Slots or room have come back. Where memory runs out, a turn goes on.
  void move(To& to) noexcept;

  // ---- of the service
  void on_local(Rank to, std::uint64_t token, ph_status status) noexcept;
  bool turn();
  void lose(To& to, ph_status why) noexcept;
  void close() noexcept;
  std::uint64_t queued() const noexcept { return queued_; }
  std::uint64_t lent() const noexcept { return lent_; }

  Budget& budget() noexcept { return budget_; }
  const Budget& budget() const noexcept { return budget_; }
  Teller& teller() noexcept { return teller_; }
  const Teller& teller() const noexcept { return teller_; }
  EntryPool& pool() noexcept { return pool_; }
  Offers& offers() noexcept { return offers_; }
  const Offers& offers() const noexcept { return offers_; }

 private:
  static constexpr int kMostAtOnce = 64;  // messages that go in one turn

  bool is_open(const To& to) const noexcept {
    return !is_closing_ && to.lost == PH_OK && to.queue.empty() && to.aggregate == nullptr;
  }
  void close(To& to) noexcept;
  void move_some(To& to);
  bool is_stopped(const To& to) const noexcept;
  ph_status say_first(To& to);
  ph_status say(const To& to, Entry& entry);
  void settle_first(To& to, std::unique_ptr<Entry> entry, ph_status status) noexcept;
  void drop(To& to, const Entry& entry, ph_status why) noexcept;
  void go_on_later(To& to) noexcept;

  Port& port_;
  Gates& gates_;
  const std::uint64_t requests_;
  Budget budget_;
  Teller teller_;
  Offers offers_;
  EntryPool pool_;
  std::vector<std::unique_ptr<To>> peers_;
  std::uint64_t peers_count_ = 0;
  base::RingQueue<Rank> moving_;  // room for all that were used
  std::uint64_t queued_ = 0;
  std::uint64_t lent_ = 0;
  std::uint64_t last_token_ = 0;
  bool is_closing_ = false;
};

}  // namespace photon::service::am
