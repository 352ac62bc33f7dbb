// Who sends to whom in a collective, one step after the other.
//
//   chain  0 -> 1 -> ... -> n-1   each adds its own to what all before it have: rank order
//   tree   a binomial one         up to rank 0, or down from a root
//
//   barrier    tree up to rank 0, tree down
//   reduce     chain, n-1 -> 0
//   allreduce  chain, tree down from n-1
//   scan       chain
//
// Invariant: between two ranks goes at most one message a phase and direction, so that phase and
// peer name it; and nobody waits, by way of whomever, for himself.
// Owner: none.
#pragma once

#include <photon.h>
#include <photon/types.h>

#include <cstdint>
#include <vector>

namespace photon::classic {

// The ranks of a communicator, in its order.
using Members = std::vector<ph_rank>;

struct Step {
  enum class Kind {
    receive,  // what comes is the result from now on
    fold,     // what comes, op our own, is
    send      // the result
  };
  Kind kind;
  std::uint32_t phase;
  ph_rank peer;
};

// Of the member number `own`.
std::vector<Step> schedule_of(photon_coll kind, const Members& members, std::uint32_t own);

}  // namespace photon::classic
