// What the oracle makes of ranks that go while others still send to them.
//
//   stays -- leaving(): probes no more, what it has accepted still goes out --> left(): its memory
//   is its own again
//
// To a rank that stays everything comes as always. What goes to the leaver lands or fails, and says
// so to whoever wanted to hear of it.
#include <algorithm>

#include "simtest/oracle.hpp"

namespace photon::simtest {

// A leaver says good-bye to those it has met; the others hear from the bootstrap that it left.
bool Oracle::may_be_gone(ph_rank peer, ph_status status) {
  if (peer == PH_ANY_RANK) {
    for (ph_rank rank = 0; rank < ranks_; ++rank)
      if (may_be_gone(rank, status)) return true;
    return false;
  }
  if (peer >= ranks_) return false;
  return (leaving_[peer] && status == PH_ERR_DEPARTED) || (dead_[peer] && status == PH_ERR_PEER);
}

// The keys of one that leaves are stale before all have read its good-bye.
bool Oracle::is_farewell(const Operation& op, ph_status status) {
  if (op.target() >= ranks_) return false;
  const bool is_stale = leaving_[op.target()] && status == PH_ERR_KEY && op.size_bytes() != 0;
  return is_stale || may_be_gone(op.target(), status);
}

void Oracle::leaving(ph_rank rank) {
  if (failed()) return;
  ++events_;
  note(rank, "leaving");
  leaving_[rank] = true;
  for (Operation& op : operations_) {
    if (op.initiator != rank && op.target() != rank) continue;
    const bool was_pending = !op.complete();
    if (op.initiator == rank) op.initiator_left = true;
    if (op.target() == rank) op.target_left = true;
    if (was_pending && op.complete()) --pending_;
  }
}

void Oracle::left(ph_rank rank, ph_status status) {
  if (failed()) return;
  ++events_;
  note(rank, "left = " + std::to_string(status));
  check_farewell(rank, status);
  for (Operation& op : operations_) {
    if (failed() || op.initiator != rank || !op.accepted) continue;
    // All sources may be reused, all that was asked for has come.
    const bool has_come = !op.target_left && op.must_fail == PH_OK && !op.may_fail;
    if (is_put(*op.step))
      Pattern(Purpose::junk, op.number).fill(op.buffer);
    else if (is_get(*op.step) && has_come && !op.local_seen && !op.error_seen)
      check_destination(op);
  }
  RankMemory& memory = memories_[rank];
  if (memory.lease(Area::arena).is_held()) memory.lease(Area::arena).revoking();
  check_memory(rank);
  memory.seal();
}

// What ph_finalize() of a leaver says: an error that nobody had heard of, if there is one.
void Oracle::check_farewell(ph_rank rank, ph_status status) {
  bool is_known = status == PH_OK;
  for (const Operation& op : operations_) {
    if (op.initiator != rank || !op.accepted || op.error_seen) continue;
    if (status != PH_ERR_DEPARTED && may_fail_with(op, status)) is_known = true;
    const bool has_failed = op.must_fail != PH_OK && !op.target_left;
    if (has_failed && status == PH_OK && flow(rank, op.target()).nameless.empty())
      return report("status",
                    "rank " + std::to_string(rank) +
                        " finalized with PH_OK, though nobody has heard of the error of " +
                        op.text());
  }
  if (!is_known)
    report("status", "rank " + std::to_string(rank) + ": finalize said " + std::to_string(status) +
                         ", and no operation of its has failed so unheard");
}

// What may have landed before its target left, or not, or in parts.
void Oracle::check_mixed(const Operation& op) {
  RankMemory& memory = memories_[op.target()];
  const std::uint64_t begin = op.step->offset;
  for (std::uint64_t i = 0; i < op.size_bytes(); ++i) {
    const std::byte found = memory.window()[begin + i];
    if (found == Pattern(Purpose::source, op.number).at(i)) continue;
    if (memory.window_difference(begin + i, begin + i + 1))
      return report("bytes", "byte " + std::to_string(i) + " of " + op.text() +
                                 " is neither what was there nor what was put");
  }
}

}  // namespace photon::simtest
