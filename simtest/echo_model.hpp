// Checks the echo service against the promises of photon/echo.h: what ranks ask each other, with a
// body or without, and what they tell each other.
//
//   question: asked -- answered, once, in order --> over
//   message:  told -- heard by a handler, once, in order --> over
//                 \-- its target was deaf, left, died or lost meanwhile --> heard or not
//
// Each attempt has a value of its own, so that what comes of one that was told PH_AGAIN is found
// out. The body of what is answered is filled with junk at once.
// Invariant: pending_ counts the accepted ones that still have to be answered or heard.
// Owner: the runner. Threads: one.
#pragma once

#include <photon/photon.h>

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "simtest/oracle.hpp"
#include "simtest/program.hpp"

namespace photon::simtest {

// One attempt of ph_echo(), ph_echo_body() or ph_echo_tell().
struct Echoed {
  enum class Kind : std::uint8_t { ask, body, tell };

  Kind kind = Kind::ask;
  std::uint32_t number = 0;  // from 1
  ph_rank from = 0;
  ph_rank to = 0;
  std::uint32_t lane = 0;     // of both
  const Step* act = nullptr;  // of the handler that hears it; null: none
  std::vector<std::byte> body;
  std::uint64_t sum = 0;
  std::uint64_t begun_at = 0;  // on the oracle's count of events
  bool accepted = false;
  bool over = false;      // answered, heard
  bool expected = false;  // to be over
  bool may_drop = false;  // told, and its target need not hear it
  bool was_deaf = false;  // for it, because nobody listened there
  bool is_cut = false;    // the link between the two was lost

  std::uint64_t value() const noexcept;
  std::string text() const;
};

class EchoModel {
 public:
  EchoModel(Oracle& oracle, const Program& program);

  // Before an attempt, and what it said. The reference stays valid.
  Echoed& begin(const Endpoint& from, ph_rank to, Echoed::Kind kind, std::uint64_t size_bytes = 0);
  void posted(Echoed& one, ph_status status);

  void answered(const Endpoint& at, const ph_echo_result& result);

  // Before ph_echo_listen(): the handler's number, or 0 for none.
  void listening(const Endpoint& at, std::uint64_t handler);
  // A handler is run, and has come to its end. Gives what it heard; null: after a finding.
  const Echoed* heard(const Endpoint& at, std::uint64_t handler, ph_rank from, std::uint64_t value);
  void handled(const Endpoint& at) { --state(at).running; }

  // It leaves, be it one lane; it dies; the link between two is lost.
  void gone(const Endpoint& end, bool is_dead);
  void link_lost(ph_rank a, ph_rank b);
  // It has finalized with PH_OK: nothing that it had told, and a lost link took, is unknown to it.
  void finalized(ph_rank rank);

  bool is_settled() const noexcept { return pending_ == 0; }
  void report_pending();

 private:
  struct Flow {
    std::deque<Echoed*> of[3];  // accepted and not over, by kind
  };
  struct State {
    std::uint64_t handler = 0;  // that listens; 0: none
    int running = 0;
    bool gone = false;
  };

  State& state(const Endpoint& at) noexcept { return states_[at.rank * lanes_ + at.lane]; }
  std::deque<Echoed*>& queue(const Echoed& one) noexcept {
    const std::size_t flow = (std::size_t{one.from} * ranks_ + one.to) * lanes_ + one.lane;
    return flows_[flow].of[static_cast<std::size_t>(one.kind)];
  }
  bool is_of(const Endpoint& end, ph_rank rank, std::uint32_t lane) const noexcept {
    return rank == end.rank && (end.lane == 0 || lane == end.lane);
  }
  bool may_end_with(const Echoed& one, ph_status status);
  void drop(Echoed& one) noexcept;
  Echoed* find(std::uint64_t value) noexcept;
  void wrong(const char* kind, const Echoed& one, const std::string& what);
  bool check_place(const Endpoint& at, const Echoed& one, ph_rank peer, ph_rank right_peer);

  Oracle& oracle_;
  const std::uint32_t ranks_;
  const std::uint32_t lanes_;
  std::deque<Echoed> all_;  // by number - 1
  std::vector<Flow> flows_;
  std::vector<State> states_;  // by rank and lane
  std::uint64_t pending_ = 0;
};

}  // namespace photon::simtest
