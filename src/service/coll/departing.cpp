// Members that have left in order, and operations that others will never begin because of it.
//
// Who knows that a member has left begins nothing more on the team, and says so when it is asked to
// (spread_left). An operation that was begun before may need nothing of the one that has left, and
// then it goes on; but it may wait for a member that has not begun it and never will. So it asks
// each member that it waits for:
//
//   lacks --> the other knows now that a member has left: what it has begun by now is all
//         <-- never, if this operation is not of it; else nothing: its messages come, or word that
//             the operation has failed there
//
// Messages keep their order between two ranks: what was sent is here before a `never`.
#include "service/coll/runner.hpp"

namespace photon::service::coll {

void Runner::spread_left(Team& team) {
  if (team.broken.status != PH_ERR_DEPARTED || team.has_spread_left) return;
  team.has_spread_left = true;
  try {
    spread(team, Op::broken, {0, team.number, 0, 0, 0}, team.broken);
  } catch (const std::bad_alloc&) {  // whoever is asked to begin something next says it
    team.has_spread_left = false;
    throw;
  }
}

void Runner::ask_begun(Operation& op, std::uint32_t member) {
  const Team& team = *op.team;
  check(op,
        post_.blame(team.members[member].rank, Op::lacks, name_at(team, member, op, 0), team.broken,
                    team.slot),
        member);
}

// The team is known to be broken here.
void Runner::lacks(Team& team, const Name& name, const Blame& why, std::uint32_t member) {
  const bool was_begun = team.was_begun(name.channel, name.sequence);
  const Told* const told = team.told(name.channel, name.sequence);
  Described freed;
  const bool is_freed = team.is_freed_before(name.channel, name.sequence, freed);
  if (was_begun && told == nullptr && !is_freed) return;
  Name theirs = name;
  theirs.slot = team.members[member].slot;
  static_cast<void>(post_.blame(team.members[member].rank, Op::never, theirs,
                                told != nullptr ? told->blame : why));
}

void Runner::never(Operation& op, const Blame& why, std::uint32_t member) {
  if (op.way != Way::messages) {  // by lines it is asked only where it is waited for
    if (lines_.waits_for(op, member)) fail(op, why);
    return advance(op);
  }
  for (std::uint32_t i = 0; i < op.step && op.state == OpState::running; ++i) {
    const schedule::Step& step = op.phase.steps[i];
    if (step.action != schedule::Action::receive || step.peer != member ||
        op.states[i] != StepState::waiting)
      continue;
    fail(op, why);
    return advance(op);
  }
}

// Nothing is begun any more on a broken team: what has come for it waits for nobody.
void Runner::drop_unbegun(Team& team) {
  team.channels.each([&](std::uint32_t number, Channel& channel) {
    for (std::uint32_t i = 0; !channel.early.empty(); channel.early.pop(), ++i) {
      const Name name{0, team.number, number, channel.begun + i, 0};
      early_.take_all(channel.early.front(),
                      [&](const Arrival& what) { refuse(team, name, what); });
    }
  });
}

}  // namespace photon::service::coll
