// Half round trips, the same for ours and for every limit. Both members of a team run it in step.
//
// A fresh source is rewritten before each message. Where that takes long enough to be told apart
// by the clock it is left out: index 0 starts its clock behind it, and index 1, which rewrites
// between the message and its answer, says how long it took.
// Owner: none (functions).
#pragma once

#include "clock.hpp"
#include "contents.hpp"
#include "team.hpp"

namespace photon::perf {

// What a ping-pong does on either side, each with the message's number, from 1:
//   write    makes the source what the message is to carry
//   send     until the message is on its way
//   receive  until the peer's message is there and was read
template <class Write, class Send, class Receive>
struct PingPong {
  Write write;
  Send send;
  Receive receive;
};
template <class Write, class Send, class Receive>
PingPong(Write, Send, Receive) -> PingPong<Write, Send, Receive>;

template <class Program>
Outcome batches_of(Team& team, std::uint64_t round_trips, Program program) {
  const bool first = team.index() == 0;
  Outcome outcome;
  const auto batches = batches_for(round_trips);
  std::uint64_t number = 0;
  for (std::uint64_t batch = 0; batch < batches.count; ++batch) {
    const auto start_ns = now_ns();
    for (std::uint64_t i = 0; i < batches.each; ++i) {
      ++number;
      if (first) {
        program.write(number);
        program.send(number);
      }
      program.receive(number);
      if (!first) {
        program.write(number);
        program.send(number);
      }
    }
    const auto elapsed_ns = static_cast<double>(now_ns() - start_ns);
    if (first) outcome.batches_ns.push_back(elapsed_ns / static_cast<double>(2 * batches.each));
  }
  return outcome;
}

// The clock is read twice on each side of a round trip: what that takes is left out as well.
template <class Program>
Outcome batches_apart(Team& team, std::uint64_t round_trips, Program program) {
  auto& told_ns = team.area().means[1].rewriting_ns.line.flag;
  const bool first = team.index() == 0;
  const double clock_ns = 2 * clock_cost_ns();
  Outcome outcome;
  const auto batches = batches_for(round_trips);
  std::uint64_t number = 0;
  std::uint64_t rewriting_ns = 0;
  for (std::uint64_t batch = 0; batch < batches.count; ++batch) {
    std::uint64_t trips_ns = 0;
    const auto before_ns = first ? told_ns.load_acquire() : 0;
    for (std::uint64_t i = 0; i < batches.each; ++i) {
      ++number;
      if (!first) program.receive(number);
      const auto start_ns = now_ns();
      program.write(number);
      const auto written_ns = now_ns();
      if (!first) {
        rewriting_ns += written_ns - start_ns;
        if (i + 1 == batches.each) told_ns.store_release(rewriting_ns);
      }
      program.send(number);
      if (!first) continue;
      program.receive(number);
      trips_ns += now_ns() - written_ns;
    }
    if (!first) continue;
    const auto left_out_ns = static_cast<double>(told_ns.load_acquire() - before_ns);
    const auto each = static_cast<double>(batches.each);
    const auto trip_ns = (static_cast<double>(trips_ns) - left_out_ns) / each - clock_ns;
    outcome.batches_ns.push_back(std::max(trip_ns, 1.0) / 2);
  }
  return outcome;
}

template <class Write, class Send, class Receive>
Outcome half_trips(Team& team, const Contents& contents, std::uint64_t round_trips,
                   PingPong<Write, Send, Receive> program) {
  if (contents.is_timed_apart()) return batches_apart(team, round_trips, program);
  return batches_of(team, round_trips, program);
}

}  // namespace photon::perf
