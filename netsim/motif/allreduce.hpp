// An allreduce of 8 B by recursive doubling, for any number of ranks: of the first 2 (ranks - p)
// ranks, p the largest power of two, even ones give their value to the next one and get the result
// from it at the end; the p others exchange with one partner a round.
//
//   idle --begin--> in step 0, 1, ... --what the step waits for has come--> next step .. over
//   (idle)
//
// Invariant: two ranks exchange at most one message each way in one allreduce, and no rank is more
// than one allreduce ahead of another, so that a bit per step and parity holds all that has come.
// Owner: the motif that it is a part of.
#pragma once

#include <vector>

#include "netsim/motif/motif.hpp"

namespace photon::netsim {

class Allreduce {
 public:
  static constexpr std::uint32_t kBytes = 8;
  // Tags are first_tag + (number & 1) x 32 + step; fewer than first_tag + 64.
  Allreduce(std::uint32_t ranks, std::uint16_t first_tag);

  bool owns(std::uint16_t tag) const { return tag >= first_tag_; }
  // Begins the rank's allreduce of that number; true: it is over already.
  bool begin(std::uint32_t rank, std::uint32_t number, Ranks& ranks);
  // A message of this allreduce; true: the rank's is over now.
  bool on_message(std::uint32_t rank, std::uint16_t tag, Ranks& ranks);

 private:
  struct State {
    std::uint64_t come = 0;  // by (parity, step)
    std::uint8_t step = 0;
    std::uint8_t parity = 0;
    bool is_under_way = false;
  };
  struct Step {  // what a rank does in a step; kNoPeer: nothing
    std::uint32_t to, from;
  };

  Step step_of(std::uint32_t rank, std::uint32_t step) const;
  bool go_on(std::uint32_t rank, bool is_new, Ranks& ranks);

  std::uint32_t rounds_ = 0;  // of doubling: steps 1 to rounds_
  std::uint32_t pairs_ = 0;   // ranks beyond the largest power of two
  std::uint16_t first_tag_;
  std::vector<State> states_;
};

}  // namespace photon::netsim
