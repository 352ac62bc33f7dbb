// Uniform open load: every rank posts messages to drawn other ranks at exponentially drawn gaps,
// whatever the network takes. Messages that are due before the end of the warm-up have tag 0, those
// of the span that is measured tag 1; only these count among the latencies.
//
//   posting --the next message is due behind the span--> draining --all own are sent--> done
//
// Invariant: draws come from a stream of (seed, rank) alone, so that what is posted, to whom and
// when it is due does not depend on the network. A done rank still takes messages. Owner: run/.
#pragma once

#include <vector>

#include "netsim/clock/random.hpp"
#include "netsim/motif/motif.hpp"

namespace photon::netsim {

class Uniform final : public Motif {
 public:
  struct Load {
    std::uint32_t ranks = 2;
    std::uint32_t bytes = 1;  // of each message
    double mean_gap_ps = 1;   // between two messages of a rank
    Time warmup = 0;
    Time measured = 0;
    std::uint64_t seed = 1;
  };

  explicit Uniform(const Load& load);
  std::uint32_t ranks() const override { return load_.ranks; }
  std::uint32_t most_bytes() const override { return load_.bytes; }
  void start(std::uint32_t rank, Ranks& ranks) override;
  void on_message(std::uint32_t rank, std::uint32_t peer, std::uint16_t tag, Ranks& ranks) override;
  void on_sent(std::uint32_t rank, std::uint32_t peer, std::uint16_t tag, Ranks& ranks) override;
  void on_woken(std::uint32_t rank, Ranks& ranks) override;
  bool is_measured(std::uint16_t tag) const override { return tag != 0; }

 private:
  struct State {
    Random random;
    Time due = 0;              // of the next message
    std::uint32_t unsent = 0;  // messages whose end of sending was not told
    bool is_draining = false;
  };

  void plan(State& its);
  void go_on(std::uint32_t rank, Ranks& ranks);

  Load load_;
  std::vector<State> states_;
};

}  // namespace photon::netsim
