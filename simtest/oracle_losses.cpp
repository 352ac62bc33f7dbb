// The oracle judges two ranks that live, and whose link is lost for good.
//
//   whole -- link_lost() --> what was accepted between the two, and what still is, comes or not
//         --> finalized(): everything is accounted for
//
// An operation is accounted for if its target has what it promised there, or if its initiator was
// told of its end: by an error completion of its own, or by ph_finalize(), or by any error since it
// was accepted that names the peer. Where a local id had said PH_OK before, one of ph_flush() or
// ph_finalize() has to have failed as well: who reads ids only, and those, would never know.
#include <algorithm>

#include "simtest/oracle.hpp"

namespace photon::simtest {

void Oracle::link_lost(ph_rank a, ph_rank b) {
  if (failed()) return;
  ++events_;
  note(a, "loses its link to " + std::to_string(b));
  lost_[a * ranks_ + b] = lost_[b * ranks_ + a] = true;
  for (Operation& op : operations_) {
    if (!is_lost(op.initiator, op.target())) continue;
    const bool was_pending = !op.complete();
    op.target_left = op.link_lost = true;
    if (was_pending && op.complete()) --pending_;
  }
}

bool Oracle::is_lost(ph_rank a, ph_rank b) const {
  return a < ranks_ && b < ranks_ && lost_[a * ranks_ + b];
}

// A rank that cuts the other off says why.
bool Oracle::may_be_lost(ph_rank rank, ph_rank peer, ph_status status) const {
  if (status != PH_ERR_PEER && status != PH_ERR_PROTOCOL) return false;
  if (peer != PH_ANY_RANK) return is_lost(rank, peer);
  for (ph_rank other = 0; other < ranks_; ++other)
    if (is_lost(rank, other)) return true;
  return false;
}

void Oracle::told(const Endpoint& at, ph_rank peer) {
  if (is_lost(at.rank, peer)) flow(at, peer).told_at = events_;
}

void Oracle::flush_failed(const Endpoint& at, const ph_error& error) {
  ++events_;
  if (is_lost(at.rank, error.rank)) flow(at, error.rank).flush_failed_at = events_;
}

// Whether its target has seen all of it. Who asked for PH_DELIVERED was told what he asked for:
// that the bytes are there (rma.h); and only he, and who flushes, is told that a region was taken
// back under a put (unregistering.md). Of a put without a remote id the bytes tell; where others
// write too they do not, and nothing is claimed.
bool Oracle::has_arrived(const Operation& op) {
  if (op.may_fail || (op.has(PH_DELIVERED) && op.local_seen)) return true;
  if (!op.has(PH_NO_RCE)) return op.remote_seen;
  if (!is_put(*op.step)) return op.local_seen || op.has(PH_NO_LCE);
  if (op.landed_at != 0 || op.step->area != Area::window || op.must_fail != PH_OK) return true;
  const Rows rows = op.rows();
  for (std::uint64_t row = 0; row < rows.count(); ++row) {
    const std::uint64_t first = rows.first(row);
    const auto bytes = memories_[op.target()].window().subspan(rows.far_at(first), rows.bytes(row));
    if (Pattern(Purpose::source, op.number).difference(bytes, first)) return false;
  }
  return true;
}

bool Oracle::was_told_of(const Operation& op) {
  if (op.error_seen) return true;
  const Flow& to = flow(op);
  const bool has_failed_flush = to.flush_failed_at > op.posted_at;
  return op.local_seen ? has_failed_flush : has_failed_flush || to.told_at > op.posted_at;
}

bool Oracle::was_told_since(const Endpoint& at, ph_rank peer, std::uint64_t event) {
  const Flow& to = flow(at, peer);
  return to.told_at > event || to.flush_failed_at > event;
}

void Oracle::finalized(ph_rank rank, ph_status status, const ph_error& error) {
  if (failed()) return;
  ++events_;
  if (status != PH_OK) {
    note(rank, "finalized = " + std::to_string(status));
    const bool is_dead = status == PH_ERR_PEER && error.rank < ranks_ && dead_[error.rank];
    if (is_dead || (error.rank != PH_ANY_RANK && may_be_lost(rank, error.rank, status))) return;
    return report("status", "rank " + std::to_string(rank) + ": finalize said " +
                                std::to_string(status) + " of rank " + std::to_string(error.rank));
  }
  for (const Operation& op : operations_) {
    if (op.initiator != rank || !op.accepted || !op.link_lost) continue;
    if (has_arrived(op) || was_told_of(op)) continue;
    return report("silent", op.text() + " was accepted" +
                                (op.local_seen ? ", its local id said PH_OK" : "") +
                                ", and never came: its link was lost, and nobody was told, " +
                                "not by ph_finalize() either");
  }
}

}  // namespace photon::simtest
