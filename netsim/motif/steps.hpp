// Motifs in steps: a rank sends to all its peers, and goes on when all messages of the step are in.
// Messages of later steps may come early; each step has its own count.
#pragma once

#include <memory>
#include <vector>

#include "netsim/motif/motif.hpp"

namespace photon::netsim {

class Pattern {  // who sends to whom in a step, the same in each
 public:
  virtual ~Pattern() = default;
  virtual std::uint32_t ranks() const = 0;
  // Peers in the order of sending: `most_peers` numbers, of which some may be kNoPeer.
  virtual std::uint32_t most_peers() const = 0;
  virtual std::uint32_t peer(std::uint32_t rank, std::uint32_t i) const = 0;
  virtual std::uint32_t senders_to(std::uint32_t rank) const = 0;
};

// The pattern of that name on a grid of ranks, or nothing; `pair` is for 2 ranks.
std::unique_ptr<Pattern> make_pattern(const MotifSettings& settings,
                                      const std::vector<std::uint32_t>& grid);

class Steps final : public Motif {
 public:
  Steps(std::unique_ptr<Pattern> pattern, std::uint32_t steps, std::uint32_t bytes);
  std::uint32_t ranks() const override { return pattern_->ranks(); }
  std::uint32_t most_bytes() const override { return bytes_; }
  double share_done(std::uint32_t rank) const override;
  void start(std::uint32_t rank, Ranks& ranks) override;
  void on_message(std::uint32_t rank, std::uint32_t peer, std::uint16_t tag, Ranks& ranks) override;

 private:
  void go_on(std::uint32_t rank, Ranks& ranks);

  std::unique_ptr<Pattern> pattern_;
  std::uint32_t steps_;
  std::uint32_t bytes_;
  std::vector<std::uint32_t> step_of_;   // rank
  std::vector<std::uint32_t> expected_;  // rank: messages of a step
  std::vector<std::uint32_t> come_;      // rank x steps + step
};

}  // namespace photon::netsim
