// The sending half of active messages: what its user sends, in which way, and what the target tells
// of it (docs/active-messages.md, "Sending").
//
//   accepted -- the gate is open, the ring has room --> sent -- handled passes its number --> over
//            -- else --> queued [a copy] -- its turn, a slot, room --> sent
//   sent   -- refused by the target --> over, with that error
//   queued, sent -- the target is lost --> over, with that status
//
// Invariants: accepted messages to one rank go in the order of the calls, whatever their way: while
// one waits the gate is closed. What is carried is copied at the call. A message is told of once.
// Errors: functions may throw bad_alloc; then nothing has begun, and what waited still waits.
// Owner: the service, under the lane's lock.
#pragma once

#include <photon/am.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "service/am/aggregates.hpp"
#include "service/am/am_args.hpp"
#include "service/am/am_outbox.hpp"
#include "service/am/gate.hpp"
#include "service/am/prepared.hpp"
#include "service/am/reply_room.hpp"
#include "service/am/word.hpp"
#include "service/service.hpp"

namespace photon::service::am {

// What a target tells of a message of ours that has ended with an error.
struct Refusal {
  std::uint64_t number = 0;
  ph_status status = PH_OK;
  std::uint32_t items = 0;  // of an aggregate: so many of its items have an error; else 0
  std::uint16_t id = 0;
};

class Sender {
 public:
  // on_local() is for the sender where its token has this bit.
  static constexpr std::uint64_t kToken = Outbox::kToken;

  Sender(Port& port, Gates& gates);
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  // ---- what is sent
  // One line, if the gate is open and the ring has one. No call: what it comes to is the caller's
  // (Port::say_line_now()).
  [[gnu::always_inline]] Written send_now(Rank to, std::uint32_t id,
                                          ph_const_block bytes) noexcept {
    if (to >= ranks_ || !is_small(id, bytes)) [[unlikely]]
      return Written::no;
    Gate& gate = gate_of_[to];
    if (gate.sent >= gate.until) [[unlikely]]
      return Written::no;
    const Written said = port_.say_line_now(to, encode(word_of(id, gate)), bytes);
    if (said == Written::no) [[unlikely]]
      return said;
    gate.told = gate.handled;
    ++gate.sent;
    return said;
  }
  // What is as simple, of ph_am_send(): one block and nothing else, whose end nobody is told of.
  Written send_now(Rank to, const ph_am_args& args) noexcept;
  // The same, whatever stands in its way.
  ph_status send_small(Rank to, std::uint32_t id, ph_const_block bytes, Asker asker);
  ph_status send(Rank to, const ph_am_args& args, Asker asker);
  // A span to be filled, and what becomes of it. The caller sets slot.context.
  ph_status prepare(Rank to, std::uint64_t least, std::uint64_t most, ph_am_slot& slot);
  struct Commit {
    std::uint32_t id = 0;
    ph_const_block header{};
    std::uint64_t size_bytes = 0;
  };
  ph_status commit(const ph_am_slot& slot, const Commit& what, Asker asker);
  ph_status cancel(const ph_am_slot& slot);

  // ---- what the target tells; false: malformed
  bool handled(Rank from, std::uint64_t count);
  bool handled_low(Rank from, std::uint16_t low) {
    Gate& gate = gate_of_[from];
    return static_cast<std::uint16_t>(gate.known) == low || handled(from, gate.count_of(low));
  }
  // The same, where nothing waits for that count but the gate. False: nothing was done.
  [[gnu::always_inline]] bool learn_alone(Rank from, std::uint16_t low) noexcept {
    Gate& gate = gate_of_[from];
    if (static_cast<std::uint16_t>(gate.known) == low) return true;
    const To* const to = outbox_.find(from);
    if (to == nullptr || !to->notes.empty() || !to->queue.empty() ||
        !gate.learn(gate.count_of(low))) [[unlikely]]
      return false;
    outbox_.set_gate(*to);
    return true;
  }
  bool refused(Rank from, const Refusal& what);
  bool unreplied(Rank from, std::uint32_t count);
  bool read(Rank from, std::uint64_t token) { return outbox_.offers().read(from, token); }
  bool done(Rank from, std::uint64_t token, std::uint64_t status);
  // A reply of that rank's has come, and its header handler is through.
  void note_reply_handled(Rank from) noexcept;

  // ---- of the service
  void on_local(Rank to, std::uint64_t token, ph_status status);
  void on_room(Rank to);
  void on_lost(Rank rank, ph_status why) noexcept;
  bool turn();
  void before_sleep();
  void before_flush(Rank rank);
  std::int64_t next_turn_ns() const noexcept;
  void close();
  bool is_idle() const noexcept;
  std::uint64_t held() const noexcept;

  // ---- for the eye
  SentCounts counts(Rank to) const noexcept;  // PH_ANY_RANK: to all
  std::string ways(Rank to) const;            // by size; empty: nothing was sent to it
  const Budget& budget() const noexcept { return outbox_.budget(); }

 private:
  struct Attempt;
  struct Submitted {
    To& to;
    Draft& draft;
    bool goes;  // nothing has to go before it
    Asker asker;
  };
  struct Offering;

  static bool is_small(std::uint32_t id, ph_const_block bytes) noexcept {
    return id <= PH_AM_MAX_ID && bytes.size_bytes <= PH_AM_SMALL_BYTES &&
           (bytes.data != nullptr || bytes.size_bytes == 0);
  }
  static Word word_of(std::uint32_t id, const Gate& gate) noexcept {
    return {Op::line, 0, static_cast<std::uint16_t>(id), 0,
            static_cast<std::uint16_t>(gate.handled)};
  }
  static bool is_simple(const ph_am_args& args) noexcept {
    const bool has_more = (args.header_bytes | args.blocks_count | args.local.size_bytes) != 0 ||
                          args.immediate != 0 || args.request != nullptr;
    return !has_more && args.id <= PH_AM_MAX_ID && (args.payload != nullptr) &&
           (args.flags & ~PH_AM_MAY_WAIT) == PH_NO_LCE &&
           reinterpret_cast<std::uint64_t>(args.payload) <= ~args.payload_bytes;
  }
  ph_status queue_line(To& to, std::uint32_t id, ph_const_block bytes, Asker asker);
  ph_status post(Checked& what, Asker asker);
  ph_status say_or_copy(const Submitted& what, std::unique_ptr<Entry>& copy);
  void settle(const Submitted& what, const Note& note, std::unique_ptr<Entry> copy) noexcept;
  ph_status collect(To& to, Checked& what, Asker asker);
  ph_status check_commit(const ph_am_slot& slot, const Commit& what);
  ph_status commit_checked(const ph_am_slot& slot, const Commit& what, Asker asker);
  ph_status commit_open(const ph_am_slot& slot, Checked& what, Asker asker);
  ph_status not_open(const ph_am_slot& slot, const char* call);
  ph_status may_send(To& to, const Checked& what, Asker asker, bool goes);
  // ---- offering.cpp
  ph_status offer(Checked& what, Asker asker);
  ph_status send_offer(To& to, Offering& offering, Asker asker, bool goes);

  Port& port_;
  Gates& gates_;
  Gate* const gate_of_;
  const std::uint32_t ranks_;
  Outbox outbox_;
  ReplyRoom replies_;
  Aggregates aggregates_;
  Prepared prepared_;
  bool is_closing_ = false;
};

}  // namespace photon::service::am
