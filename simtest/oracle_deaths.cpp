// What the oracle makes of ranks that die.
//
//   lives -- died(): it will probe nothing and post nothing, and was told of nothing more
//
// What it had posted comes whole or not at all, in its order, and no operation of others waits for
// it. What was accepted towards it ends once for its initiator, by PH_OK or by PH_ERR_PEER; where
// PH_OK means "landed", the bytes lie in its memory, which nobody reuses.
#include "simtest/oracle.hpp"

namespace photon::simtest {

void Oracle::died(ph_rank rank) {
  if (failed()) return;
  ++events_;
  note(rank, "died");
  dead_[rank] = true;
  for (Operation& op : operations_) {
    if (op.initiator != rank && op.target() != rank) continue;
    const bool was_pending = !op.complete();
    if (op.initiator == rank) op.initiator_died = true;
    if (op.target() == rank) op.target_left = true;
    if (was_pending && op.complete()) --pending_;
  }
}

void Oracle::named(const Endpoint& at, ph_rank peer, const ph_error& error) {
  ++events_;
  const bool is_dead = error.rank < ranks_ && dead_[error.rank] && error.status == PH_ERR_PEER;
  const bool is_gone = is_dead || may_be_lost(at.rank, error.rank, error.status);
  if (is_gone && error.rank != PH_ANY_RANK && (peer == PH_ANY_RANK || error.rank == peer))
    return told(at, error.rank);
  report("status", "rank " + std::to_string(at.rank) + ": a call that concerns rank " +
                       std::to_string(peer) + " said PH_ERR_PEER, but its error names rank " +
                       std::to_string(error.rank) + ", status " + std::to_string(error.status) +
                       ": " + error.text);
}

}  // namespace photon::simtest
