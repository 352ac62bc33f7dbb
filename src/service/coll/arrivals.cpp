// How a step sends and takes: payloads, notes, and reads of the bytes that a note names.
#include <algorithm>
#include <cstring>

#include "service/coll/runner.hpp"

namespace photon::service::coll {

// Within the grant its bytes go at once, and the step is over. Else its receiver reads them.
void Runner::send(Operation& op, const schedule::Step& step) {
  Team& team = *op.team;
  const Rank to = team.members[step.peer].rank;
  const std::span<const std::byte> bytes(op.at(step.from), step.from.count * op.plan.element_bytes);
  const Head head{0, name_at(team, step.peer, op, step.tag), op.plan.digest};
  if (post_.take_grant(to, bytes.size())) {
    const ph_status status = post_.payload(to, head, bytes);
    return check(op, status, status == PH_ERR_MEMORY ? team.own : step.peer);
  }
  op.sent.push_back({step.peer, step.tag, {}});
  try {
    const auto [status, whose] = send_note(op, step, head, bytes);
    if (status == PH_OK) return;
    take_back_note(op);
    check(op, status, whose);
  } catch (const std::bad_alloc&) {  // nobody will answer what was not sent
    take_back_note(op);
    throw;
  }
}

// How it went, and whose fault it is.
std::pair<ph_status, std::uint32_t> Runner::send_note(Operation& op, const schedule::Step& step,
                                                      const Head& head,
                                                      std::span<const std::byte> bytes) {
  const Team& team = *op.team;
  Exposed& exposed = op.sent.back().exposed;
  if (!bytes.empty())
    if (const ph_status status = port_.expose(bytes, PH_ACCESS_READ, exposed); status != PH_OK)
      return {status, team.own};
  return {post_.note(team.members[step.peer].rank, head, exposed.target, bytes.size(), team.slot),
          step.peer};
}

void Runner::take_back_note(Operation& op) noexcept {
  port_.conceal(op.sent.back().exposed);
  op.sent.pop_back();
}

void Runner::receive(Operation& op, std::uint32_t index) {
  const schedule::Step& step = op.phase.steps[index];
  op.states[index] = StepState::waiting;
  ++op.receives_left;
  const bool has_come = early_.take(op.early, step.peer, step.tag,
                                    [&](const Arrival& what) { land(op, index, what); });
  if (has_come || op.team->broken.status == PH_OK) return;
  check(op, port_.state(op.team->members[step.peer].rank), step.peer);
  if (op.state == OpState::running) ask_begun(op, step.peer);
}

void Runner::retry(Operation& op) {
  op.retries = false;
  for (std::uint32_t i = 0; i < op.step && op.state == OpState::running; ++i) {
    const schedule::Step& step = op.phase.steps[i];
    if (step.action != schedule::Action::receive || op.states[i] != StepState::waiting) continue;
    early_.take(op.early, step.peer, step.tag, [&](const Arrival& what) { land(op, i, what); });
  }
}

void Runner::arrive(Team& team, Operation* op, const Head& head, const Arrival& what) {
  if (op != nullptr && op->state == OpState::running) {
    if (what.tag == kCheckTag) team.uncompared.drop(op->channel, op->sequence);
    if (what.digest != op->plan.digest) {  // also where no step waits for it
      ask(*op, what.member);
      return refuse(team, head.name, what);
    }
    if (what.tag == kCheckTag) return refuse(team, head.name, what, PH_OK);  // it has told all
    for (std::uint32_t i = 0; i < op->step; ++i) {
      const schedule::Step& step = op->phase.steps[i];
      if (step.action != schedule::Action::receive || step.peer != what.member ||
          step.tag != what.tag || op->states[i] != StepState::waiting)
        continue;
      land(*op, i, what);
      return advance(*op);
    }
    return early_.add(op->early, what);
  }
  const std::uint32_t sequence = head.name.sequence;
  const std::uint32_t channel = head.name.channel;
  const bool is_over =
      op != nullptr || team.told(channel, sequence) != nullptr || team.was_begun(channel, sequence);
  const bool has_failed =
      op != nullptr || team.told(channel, sequence) != nullptr || team.broken.status != PH_OK;
  if (is_over && op == nullptr) check_late(team, head.name, what.member, what.digest);
  if (is_over && what.tag == kCheckTag) return refuse(team, head.name, what, PH_OK);
  if (is_over || team.broken.status != PH_OK)
    return refuse(team, head.name, what, has_failed ? PH_ERR_ARGUMENT : PH_ERR_STATE);
  EarlyPool::List* const list = early_of(team, channel, sequence);
  if (list == nullptr)
    return port_.cut_off(team.members[what.member].rank, "it is too many collectives ahead");
  early_.add(*list, what);
}

// A message that no step will take. PH_ERR_ARGUMENT: the operation has failed here, and word of it
// is on its way to all; PH_ERR_STATE: it is over without this message.
void Runner::refuse(Team& team, const Name& name, const Arrival& what, ph_status why) {
  const Member& from = team.members[what.member];
  if (!what.is_note) return post_.spent(from.rank, what.size_bytes);
  const Name theirs{from.slot, team.number, name.channel, name.sequence, what.tag};
  static_cast<void>(post_.answer(from.rank, theirs, why));
}

bool Runner::is_right(Operation& op, const schedule::Step& step, const Arrival& what) {
  if (what.digest != op.plan.digest) {
    ask(op, what.member);
    return false;
  }
  const std::uint64_t room = step.to.count * op.plan.element_bytes;
  const bool is_told = op.plan.told_counts != nullptr && step.block != schedule::kNoBlock;
  const bool fits = is_told
                        ? what.size_bytes <= room && what.size_bytes % op.plan.element_bytes == 0
                        : what.size_bytes == room;
  if (fits) {
    if (is_told) op.plan.told_counts[step.block] = what.size_bytes / op.plan.element_bytes;
    return true;
  }
  Blame why;
  why.status = PH_ERR_ARGUMENT;
  why.member = op.team->own;
  why.own = op.plan.described;
  why.own.member = op.team->own;
  why.other = why.own;
  why.other.member = what.member;
  why.own.count = room / op.plan.element_bytes;
  why.other.count = what.size_bytes / op.plan.element_bytes;
  fail(op, why);
  return false;
}

void Runner::land(Operation& op, std::uint32_t index, const Arrival& what) {
  const schedule::Step& step = op.phase.steps[index];
  Team& team = *op.team;
  const Name name = name_at(team, what.member, op, what.tag);
  if (op.state != OpState::running || !is_right(op, step, what)) return refuse(team, name, what);
  const Rank from = team.members[what.member].rank;
  if (what.is_note && what.size_bytes != 0) return pull(op, index, what);
  if (what.is_note)
    check(op, post_.answer(from, name, PH_OK), what.member);
  else if (what.size_bytes != 0)
    std::memcpy(op.at(step.to), what.bytes, what.size_bytes);
  if (!what.is_note) post_.spent(from, what.size_bytes);
  landed(op, index);
}

void Runner::landed(Operation& op, std::uint32_t index) noexcept {
  op.states[index] = StepState::landed;
  --op.receives_left;
}

void Runner::pull(Operation& op, std::uint32_t index, const Arrival& what) {
  const schedule::Step& step = op.phase.steps[index];
  const Rank from = op.team->members[what.member].rank;
  Port::Fetch fetch;
  fetch.from = what.target;
  fetch.to = {op.at(step.to), what.size_bytes};
  fetch.token = std::uint64_t{op.place} * schedule::Phase::kMostSteps + index;
  std::uint64_t handle = 0;
  op.states[index] = StepState::pulling;
  ++op.pulls;
  ph_status status = PH_ERR_MEMORY;
  try {
    status = port_.get(from, fetch, handle);
  } catch (const std::bad_alloc&) {  // nothing was begun
  }
  if (status == PH_OK) return;
  --op.pulls;
  op.states[index] = StepState::waiting;
  if (status == PH_AGAIN) {
    early_.add(op.early, what);
    op.retries = true;
    return want_turn(op);
  }
  refuse(*op.team, name_at(*op.team, what.member, op, what.tag), what);
  check(op, status, status == PH_ERR_MEMORY ? op.team->own : what.member);
}

// Our memory is our own again. False: it is not known.
bool Runner::taken(Team& team, Operation& op, std::uint32_t member, const Head& head) {
  const auto at = std::find_if(op.sent.begin(), op.sent.end(), [&](const SentNote& note) {
    return note.member == member && note.tag == head.name.tag;
  });
  if (at == op.sent.end()) return false;
  port_.conceal(at->exposed);
  *at = op.sent.back();
  op.sent.pop_back();
  const bool is_data = head.name.tag != kCheckTag;
  if (is_data && static_cast<std::int32_t>(head.digest) == PH_ERR_STATE) {
    Blame why;
    why.status = PH_ERR_ARGUMENT;
    why.member = member;
    why.own = op.plan.described;
    why.own.member = team.own;
    fail(op, team.broken.status != PH_OK ? team.broken : why);
  }
  advance(op);
  return true;
}

}  // namespace photon::service::coll
