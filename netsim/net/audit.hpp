// Little's law on every FIFO of a part: the length of a FIFO, summed over time, is what all of its
// packets waited in it. Two instruments measure it that share the clock alone: one reads the length
// that the model keeps (of an input: its list, for what is on its way is counted in its room), the
// other one notes when each packet came and how long it was there.
//
// FIFOs are numbered: those of inputs, then those of outputs, as in State, then those of cards.
// Invariant: it reads the model and never changes it. Owner: its part, in runs with --check alone.
#pragma once

#include <string>
#include <vector>

#include "netsim/net/state.hpp"

namespace photon::netsim {

class Audit {
 public:
  explicit Audit(const State& state)
      : inputs_(state.inputs.size()), gauges_(2 * inputs_ + state.cards.size()) {}

  std::size_t output(std::size_t queue) const { return inputs_ + queue; }
  std::size_t card(std::size_t host) const { return 2 * inputs_ + host; }

  // A FIFO of an output or of a card; `length` is that before the packet joins or leaves.
  void joins(std::size_t fifo, std::uint32_t length, std::uint32_t packet, Time now);
  void leaves(std::size_t fifo, std::uint32_t length, std::uint32_t packet, Time now);
  // A packet that is on its way to an input, and one that leaves the front of its list.
  void comes(std::uint32_t packet, const Packet& its);
  void leaves_input(std::size_t fifo, const Pool<Packet>& packets, std::uint32_t first, Time now);

  // The first FIFO for which the instruments disagree, or nothing. All FIFOs are empty.
  std::string what_disagrees(const Fabric& fabric) const;

 private:
  struct Gauge {
    Time since = 0;            // `area` is complete up to here
    std::uint64_t area = 0;    // length x time, in flits x ps
    std::uint64_t waited = 0;  // flits x the time that they were in the FIFO
  };
  struct Stamp {
    Time came = 0;
    std::uint32_t flits = 0;
  };
  Stamp& stamp(std::uint32_t packet);

  std::size_t inputs_;
  std::vector<Gauge> gauges_;
  std::vector<Stamp> stamps_;  // packet
};

}  // namespace photon::netsim
