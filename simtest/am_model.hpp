// Checks active messages against the promises of photon/am.h: what ranks send each other's
// handlers, what handlers send on and reply, and what their senders are told.
//
//   message: accepted -- its header handler runs, once, in order --> handled --> over
//                                                -- names a landing --> its parts are told, in
//                                                   order, the last one once --> handled --> over
//                     -- its id has no handler at its turn --> refused: its sender is told, once
//                     \-- its target left, died or was lost meanwhile --> handled or not
//
// Each attempt has a number of its own, which stands in its header, payload or immediate, so that
// what comes of one that was told PH_AGAIN is found out; what has room for none is known by its
// place in the order. What was copied is filled with junk at once, what its target reads when it
// may be reused.
// Invariant: a message stands in the queue of its way as long as its handler may still run.
// Owner: the runner. Threads: one.
#pragma once

#include <photon/photon.h>

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "simtest/am_landed.hpp"
#include "simtest/oracle.hpp"
#include "simtest/program.hpp"

namespace photon::simtest {

// The ids that programs use, by Step::offset. The first one always has a handler, the last one
// never.
inline constexpr std::array<std::uint32_t, 5> kAmIds = {0, 7, 300, 65535, 4242};
inline constexpr std::uint32_t kAmNeverId = 4;

// What the handler of a message does, by Step::kinds.
enum class AmDoing : std::uint32_t {
  returns,        // PH_OK
  fails,          // an error
  says_more,      // a positive status, which counts as PH_ERR_ARGUMENT
  keeps_silent,   // does not reply, even if it should
  replies_twice,  // or once, if it should not
  waits,          // which is refused
  lingers,        // makes progress again and again, while others run, and write
};
inline constexpr std::uint32_t kAmDoings = 6;  // that are drawn for messages whose payload is here
inline constexpr ph_status kAmFailure = PH_ERR_ID_SIZE;  // what handlers fail with

// One attempt of ph_am_send_small(), ph_am_send() or ph_am_reply().
struct AmMessage {
  enum class Way : std::uint8_t { small, args, reply, prepared };

  Way way = Way::small;
  std::uint32_t number = 0;  // from 1
  ph_rank from = 0;
  ph_rank to = 0;
  std::uint32_t lane = 0;  // of both
  std::uint32_t id = 0;
  std::uint32_t flags = 0;
  const Step* step = nullptr;  // what its handler does
  AmMessage* cause = nullptr;  // whose handler has sent it; null: none
  std::uint32_t quiesces = 0;  // begun by its sender, or that of its first cause, before it
  std::uint64_t immediate = 0;
  std::vector<std::byte> payload;
  std::vector<std::byte> header;
  bool is_pulled = false;            // its target reads the payload
  std::unique_ptr<AmLanded> landed;  // where it does
  std::uint64_t begun_at = 0;        // on the oracle's count of events
  bool has_id = false;               // a local id
  bool accepted = false;
  bool has_begun = false;    // its handler
  bool is_handled = false;   // all its handlers have ended
  ph_status result = PH_OK;  // of them
  bool may_refuse = false;   // it may find no handler
  bool is_refused = false;   // its sender was told so
  bool is_passed = false;    // one behind it has begun
  bool may_drop = false;     // nobody need hear anything of it
  bool is_cut = false;       // the link between the two was lost
  bool from_gone = false;
  bool is_replied = false;
  bool local_seen = false;
  bool late_seen = false;

  std::uint64_t value() const noexcept;
  bool has(std::uint32_t flag) const noexcept { return (flags & flag) != 0; }
  // Whether it may go together with others: of those that have an error its sender hears once, of
  // the first one, without an id.
  bool may_collect() const noexcept {
    const bool is_delivered = has(PH_DELIVERED) && !has(PH_NO_LCE);
    return has(PH_AM_MAY_WAIT) && !has(PH_AM_REPLY) && !is_delivered && way == Way::args;
  }
  // Whether its number stands in it.
  bool is_named() const noexcept {
    return header.size() >= 8 || payload.size() >= 8 || immediate != 0;
  }
  // Whether its number stands in its payload.
  bool is_named_by_payload() const noexcept { return header.size() < 8 && payload.size() >= 8; }
  std::string text() const;
};

class AmModel {
 public:
  AmModel(Oracle& oracle, const Program& program);

  // Before an attempt, and what it said. The reference stays valid. `cause`: of a handler.
  struct Draft {
    AmMessage::Way way = AmMessage::Way::small;
    ph_rank to = 0;
    const Step* step = nullptr;
    AmMessage* cause = nullptr;
    std::uint32_t quiesces = 0;
  };
  AmMessage& begin(const Endpoint& from, const Draft& draft);
  void posted(AmMessage& one, ph_status status);

  // Before a call: the handler's number, 0: none from now on.
  void enroll(const Endpoint& at, std::uint32_t id, std::uint64_t handler);
  std::uint64_t handler_of(const Endpoint& at, std::uint32_t id);

  // A header handler begins, and has come to its end. Null: after a finding.
  AmMessage* begun(const Endpoint& at, std::uint64_t handler, const ph_am_message& message);
  void check_bytes(const AmMessage& one, const ph_am_message& message);
  void handled(const Endpoint& at, AmMessage& one, ph_status status);
  // Its header handler says where its payload is to land.
  AmLanded& land(AmMessage& one);
  // The same of its completion handler, for each part.
  void part_begun(const Endpoint& at, AmMessage& one, const ph_am_message& message,
                  const ph_am_part& part);
  void part_ended(const Endpoint& at, AmMessage& one, const ph_am_part& part, ph_status returned);
  void check_landings();  // at the end
  bool is_running(const Endpoint& at) { return state(at).running != 0; }

  // Whether the completion is of a message; an error without an id.
  bool completed(const Endpoint& at, const ph_completion& one);
  bool takes_nameless(const Endpoint& at, const ph_completion& one);
  // So many can have ended with such an error, those included of which it was heard.
  std::uint32_t count_nameless(const Endpoint& at, const ph_completion& one);

  void gone(const Endpoint& end, bool is_dead);
  void link_lost(ph_rank a, ph_rank b);
  // Whether such an error at the end of a lane can be of a message of its.
  bool explains(const Endpoint& end, ph_status status);
  // It has finalized with PH_OK.
  void finalized(ph_rank rank);

  // Of those that count for the quiesce with this number, one that is not over; null: none.
  const AmMessage* left_of(std::uint32_t lane, std::uint32_t quiesce) const;
  bool is_settled() const { return first_pending() == nullptr; }
  void report_pending();

 private:
  struct State {
    std::map<std::uint32_t, std::uint64_t> handlers;  // by id
    int running = 0;
    bool gone = false;
  };
  using Nameless = std::tuple<ph_rank, std::uint32_t, ph_rank, ph_status>;  // from, lane, to

  State& state(const Endpoint& at) noexcept { return states_[at.rank * lanes_ + at.lane]; }
  std::deque<AmMessage*>& queue(const AmMessage& one) noexcept {
    return flows_[(std::size_t{one.from} * ranks_ + one.to) * lanes_ + one.lane];
  }
  void fill(AmMessage& one) const;
  AmMessage* find(const Endpoint& at, const ph_am_message& message);
  AmMessage* named(std::uint64_t value) noexcept;
  bool check_shape(const Endpoint& at, const AmMessage& one, const ph_am_message& message);
  void pass(AmMessage& one);
  void end(AmMessage& one, ph_status status);
  void check_part(const AmMessage& one, const ph_am_part& part);
  bool may_end_early(const AmMessage& one, const ph_am_part& part) const;
  bool has_bytes(const AmMessage& one, const ph_am_part& part) const;
  bool may_lack_regions(const AmMessage& one) const;
  ph_status right_status(const AmMessage& one) const;
  bool may_fail_with(const AmMessage& one, ph_status status);
  bool may_end_with(const AmMessage& one, ph_status status);
  // With what error its sender has to be told; PH_OK: with none.
  ph_status owed(const AmMessage& one) const noexcept;
  bool lacks_word(const AmMessage& one) const noexcept;
  bool lacks_part(const AmMessage& one) const noexcept;
  const AmMessage* first_pending() const;
  void wrong(const char* kind, const AmMessage& one, const std::string& what);

  Oracle& oracle_;
  const std::uint32_t ranks_;
  const std::uint32_t lanes_;
  const std::uint64_t carried_max_;
  std::deque<AmMessage> all_;  // by number - 1
  std::vector<std::deque<AmMessage*>> flows_;
  std::vector<State> states_;  // by rank and lane
  std::map<Nameless, std::uint32_t> nameless_;
};

}  // namespace photon::simtest
