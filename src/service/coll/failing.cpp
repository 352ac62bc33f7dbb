// How operations and teams come to an early end, and how all members hear of it.
//
// Word of a failure goes to the neighbours in a circulant graph, numbers at distance 1, 2, 4 ... in
// both directions, each of whom passes it on once: it reaches all that live in log n steps, though
// others die. A team of a few is a graph of all with all.
#include <algorithm>

#include "service/coll/runner.hpp"

namespace photon::service::coll {

void Runner::check(Operation& op, ph_status status, std::uint32_t member) {
  if (status == PH_OK || op.state != OpState::running) return;
  Blame why;
  why.status = status;
  why.member = member;
  why.own = op.plan.described;
  why.own.member = op.team->own;
  fail(op, why);
}

void Runner::fail(Operation& op, const Blame& why) {
  if (op.state != OpState::running) return;
  Team& team = *op.team;
  if (team.told(op.channel, op.sequence) == nullptr) {
    spread(team, Op::failed, {0, team.number, op.channel, op.sequence, 0}, why);
    team.note_told({op.channel, op.sequence, why});  // last: a turn tries again without memory
  }
  op.state = OpState::failing;
  op.blame = why;
  if (why.own.kind == 0) {  // of a team, not of an operation
    op.blame.own = op.plan.described;
    op.blame.own.member = team.own;
  }
  drop_early(op);
  if (op.is_with_provider) port_.wants_run();
  settle(op);
}

void Runner::drop_early(Operation& op) {
  early_.take_all(op.early, [&](const Arrival& what) {
    refuse(*op.team, name_at(*op.team, what.member, op, what.tag), what);
  });
}

void Runner::spread(Team& team, Op what, const Name& name, const Blame& why) {
  const std::uint32_t size = team.size();
  const auto tell = [&](std::uint32_t member) {
    Name theirs = name;
    theirs.slot = team.members[member].slot;
    static_cast<void>(post_.blame(team.members[member].rank, what, theirs, why));
  };
  for (std::uint32_t distance = 1; distance < size; distance *= 2) {
    tell((team.own + distance) % size);
    if (2 * distance != size) tell((team.own + size - distance) % size);
  }
}

// The member's call is another one: it is asked, and says what all are told.
void Runner::ask(Operation& op, std::uint32_t member) {
  if (op.asks) return;
  op.asks = true;
  const Name name = name_at(*op.team, member, op, 0);
  check(op, say_differs(*op.team, name, op.plan.described, member), member);
}

ph_status Runner::say_differs(const Team& team, const Name& name, const Described& call,
                              std::uint32_t member) {
  Blame ours;
  ours.status = PH_ERR_ARGUMENT;
  ours.member = team.own;
  ours.own = call;
  ours.own.member = team.own;
  return post_.blame(team.members[member].rank, Op::differs, name, ours, team.slot);
}

// The number of the call is compared, too.
void Runner::number(Operation& op) noexcept {
  op.plan.described.channel = op.channel;
  op.plan.described.number = op.sequence + 1;
  op.plan.digest = digest_of(op.plan.described);
}

// What has come before it was begun is compared at once. With coll_check, and of what a provider
// does, each member tells the next of the team what it has begun: so those that would wait for each
// other in vain hear of it. Beyond the grant a note goes, and the operation is not over before the
// next member has begun it.
void Runner::check_digests(Operation& op) {
  const Arrival* const other =
      early_.find(op.early, [&](const Arrival& one) { return one.digest != op.plan.digest; });
  if (other != nullptr) ask(op, other->member);
  if (op.state != OpState::running) return;  // and it may be gone
  Team& team = *op.team;
  const bool is_told = (op.plan.described.flags & (kCheckedFlag | kProvidedFlag)) != 0;
  if (!is_told || team.size() == 1) return;
  const std::uint32_t before = (team.own + team.size() - 1) % team.size();
  const auto answer = [&](const Arrival& what) {  // it may be waited for
    refuse(team, name_at(team, before, op, kCheckTag), what, PH_OK);
  };
  if (!early_.take(op.early, before, kCheckTag, answer))
    team.uncompared.add(op.channel, op.sequence, op.plan.described);
  schedule::Step step;
  step.action = schedule::Action::send;
  step.peer = (team.own + 1) % team.size();
  step.tag = kCheckTag;
  send(op, step);
}

// False: this member has sent nothing that could differ.
bool Runner::differs(Team& team, const Name& name, const Blame& theirs, std::uint32_t member) {
  if (!team.was_begun(name.channel, name.sequence)) return false;
  Blame why = theirs;
  const Described* const own = team.call_of(name.channel, name.sequence);
  why.other = own != nullptr ? *own : Described{};
  if (own == nullptr) why.other.kind = kForgottenKind;
  why.other.member = team.own;
  Operation* const op = team.under_way(name.channel, name.sequence);
  if (op != nullptr) fail(*op, why);
  const bool is_near = !team.is_far(name.channel, name.sequence);
  if (is_near && team.told(name.channel, name.sequence) == nullptr) {
    team.note_told({name.channel, name.sequence, why});
    spread(team, Op::failed, name, why);
  }
  Name answer = name;
  answer.slot = team.members[member].slot;
  static_cast<void>(post_.blame(team.members[member].rank, Op::failed, answer, why));
  return true;
}

// Who passes a word on need not have made it: what is too far ahead here is not its fault.
void Runner::failed(Team& team, const Name& name, const Blame& why) {
  if (Operation* const op = team.under_way(name.channel, name.sequence); op != nullptr) {
    fail(*op, why);
    return;
  }
  if (team.told(name.channel, name.sequence) != nullptr) return;
  const bool was_begun = team.is_freed || team.was_begun(name.channel, name.sequence);
  if (was_begun && team.is_far(name.channel, name.sequence)) return;
  EarlyPool::List* const list = was_begun ? nullptr : early_of(team, name.channel, name.sequence);
  if (list == nullptr && !was_begun) return;
  team.note_told({name.channel, name.sequence, why});
  spread(team, Op::failed, name, why);
  if (was_begun && name.channel == 0) ends_.failed_elsewhere(team, name.sequence, why);
  if (was_begun) return;
  early_.take_all(*list, [&](const Arrival& what) { refuse(team, name, what); });
}

// This member was refused its next operation of that order, since another has left; those that have
// begun it hear of that, and refuse more themselves. Before they do they may have begun as many as
// their window holds.
void Runner::decline(Team& team, std::uint32_t channel) {
  Channel& order = *team.channels.find(channel);
  if (order.declined == (channel == 0 ? team.window.size() : 1)) return;
  const Name name{0, team.number, channel, order.begun, 0};
  if (team.told(channel, order.begun) == nullptr) {
    spread(team, Op::failed, name, team.broken);
    team.note_told({channel, order.begun, team.broken});
  }
  ++order.begun;
  ++order.declined;
  if (order.early.empty()) return;
  EarlyPool::List list = order.early.front();
  order.early.pop();
  early_.take_all(list, [&](const Arrival& what) { refuse(team, name, what); });
}

// Members that are lost answer no notes: what they could read is the kernel's and the NIC's to
// end. A member that has left in order has sent all that it will, so that only those operations
// fail that wait for more of it (receive(), send()); a dead one ends them all.
void Runner::break_all(Team& team) {
  const bool is_dead = team.broken.status != PH_ERR_DEPARTED;
  if (is_dead && !team.has_spread) spread(team, Op::broken, {0, team.number, 0, 0, 0}, team.broken);
  team.has_spread = team.has_spread || is_dead;
  drop_unbegun(team);
  for (std::size_t at = 0; at < all_.size(); ++at) {
    Operation& op = *all_[at];
    if (op.team != &team || !op.is_under_way()) continue;
    std::erase_if(op.sent, [&](SentNote& note) {
      if (port_.state(team.members[note.member].rank) == PH_OK) return false;
      port_.conceal(note.exposed);
      return true;
    });
    if (is_dead)
      fail(op, team.broken);
    else
      check_waiting(op);
    if (op.is_under_way()) advance(op);
  }
}

// Whether a receive of this phase waits for a member that is gone.
void Runner::check_waiting(Operation& op) {
  if (op.way != Way::messages) return lines_.check_lost(op);
  for (std::uint32_t i = 0; i < op.step && op.state == OpState::running; ++i) {
    const schedule::Step& step = op.phase.steps[i];
    if (step.action != schedule::Action::receive || op.states[i] != StepState::waiting) continue;
    check(op, port_.state(op.team->members[step.peer].rank), step.peer);
    if (op.state == OpState::running) ask_begun(op, step.peer);
  }
}

void Runner::give_up(Team& team) {
  for (std::size_t at = 0; at < all_.size(); ++at)
    if (all_[at]->team == &team) check(*all_[at], PH_ERR_DEPARTED, team.own);
}

void Runner::drop_team(Team& team) {
  team.channels.each([&](std::uint32_t number, Channel&) { drop_channel(team, number); });
}

void Runner::drop_channel(Team& team, std::uint32_t number) {
  Channel* const found = team.channels.find(number);
  if (found == nullptr) return;
  Channel& channel = *found;
  tell_late(team, number, channel);
  lines_.drop(channel);
  for (std::uint32_t i = 0; !channel.early.empty(); channel.early.pop(), ++i) {
    const Name name{0, team.number, number, channel.begun + i, 0};
    early_.take_all(channel.early.front(), [&](const Arrival& what) {
      check_late(team, name, what.member, what.digest);
      refuse(team, name, what, PH_ERR_STATE);
    });
  }
}

std::string text_of(const Blame& why, const Team& team) {
  const auto named = [&](std::uint32_t member) {
    const std::string rank =
        member < team.size() ? std::to_string(team.members[member].rank) : std::string("?");
    return "member " + std::to_string(member) + " (rank " + rank + ")";
  };
  if (why.own.kind == kChoicesKind)
    return named(why.own.member) + " and " + named(why.other.member) +
           " choose algorithms differently: the settings coll_table and coll_<kind> have to be the "
           "same on all ranks, and so has what their bootstrap says of hosts";
  if (why.own.kind == kFreedKind || why.other.kind == kFreedKind) {
    const bool is_own = why.own.kind == kFreedKind;
    const Described& call = is_own ? why.other : why.own;
    const Described& freed = is_own ? why.own : why.other;
    return named(call.member) + " has begun " + (call.kind == 0 ? "more" : text_of(call)) +
           ", and " + named(freed.member) + " " + text_of(freed);
  }
  const std::string what = text_of(why.own);
  if (why.status != PH_ERR_ARGUMENT)
    return what + ": " + named(why.member) + ": " +
           ph_status_text(static_cast<ph_status>(why.status));
  if (why.other.kind == 0)
    return what + ": failed at " + named(why.member) + ", by a function or an argument there";
  return named(why.own.member) + " has begun " + what + ", and " + named(why.other.member) + " " +
         text_of(why.other) + ", as the same operation of their team" +
         difference_of(why.own, why.other);
}

}  // namespace photon::service::coll
