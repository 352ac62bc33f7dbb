// Which rank lives where. Ranks of a node are its slots, and places are all slots of all nodes,
// numbered through. Rank r has place r, unless a list says on which node each rank lives.
// Invariant: rank_of(number_of(r)) == r, and ranks of a node are in the order of its slots. Owner:
// Common; never changed during a run.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "netsim/clock/result.hpp"
#include "netsim/nic/port.hpp"

namespace photon::netsim {

inline constexpr std::uint32_t kNoRank = ~std::uint32_t{0};

class Placement {
 public:
  Placement(std::uint32_t slots, std::uint32_t ranks) : slots_(slots), places_(ranks) {}
  // The rank's number is its place in `nodes`; no node is in it more than `slots` times.
  Placement(std::uint32_t slots, const std::vector<std::uint32_t>& nodes);

  std::uint32_t slots() const { return slots_; }
  std::uint64_t places() const { return places_; }  // behind them is no rank
  std::uint64_t number_of(std::uint32_t rank) const {
    return place_of_.empty() ? rank : place_of_[rank];
  }
  std::uint32_t rank_of(std::uint64_t place) const {  // or kNoRank
    return rank_at_.empty() ? static_cast<std::uint32_t>(place) : rank_at_[place];
  }
  nic::Rank place_of(std::uint32_t rank) const {
    const std::uint64_t place = number_of(rank);
    return {static_cast<std::uint32_t>(place / slots_), static_cast<std::uint32_t>(place % slots_)};
  }
  std::uint32_t rank_at(const nic::Rank& place) const {
    return rank_of(std::uint64_t{place.node} * slots_ + place.slot);
  }

 private:
  std::uint32_t slots_;
  std::uint64_t places_;
  std::vector<std::uint64_t> place_of_;  // rank; empty without a list
  std::vector<std::uint32_t> rank_at_;   // place
};

struct Space {  // that ranks may be put into
  std::uint32_t hosts = 0;
  std::uint32_t slots = 0;  // on each
};

// The placement that `list` describes: nodes as 0,4,8-11, one for each rank; or nothing, then rank
// r lives on node r / slots. Else what is wrong with it.
Result<Placement> make_placement(std::string_view list, std::uint32_t ranks, const Space& space);

}  // namespace photon::netsim
