// A motif: what each rank does, in order. It sees ranks and messages, no card and no network.
//
// Invariant: a call concerns one rank and touches that rank's state alone, so that ranks may live
// in different threads. Owner: run/.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "netsim/clock/result.hpp"
#include "netsim/clock/time.hpp"

namespace photon::netsim {

inline constexpr std::uint32_t kNoPeer = ~std::uint32_t{0};

struct Message {
  std::uint32_t peer = 0;
  std::uint32_t bytes = 0;  // at least 1
  std::uint16_t tag = 0;
  bool is_told = false;  // on_sent is wanted when its source may be written again
};

// What a motif tells a rank to do. The rank does it in the order of these calls, one thing after
// the other, as each takes its time; messages and ends of sending are told between them, when
// nothing is left to do. Only of a send within the node is the end told at once, when it is posted.
class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual Time now() const = 0;
  virtual void send(std::uint32_t rank, const Message& message) = 0;
  virtual void compute(std::uint32_t rank, Time duration) = 0;  // then on_computed comes
  // The rank has used a message of this peer's: its buffer may be written again. Once a message.
  virtual void release(std::uint32_t rank, std::uint32_t peer) = 0;
  // on_woken comes at that time, or later if the rank has something to do then. The rank is not
  // busy until then: it takes messages.
  virtual void wake(std::uint32_t rank, Time time) = 0;
  virtual void finish(std::uint32_t rank) = 0;  // the rank's part is done
};

class Motif {
 public:
  virtual ~Motif() = default;
  virtual std::uint32_t ranks() const = 0;
  virtual std::uint32_t most_bytes() const = 0;  // of its largest message
  // How much of its part a rank has done, from 0 to 1: shown to users, of no effect.
  virtual double share_done(std::uint32_t /*rank*/) const { return 0; }
  virtual void start(std::uint32_t rank, Ranks& ranks) = 0;
  virtual void on_message(std::uint32_t rank, std::uint32_t peer, std::uint16_t tag,
                          Ranks& ranks) = 0;
  virtual void on_sent(std::uint32_t /*rank*/, std::uint32_t /*peer*/, std::uint16_t /*tag*/,
                       Ranks& /*ranks*/) {}
  virtual void on_computed(std::uint32_t /*rank*/, Ranks& /*ranks*/) {}
  virtual void on_woken(std::uint32_t /*rank*/, Ranks& /*ranks*/) {}
  // Whether messages with this tag count among the latencies of the result.
  virtual bool is_measured(std::uint16_t /*tag*/) const { return true; }
};

struct MotifSettings {
  std::string name = "exchange";
  std::string ranks = "2";      // exchange: a grid
  std::uint32_t bytes = 19200;  // of each message
  std::uint32_t steps = 1;
  std::uint32_t distance = 1;  // shift: to rank + distance
  std::uint32_t target = 0;    // incast: to this rank
  std::uint32_t nx = 30;       // sweep3d and halo: cells of a rank
  std::uint32_t ny = 30;
  std::uint32_t nz = 30;
  std::uint32_t kba = 10;    // sweep3d: planes of a block
  std::uint32_t fields = 0;  // values of 8 B of a cell; 0: 8 for sweep3d, 1 for others
  double compute_ns = -1;    // -1: 140 for sweep3d, 0 for others
  bool reduce = true;        // halo: an allreduce of 8 B ends an iteration
  double load = 0.5;         // uniform: share of the link's rate that each rank offers
  double warmup_us = 10;     // uniform: not measured
  double measure_us = 50;    // uniform
  std::string file;          // schedule
  double link_GBps = 12.5;   // of the network, filled in by run/
  std::uint64_t seed = 1;    // filled in by run/
};

// The settings with the motif's own defaults for fields and compute_ns filled in.
MotifSettings with_defaults(MotifSettings settings);
// The motif, or what is wrong with its settings.
Result<std::unique_ptr<Motif>> make_motif(const MotifSettings& settings);

}  // namespace photon::netsim
