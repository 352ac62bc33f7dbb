// What the oracle makes of ranks that go while others still send to them, and of lanes that are
// closed so.
//
//   stays -- leaving(): probes no more, what it has accepted still goes out --> left(): its memory
//   is its own again
//
// To a rank that stays everything comes as always. What goes to the leaver lands or fails, and says
// so to whoever wanted to hear of it. Who closes a lane goes from that lane only, and its memory
// stays shown.
#include <algorithm>
#include <utility>

#include "simtest/oracle.hpp"

namespace photon::simtest {

// A leaver says bye to those it has met; the others hear from the bootstrap that it left.
bool Oracle::may_be_gone(const Endpoint& peer, ph_status status) {
  if (peer.rank == PH_ANY_RANK) {
    for (ph_rank rank = 0; rank < ranks_; ++rank)
      if (may_be_gone({rank, peer.lane}, status)) return true;
    return false;
  }
  if (peer.rank >= ranks_) return false;
  return (is_leaving(peer) && status == PH_ERR_DEPARTED) ||
         (dead_[peer.rank] && status == PH_ERR_PEER);
}

// The keys of one that leaves are stale before all have read its bye.
bool Oracle::is_bye(const Operation& op, ph_status status) {
  if (op.target() >= ranks_) return false;
  const bool is_stale = is_leaving(op.target()) && status == PH_ERR_KEY && op.size_bytes() != 0;
  return is_stale || may_be_gone({op.target(), op.lane}, status) ||
         may_be_lost(op.initiator, op.target(), status);
}

void Oracle::leaving(const Endpoint& end) {
  if (failed()) return;
  ++events_;
  note(end, "leaving");
  leaving_[end.rank * lanes_ + end.lane] = true;
  for (Operation& op : operations_) {
    const bool was_pending = !op.complete();
    if (op.is_from(end)) op.initiator_left = true;
    if (op.is_to(end)) op.target_left = true;
    if (was_pending && op.complete()) --pending_;
  }
}

void Oracle::left(const Endpoint& end, ph_status status, bool is_explained) {
  if (failed()) return;
  ++events_;
  note(end, "left = " + std::to_string(status));
  check_bye(end, status, is_explained);
  for (Operation& op : operations_) {
    if (failed() || !op.is_from(end) || !op.accepted || std::exchange(op.is_closed, true)) continue;
    // All sources may be reused, all that was asked for has come.
    const bool has_come = !op.target_left && op.must_fail == PH_OK && !op.may_fail;
    if (is_put(*op.step))
      Pattern(Purpose::junk, op.number).fill(op.buffer);
    else if (is_get(*op.step) && has_come && !op.local_seen && !op.error_seen)
      check_destination(op);
  }
  if (end.lane != 0) return;
  RankMemory& memory = memories_[end.rank];
  if (memory.lease(Area::arena).is_held()) memory.lease(Area::arena).revoking();
  check_memory(end.rank);
  memory.seal();
}

// What ph_finalize() of a leaver says, or ph_lane_close(): an error that nobody had heard of, if
// there is one.
void Oracle::check_bye(const Endpoint& end, ph_status status, bool is_explained) {
  const std::string whose = "rank " + std::to_string(end.rank) +
                            (end.lane == 0 ? "" : ", " + name_of_lane(end.lane)) + ": ";
  // The call may tell here that a dead peer had not read all that was sent to it.
  const bool is_death =
      status == PH_ERR_PEER && std::find(dead_.begin(), dead_.end(), true) != dead_.end();
  bool is_known = status == PH_OK || is_explained || is_death;
  for (const Operation& op : operations_) {
    if (!op.is_from(end) || !op.accepted || op.error_seen || op.is_closed) continue;
    if (status != PH_ERR_DEPARTED && may_fail_with(op, status)) is_known = true;
    // One whose region was taken back on its way is refused where it arrives, and not waited for.
    const bool has_failed = op.must_fail != PH_OK && !op.may_fail && !op.target_left;
    if (has_failed && status == PH_OK && flow(op).nameless.empty())
      return report("status", whose + "ended with PH_OK, though nobody has heard of the error of " +
                                  op.text());
  }
  if (!is_known)
    report("status", whose + "its end said " + std::to_string(status) +
                         ", and no operation of its has failed so unheard");
}

// What may have landed before its target left, or not, or in parts.
void Oracle::check_mixed(const Operation& op) {
  RankMemory& memory = memories_[op.target()];
  const Rows rows = op.rows();
  for (std::uint64_t at = op.step->offset; at < op.step->offset + rows.far_span(); ++at) {
    const auto index = rows.index_at(at);
    if (index && memory.window()[at] == Pattern(Purpose::source, op.number).at(*index)) continue;
    if (memory.window_difference(at, at + 1))
      return report("bytes", "offset " + std::to_string(at - op.step->offset) + " of " + op.text() +
                                 " holds neither what was there nor what was put");
  }
}

}  // namespace photon::simtest
