// What the oracle makes of errors: whose they are, and whether they may be.
#include <algorithm>

#include "simtest/oracle.hpp"

namespace photon::simtest {

std::string text_of(const ph_completion& one) {
  return std::string(one.kind == PH_REMOTE ? "remote" : "local") + " completion of peer " +
         std::to_string(one.peer) + ", status " + std::to_string(one.status) + ", id " +
         std::to_string(one.id) + " of " + std::to_string(one.id_size_bytes) + " bytes";
}

// Nobody reaches itself so in a simulation; and a rank that goes is out of reach before all have
// heard of it.
bool Oracle::may_lack_way(const Operation& op) {
  const ph_rank target = op.target();
  if (!reaches_alone_ || target == op.initiator || target >= ranks_) return true;
  return is_leaving({target, op.lane}) || dead_[target] || is_lost(op.initiator, target);
}

bool Oracle::may_fail_with(const Operation& op, ph_status status) {
  if (is_bye(op, status)) return true;
  // The way to a rank that goes may be found gone before its end is known.
  const bool is_goer = op.target() != op.initiator && may_lack_way(op);
  if (op.is_alone() && status == PH_ERR_SYSTEM && is_goer && reaches_alone_) return true;
  return status != PH_OK && status == (op.may_fail ? PH_ERR_KEY : op.must_fail);
}

void Oracle::local_failed(Operation& op, const ph_completion& one) {
  const bool is_bye_now = is_bye(op, one.status);
  // The data has landed: that is not taken back, but the id may be lost with a rank that leaves.
  // A dead target takes with it the news that all had come, and so does a lost link; that a ledger
  // has room for a notice is no word of what becomes of it then.
  const bool is_death = is_bye_now && (one.status == PH_ERR_PEER || op.link_lost);
  const bool is_final = (op.has(PH_NOTICE_ACCEPTED) && !is_death) || op.has(PH_DELIVERED) ||
                        (!is_bye_now && !is_put(*op.step));
  const bool is_second = op.error_seen || (op.local_seen && is_final);
  const bool was_done = (op.remote_seen && !is_death) || (op.landed_at != 0 && !is_bye_now);
  if (is_second || was_done || !may_fail_with(op, one.status)) {
    return report(is_second ? "twice" : "status",
                  op.text() + " yields a " + text_of(one) + ", expected status " +
                      std::to_string(op.may_fail ? PH_ERR_KEY : op.must_fail) +
                      (is_second ? ", after another one" : "") +
                      (was_done ? ", but it had landed" : ""));
  }
  op.error_seen = true;
  told({op.initiator, op.lane}, op.target());
  Flow& to = flow(op);
  if (!op.local_seen) --to.to_complete;
  if (!op.link_lost) std::erase(to.ordered, &op);  // else it may have come
  std::erase(to.unlanded, &op);
  std::erase(to.reads, &op);
  if (!is_put(*op.step)) check_destination(op);
}

// Three kinds of operations lose their names. A refusal read a lap of the ring after its put: the
// library does not know any more whose it is (engine/parts/peer.hpp, Unchecked). A notification
// that its target did not wait for: it has no local id. What a lost link or a dead target took with
// it, and has none. Each stands for one of those that can be meant.
bool Oracle::can_be_meant(const Operation& op, const Endpoint& at, const ph_completion& one) {
  if (op.initiator != at.rank || op.lane != at.lane) return false;
  if (op.target() != one.peer || op.error_seen) return false;
  const bool is_lost = op.link_lost || dead_[op.target()];
  const bool is_silent = op.has(PH_NO_LCE) || acting_verb(*op.step) == Verb::notify;
  if (is_lost && is_bye(op, one.status)) return op.accepted && is_silent;
  if (acting_verb(*op.step) == Verb::notify)
    return op.accepted && !op.remote_seen && is_bye(op, one.status);
  return op.may_be_refused() && one.status == (op.may_fail ? PH_ERR_KEY : op.must_fail);
}

// As many of them as can have failed so, and no more, may have come in all.
void Oracle::nameless_error(const Endpoint& at, const ph_completion& one, std::uint64_t others) {
  note(at, "nameless error " + std::to_string(one.status) + " from " + std::to_string(one.peer));
  const auto able = static_cast<std::uint64_t>(
      std::count_if(operations_.begin(), operations_.end(),
                    [&](const Operation& op) { return can_be_meant(op, at, one); }));
  if (++flow(at, one.peer).all_nameless[one.status] > able + others)
    return report("unexpected", "rank " + std::to_string(at.rank) + " probed a " + text_of(one) +
                                    ": no operation of its can have failed so");
  told(at, one.peer);  // whatever it is of, it names the peer
  std::uint32_t& seen = flow(at, one.peer).nameless[one.status];
  if (seen >= able) return;
  ++seen;
  const bool is_refusal =
      one.status == PH_ERR_KEY || one.status == PH_ERR_RANGE || one.status == PH_ERR_ACCESS;
  if (is_refusal) ++nameless_;
}

bool Oracle::may_revoke(ph_rank rank) const noexcept {
  return std::none_of(operations_.begin(), operations_.end(), [rank](const Operation& op) {
    const bool is_there = op.target() == rank && op.step->area == Area::extra;
    const bool has_ended = op.local_seen || op.remote_seen || op.error_seen || op.landed_at != 0;
    return is_there && op.size_bytes() != 0 && !has_ended;
  });
}

// What is pending may be what nameless refusals stand for.
bool Oracle::is_settled() {
  if (pending_ == 0 || pending_ > nameless_) return pending_ == 0;
  std::vector<std::map<ph_status, std::uint32_t>> missing(flows_.size());
  for (const Operation& op : operations_) {
    if (op.complete()) continue;
    const std::size_t at = index_of({op.initiator, op.lane}, op.target());
    const ph_status status = op.may_fail ? PH_ERR_KEY : op.must_fail;
    const auto& nameless = flows_[at].nameless;
    const auto known = nameless.find(status);
    if (!op.may_be_refused() || known == nameless.end() || ++missing[at][status] > known->second)
      return false;
  }
  return true;
}

}  // namespace photon::simtest
