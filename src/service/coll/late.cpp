// Messages that come too late: for an operation that is over here, or for one that will not be
// begun, since the team or the prepared operation was freed.
//
//   begun here, known     -- the digest differs --> differs, with this member's call
//   freed before it began -- whatever it is --> differs, which says so in place of a call
//   begun here, forgotten -- nothing
//
// A freed team is known as long as it is buried in its slot. Then the slot knows how many calls
// were made on it, until another team is freed there.
#include "service/coll/collectives.hpp"

namespace photon::service::coll {

// Others may wait for ever for what this member has not begun. Where it has failed here they hear
// of that.
void Runner::check_late(Team& team, const Name& name, std::uint32_t member, std::uint32_t digest) {
  if (team.told(name.channel, name.sequence) != nullptr) return;
  Described ours;
  const bool is_freed = team.is_freed_before(name.channel, name.sequence, ours);
  if (is_freed && team.broken.status != PH_OK) return;  // they hear of that
  if (!is_freed && (!team.recall(name, ours) || digest_of(ours) == digest)) return;
  Name theirs = name;
  theirs.slot = team.members[member].slot;
  theirs.tag = 0;
  static_cast<void>(say_differs(team, theirs, ours, member));
}

// The channel is being freed: members may have asked for lines for what will not be begun.
void Runner::tell_late(Team& team, std::uint32_t number, const Channel& channel) {
  if (channel.board == nullptr) return;
  for (std::uint32_t member = 0; member < team.size(); ++member) {
    const std::uint64_t mark = channel.board->others[member].begun;
    const auto sequence = static_cast<std::uint32_t>(mark >> 32);
    if (FlatPage::digest_of(mark) != 0)
      check_late(team, {0, team.number, number, sequence, 0}, member, FlatPage::digest_of(mark));
  }
}

bool Collectives::is_of_call(const Head& head) noexcept {
  const auto is = [&](Op op) { return head.op == static_cast<std::uint8_t>(op); };
  return is(Op::ready) || is(Op::payload) || head.op >= static_cast<std::uint8_t>(Op::words) ||
         (is(Op::lines) && head.digest != 0);
}

// False: it is from nobody who was in that team.
bool Collectives::take_freed(const Message& message, const Head& head) {
  const std::uint32_t at = head.name.slot;
  if (at >= slots_.size() || !is_of_call(head)) return true;
  if (Team* const team = buried(head.name); team != nullptr) {
    const std::uint32_t member = team->find(message.from);
    if (member >= team->size()) return false;
    runner_.check_late(*team, head.name, member, head.digest);
    return true;
  }
  const Slot& slot = slots_[at];
  const bool is_its = slot.gone_number != 0 && slot.gone_number == head.name.number;
  const bool was_made = static_cast<std::int32_t>(head.name.sequence - slot.gone_begun) < 0;
  if (!is_its || slot.gone_status != PH_OK || head.name.channel != 0 || was_made) return true;
  Name own = head.name;
  own.sequence = slot.gone_begun;
  static_cast<void>(runner_.post().absent(message.from, own, PH_ERR_STATE));
  return true;
}

}  // namespace photon::service::coll
