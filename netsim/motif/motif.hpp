// A motif: what each rank does, in order. It sees ranks and messages, no card and no network.
//
// Invariant: a call concerns one rank and touches that rank's state alone, so that ranks may live
// in different threads. Owner: run/.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "netsim/clock/result.hpp"

namespace photon::netsim {

class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual void send(std::uint32_t rank, std::uint32_t peer, std::uint32_t bytes,
                    std::uint32_t tag) = 0;
  virtual void finish(std::uint32_t rank) = 0;  // this rank's part is done
};

class Motif {
 public:
  virtual ~Motif() = default;
  virtual std::uint32_t ranks() const = 0;
  virtual void start(std::uint32_t rank, Ranks& ranks) = 0;
  virtual void on_message(std::uint32_t rank, std::uint32_t tag, Ranks& ranks) = 0;
};

struct MotifSettings {
  std::string name = "exchange";
  std::string ranks = "2";      // exchange: a grid
  std::uint32_t bytes = 19200;  // of each message
  std::uint32_t steps = 1;
  std::uint32_t distance = 1;  // shift: to rank + distance
};

// The motif, or what is wrong with its settings.
Result<std::unique_ptr<Motif>> make_motif(const MotifSettings& settings);

}  // namespace photon::netsim
