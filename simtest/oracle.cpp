// What the oracle makes of calls and completions. Memory is looked at in oracle_memory.cpp.
#include "simtest/oracle.hpp"

#include <algorithm>
#include <cstring>

namespace photon::simtest {

namespace {

// What a call with this fault, or its completion, must say.
ph_status verdict_of(Fault fault) noexcept {
  switch (fault) {
    case Fault::none: return PH_OK;
    case Fault::no_such_rank: return PH_ERR_RANK;
    case Fault::id_too_long: return PH_ERR_ID_SIZE;
    case Fault::null_memory:
    case Fault::unknown_flag: return PH_ERR_ARGUMENT;
    case Fault::wrong_key:
    case Fault::stale_key: return PH_ERR_KEY;
    case Fault::out_of_range: return PH_ERR_RANGE;
    case Fault::no_access: return PH_ERR_ACCESS;
  }
  return PH_OK;
}

bool is_refused_by_call(Fault fault) noexcept {
  return fault != Fault::none && fault <= Fault::unknown_flag;
}

}  // namespace

Oracle::Oracle(const Program& program, History& history, std::function<std::uint64_t()> now_ns)
    : ranks_(program.ranks),
      lanes_(program.lanes_count()),
      id_max_(option_of(program, "max_cid_size")),
      history_(history),
      now_ns_(std::move(now_ns)),
      own_memories_(program.ranks),
      flows_(std::size_t{program.ranks} * program.ranks * lanes_),
      id_(PH_MAX_ID_BYTES + 1),
      leaving_(std::size_t{program.ranks} * lanes_),
      dead_(program.ranks),
      lost_(std::size_t{program.ranks} * program.ranks) {
  for (ph_rank rank = 0; rank < ranks_; ++rank) memories_.emplace_back(rank, program.window_bytes);
}

void Oracle::report(const char* kind, const std::string& text) {
  if (failed()) return;
  finding_ = Finding{kind, text + ", at " + std::to_string(now_ns()) + " ns"};
  history_.add(now_ns(), ranks_, std::string("FINDING ") + kind + ": " + text);
}

void Oracle::note(const Endpoint& at, const std::string& what) {
  last_event_ns_ = now_ns();
  history_.add(last_event_ns_, at.rank, at.lane == 0 ? what : name_of_lane(at.lane) + ": " + what);
}

Operation& Oracle::begin(const Endpoint& from, const Step& step) {
  const ph_rank rank = from.rank;
  Operation& op = operations_.emplace_back();
  op.number = static_cast<std::uint32_t>(operations_.size());
  op.initiator = rank;
  op.lane = from.lane;
  op.step = &step;
  op.must_fail = verdict_of(step.fault);
  if (!is_put(step)) {
    op.buffer = own_memory(rank).take(op.rows().own_span() + 2 * Operation::kGuardBytes);
    Pattern(Purpose::landing, op.number).fill(op.buffer);
  } else {
    const Rows rows = op.rows();
    op.buffer = own_memory(rank).take(rows.own_span());
    Pattern(Purpose::junk, op.number).fill(op.buffer);
    for (std::uint64_t row = 0; row < rows.count(); ++row)
      Pattern(Purpose::source, op.number)
          .fill(op.buffer.subspan(rows.own_at(rows.first(row)), rows.bytes(row)), rows.first(row));
  }
  return op;
}

// The others may run before the call returns, and see what it has started: so it counts as accepted
// until it says something else.
void Oracle::attempt(Operation& op) {
  op.posted_at = ++events_;
  if (op.target() >= ranks_) return;
  op.fences = flow(op).fences;
  op.link_lost = is_lost(op.initiator, op.target());
  op.target_left = op.link_lost || is_leaving({op.target(), op.lane}) || dead_[op.target()];
  if (is_lent(op.step->area)) {
    const Lease& lease = memories_[op.target()].lease(op.step->area);
    op.generation = lease.generation;
    op.may_fail = false;
    op.must_fail = lease.is_held() || op.size_bytes() == 0 ? PH_OK : PH_ERR_KEY;
  }
  accept(op);
}

void Oracle::expect_status(const Operation& op, ph_status status) {
  if (op.is_alone() && status == PH_ERR_NOT_FOUND && may_lack_way(op)) return;
  if (op.is_alone() && status == PH_OK && !reaches_alone_)
    return report("status", op.text() + ": was accepted, though no way goes without its target");
  if (status == op.must_fail || (status == PH_ERR_KEY && op.may_fail)) return;
  if (is_bye(op, status)) return;
  if (!is_refused_by_call(op.step->fault) && (status == PH_OK || status == PH_AGAIN)) return;
  report("status", op.text() + ": the call said " + std::to_string(status) + ", expected was " +
                       std::to_string(op.must_fail));
}

void Oracle::posted(Operation& op, ph_status status) {
  if (failed()) return;
  note({op.initiator, op.lane}, "post " + op.text() + " = " + std::to_string(status));
  expect_status(op, status);
  if (op.target() >= ranks_) return;
  if (status == PH_OK) {
    return;
  }
  if (op.local_seen || op.remote_seen || op.error_seen)
    return report("unexpected",
                  op.text() + " was completed, though the call said " + std::to_string(status));
  withdraw(op);
}

void Oracle::cancelled(Operation& op) {
  if (failed()) return;
  ++events_;
  note({op.initiator, op.lane}, "cancelled #" + std::to_string(op.number));
  if (op.local_seen || op.remote_seen || op.error_seen || op.landed_at != 0)
    return report("unexpected", op.text() + " was cancelled, though it had gone");
  withdraw(op);
}

void Oracle::accept(Operation& op) {
  op.accepted = true;
  if (!op.complete()) ++pending_;
  Flow& to = flow(op);
  ++to.to_complete;
  if (op.must_fail != PH_OK) return;
  if (op.is_ordered()) to.ordered.push_back(&op);
  if (!op.has(PH_NO_LCE) && op.step->local_id_bytes < kNumberedId) to.short_ids.push_back(&op);
  if (!is_put(*op.step)) {
    if (is_lent(op.step->area)) to.reads.push_back(&op);
    return;
  }
  to.unlanded.push_back(&op);
  if (op.size_bytes() == 0) return;
  if (op.overlaps())
    memories_[op.target()].writes(op.step->area).add(op.number, op.step->offset, op.size_bytes());
}

void Oracle::withdraw(Operation& op) {
  if (!op.complete()) --pending_;
  op.accepted = false;
  Flow& to = flow(op);
  --to.to_complete;
  std::erase(to.ordered, &op);
  std::erase(to.short_ids, &op);
  std::erase(to.unlanded, &op);
  std::erase(to.reads, &op);
  if (!is_put(*op.step)) return;
  // A refused one may have begun.
  if (op.overlaps() && !op.may_fail) memories_[op.target()].writes(op.step->area).remove(op.number);
}

bool Oracle::check_shape(const Endpoint& at, const ph_query& query, const ph_completion& one) {
  const char* wrong = nullptr;
  if (one.kind != PH_LOCAL && one.kind != PH_REMOTE) wrong = "no such kind";
  if ((query.kinds & one.kind) == 0) wrong = "a kind that was not asked for";
  if (one.peer >= ranks_) wrong = "no such peer";
  if (query.peer != PH_ANY_RANK && query.peer != one.peer) wrong = "a peer that was not asked for";
  if (one.id_size_bytes > id_max_) wrong = "an id longer than max_cid_size";
  if ((one.long_id == nullptr) != (one.id_size_bytes <= 8)) wrong = "a long id where none belongs";
  if (one.kind == PH_REMOTE && one.status != PH_OK) wrong = "a remote completion with an error";
  if (wrong == nullptr) return true;
  report("unexpected",
         "rank " + std::to_string(at.rank) + " probed a " + text_of(one) + ": " + wrong);
  return false;
}

void Oracle::completed(const Endpoint& at, const ph_query& query, const ph_completion& one,
                       std::uint64_t others) {
  if (failed()) return;
  ++events_;
  if (!check_shape(at, query, one)) return;
  if (is_nameless(one)) return nameless_error(at, one, others);
  Operation* op = one.id_size_bytes < kNumberedId ? find_short(at, one) : find(at, one);
  if (op == nullptr) return;
  note(at, std::string(one.kind == PH_REMOTE ? "remote" : "local") + " id of #" +
               std::to_string(op->number) + " from " + std::to_string(one.peer) + " = " +
               std::to_string(one.status));
  const bool was_pending = !op->complete();
  if (one.kind == PH_REMOTE)
    remote_done(*op);
  else if (one.status == PH_OK)
    local_done(*op, one);
  else
    local_failed(*op, one);
  if (was_pending && op->complete()) --pending_;
  const Flow& back = flow(at, one.peer);
  if (one.outstanding > back.to_complete)
    report("count", "rank " + std::to_string(at.rank) + ": " + std::to_string(one.outstanding) +
                        " operations to " + std::to_string(one.peer) +
                        " are said to be outstanding, at most " + std::to_string(back.to_complete) +
                        " can be");
}

// Whether the completion's id is the first `size_bytes` of the operation's.
bool Oracle::bears_id(const Operation& op, const ph_completion& one, std::uint32_t size_bytes) {
  const std::span<std::byte> id = std::span(id_).first(std::max(8u, size_bytes));
  std::fill(id.begin(), id.end(), std::byte{0});
  write_id(op.number, one.kind, id.first(size_bytes));
  std::uint64_t word = 0;
  std::memcpy(&word, id.data(), sizeof word);
  if (one.id != word) return false;
  return one.id_size_bytes <= 8 || std::memcmp(one.long_id, id.data(), size_bytes) == 0;
}

// The operation that an id names, with all of the id checked.
Operation* Oracle::find(const Endpoint& at, const ph_completion& one) {
  const ph_rank rank = at.rank;
  const auto marked = static_cast<std::uint32_t>(one.id);
  const std::uint32_t number = marked & ~kRemoteMark;
  const bool is_remote = one.kind == PH_REMOTE;
  const std::string seen = "rank " + std::to_string(rank) + " probed a " + text_of(one);
  if (((marked & kRemoteMark) != 0) != is_remote || number == 0 || number > operations_.size()) {
    report("id", seen + ": that id was never posted");
    return nullptr;
  }
  Operation& op = operations_[number - 1];
  if (!op.accepted || rank != (is_remote ? op.target() : op.initiator) ||
      one.peer != (is_remote ? op.initiator : op.target())) {
    report("unexpected", seen + " of " + op.text() + ": not between these ranks, or not posted");
    return nullptr;
  }
  if (op.lane != at.lane) {
    report("lane", seen + " of " + op.text() + " on " + name_of_lane(at.lane) +
                       ", and it was posted by " + name_of_lane(op.lane));
    return nullptr;
  }
  const std::uint32_t size = is_remote ? op.step->remote_id_bytes : op.step->local_id_bytes;
  // A late refusal brings the first bytes only, as eight.
  const bool is_late =
      one.status != PH_OK && one.id_size_bytes == 8 && bears_id(op, one, std::min(8u, size));
  if (!is_late && (one.id_size_bytes != size || !bears_id(op, one, size))) {
    report("id", seen + ": " + op.text() + " has another id");
    return nullptr;
  }
  return &op;
}

// The first operation that may be meant.
Operation* Oracle::find_short(const Endpoint& at, const ph_completion& one) {
  const ph_rank rank = at.rank;
  const bool is_remote = one.kind == PH_REMOTE;
  Flow& from = is_remote ? flow({one.peer, at.lane}, rank) : flow(at, one.peer);
  auto& queue = is_remote ? from.ordered : from.short_ids;
  for (auto next = queue.begin(); next != queue.end(); ++next) {
    Operation& op = **next;
    const std::uint32_t size = is_remote ? op.step->remote_id_bytes : op.step->local_id_bytes;
    if (one.id_size_bytes != size || !bears_id(op, one, size)) {
      if (is_remote && !op.may_fail) break;  // the order says that this one comes first
      continue;
    }
    if (!is_remote) queue.erase(next);
    return &op;
  }
  const std::string next = is_remote && !queue.empty() ? ", next is " + queue.front()->text() : "";
  report(is_remote ? "order" : "id", "rank " + std::to_string(rank) + " probed a " + text_of(one) +
                                         ": no operation expects that now" + next);
  return nullptr;
}

void Oracle::local_done(Operation& op, const ph_completion& one) {
  const bool is_refused = op.must_fail != PH_OK && (!is_put(*op.step) || op.has(PH_DELIVERED));
  if (op.has(PH_NO_LCE) || op.local_seen || op.error_seen || is_refused) {
    return report(op.local_seen ? "twice" : "unexpected",
                  op.text() + " yields a " + text_of(one) +
                      (op.has(PH_NO_LCE) ? " in spite of its flags"
                       : is_refused      ? " though it must fail"
                                         : " after another local one"));
  }
  op.local_seen = true;
  --flow(op).to_complete;
  std::erase(flow(op).reads, &op);
  if (!is_put(*op.step)) check_destination(op);
  if (is_atomic(*op.step)) check_changed(op);
  if (!is_put(*op.step)) return;
  if (op.has(PH_DELIVERED)) landed(op);
  // The source may be reused from here on.
  if (one.id_size_bytes >= kNumberedId) Pattern(Purpose::junk, op.number).fill(op.buffer);
}

void Oracle::remote_done(Operation& op) {
  const bool was_refused = op.error_seen && !op.link_lost;
  if (op.has(PH_NO_RCE) || op.remote_seen || was_refused || op.must_fail != PH_OK) {
    return report(op.remote_seen ? "twice" : "unexpected",
                  "the remote id of " + op.text() +
                      (op.remote_seen      ? " is probed a second time"
                       : op.has(PH_NO_RCE) ? " is probed in spite of its flags"
                                           : " is probed though it was or must be refused"));
  }
  op.remote_seen = true;
  if (op.is_ordered()) check_order(op);
  if (!failed() && is_atomic(*op.step)) check_changed(op);
  if (failed() || !is_put(*op.step)) return;
  if (op.landed_at == 0)
    landed(op);
  else
    check_landed(op);
}

// Only operations that were refused may stand before it, and those whose fragments a dead rank or a
// lost link took with it.
void Oracle::check_order(Operation& op) {
  auto& ordered = flow(op).ordered;
  while (ordered.front() != &op) {
    Operation& skipped = *ordered.front();
    const bool is_cut = skipped.initiator_died || skipped.link_lost;
    const bool is_gap =
        is_cut && counts_fragments_ && is_put(*skipped.step) && skipped.size_bytes() != 0;
    if (!skipped.may_fail && !skipped.error_seen && !is_gap)
      return report("order",
                    "the remote id of " + op.text() + " overtakes that of " + skipped.text());
    if (is_gap && skipped.initiator_died)
      skipped.error_seen = true;  // in parts, maybe; and it will not be told of
    else if (!skipped.link_lost)
      skipped.must_fail = PH_ERR_KEY;
    ordered.pop_front();
  }
  ordered.pop_front();
}

void Oracle::report_pending() {
  std::string text = std::to_string(pending_) + " operations were never completed:";
  int named = 0;
  for (const Operation& op : operations_) {
    if (op.complete() || ++named > 8) continue;
    text += " " + op.text() + " lacks its";
    if (op.must_fail != PH_OK) text += " error;";
    if (op.must_fail == PH_OK && !op.has(PH_NO_LCE) && !op.local_seen) text += " local id";
    if (op.must_fail == PH_OK && !op.has(PH_NO_RCE) && !op.remote_seen) text += " remote id";
    text += ";";
  }
  report("lost", text);
}

}  // namespace photon::simtest
