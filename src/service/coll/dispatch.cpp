// Dispatches messages, ends and losses of collectives.
#include <algorithm>
#include <cstring>

#include "service/coll/collectives.hpp"
#include "wire/status.hpp"

namespace photon::service::coll {

bool Collectives::on_message(const Message& message) {
  HeadWords words{};
  if (message.header.size() < sizeof words[0]) return false;
  std::memcpy(words.data(), message.header.data(), std::min(message.header.size(), sizeof words));
  const Head head = decode(words);
  if (head.op == static_cast<std::uint8_t>(Op::meet)) return making_.on_meet(message);
  if (head.op == static_cast<std::uint8_t>(Op::met)) return making_.on_met(message);
  if (message.header.size() < sizeof words) return false;
  if (head.op == static_cast<std::uint8_t>(Op::credit))
    return message.header.size() == sizeof words && runner_.post().credited(message.from, words[1]);
  Team* const team = find(head.name);
  if (team == nullptr) return take_stale(message, head);
  const std::uint32_t member = team->find(message.from);
  if (member >= team->size()) return false;
  switch (static_cast<Op>(head.op)) {
    case Op::failed:
    case Op::broken:
    case Op::differs: return take_blame(message, *team, head, member);
    case Op::choices: {
      Blame why;
      if (!choosing_.hear(message, *team, member, why)) return false;
      if (why.status != PH_OK) note_broken(*team, why);
      return true;
    }
    case Op::taken: {
      if (message.header.size() != sizeof words) return false;
      Operation* const op = team->under_way(head.name.channel, head.name.sequence);
      if (op != nullptr) runner_.taken(*team, *op, member, head);
      return true;
    }
    default: return take_data(message, *team, head, member);
  }
}

// A payload in the header or behind it, or a note.
bool Collectives::take_data(const Message& message, Team& team, const Head& head,
                            std::uint32_t member) {
  Arrival what;
  what.member = member;
  what.tag = head.name.tag;
  what.digest = head.digest;
  const std::size_t rest = message.header.size() - sizeof(HeadWords);
  const auto base = static_cast<std::uint8_t>(Op::words);
  if (head.op == static_cast<std::uint8_t>(Op::payload)) {
    if (rest != 0) return false;
    what.size_bytes = message.payload.size();
    what.bytes = message.payload.data();
  } else if (head.op >= base && head.op <= base + kMostWordBytes) {
    what.size_bytes = head.op - base;
    what.bytes = message.header.data() + sizeof(HeadWords);
    if (rest != (what.size_bytes + 7) / 8 * 8 || !message.payload.empty()) return false;
  } else if (head.op == static_cast<std::uint8_t>(Op::ready)) {
    std::uint64_t note[4];
    if (rest != sizeof note || !message.payload.empty()) return false;
    std::memcpy(note, message.header.data() + sizeof(HeadWords), sizeof note);
    what.is_note = true;
    what.size_bytes = note[0];
    what.target = {note[1], note[2]};
  } else {
    return false;
  }
  Operation* const op = team.under_way(head.name.channel, head.name.sequence);
  runner_.arrive(team, op, head, what);
  return true;
}

bool Collectives::take_blame(const Message& message, Team& team, const Head& head,
                             std::uint32_t member) {
  Blame why;
  if (message.payload.size() != sizeof why || message.header.size() != sizeof(HeadWords))
    return false;
  std::memcpy(&why, message.payload.data(), sizeof why);
  if (!wire::is_error(why.status) || why.member >= team.size()) return false;
  if (head.op == static_cast<std::uint8_t>(Op::broken))
    note_broken(team, why);
  else if (head.op == static_cast<std::uint8_t>(Op::differs))
    runner_.differs(team, head.name, why, member);
  else
    runner_.failed(team, head.name, why, member);
  return true;
}

// For a team that is being made here it waits; for one that was freed it is too late.
bool Collectives::take_stale(const Message& message, const Head& head) {
  const std::uint32_t at = head.name.slot;
  if (at < slots_.size() && slots_[at].is_reserved && head.name.number >= slots_[at].proposal) {
    Mail mail;
    mail.from = message.from;
    mail.header_bytes = message.header.size();
    mail.bytes.assign(message.header.begin(), message.header.end());
    mail.bytes.insert(mail.bytes.end(), message.payload.begin(), message.payload.end());
    slots_[at].mail.push_back(std::move(mail));
    return true;
  }
  const auto base = static_cast<std::uint8_t>(Op::words);
  if (head.op == static_cast<std::uint8_t>(Op::payload))
    runner_.post().spent(message.from, message.payload.size());
  else if (head.op >= base && head.op <= base + kMostWordBytes)
    runner_.post().spent(message.from, head.op - base);
  if (head.op == static_cast<std::uint8_t>(Op::differs)) return answer_stale(message, head);
  if (head.op != static_cast<std::uint8_t>(Op::ready)) return true;
  std::uint64_t note[4];
  if (message.header.size() != sizeof(HeadWords) + sizeof note) return false;
  std::memcpy(note, message.header.data() + sizeof(HeadWords), sizeof note);
  Name theirs = head.name;
  theirs.slot = static_cast<std::uint32_t>(note[3]) & (kMostSlots - 1);
  static_cast<void>(runner_.post().answer(message.from, theirs, PH_ERR_STATE));
  return true;
}

// It asks what this member has begun, on a team that is freed here: its own call alone is known.
bool Collectives::answer_stale(const Message& message, const Head& head) {
  Blame why;
  if (message.payload.size() != sizeof why || message.header.size() != sizeof(HeadWords))
    return false;
  std::memcpy(&why, message.payload.data(), sizeof why);
  Name theirs = head.name;
  theirs.slot = head.digest & (kMostSlots - 1);
  static_cast<void>(runner_.post().blame(message.from, Op::failed, theirs, why));
  return true;
}

void Collectives::on_local(Rank /*to*/, std::uint64_t token, ph_status status) {
  runner_.on_local(token, status);
}

void Collectives::note_broken(Team& team, const Blame& why) noexcept {
  const bool is_worse = team.broken.status == PH_ERR_DEPARTED && why.status != PH_ERR_DEPARTED;
  if (team.broken.status == PH_OK || is_worse) team.broken = why;
  team.is_dirty = true;
  port_.wants_turn();
}

// A member that has left in order has sent all that it will: operations that wait for more of it
// fail, and others go on. One that has died ends them all.
void Collectives::note_lost(Team& team, std::uint32_t member, ph_status why) noexcept {
  Blame blame;
  blame.status = why;
  blame.member = member;
  note_broken(team, blame);
}

void Collectives::on_lost(Rank rank, ph_status why) noexcept {
  runner_.lost(rank);
  making_.lost(rank, why);
  for (Slot& slot : slots_) {
    std::erase_if(slot.mail, [&](const Mail& mail) { return mail.from == rank; });
    if (slot.team == nullptr) continue;
    const std::uint32_t member = slot.team->find(rank);
    if (member < slot.team->size()) note_lost(*slot.team, member, why);
  }
  port_.wants_turn();
}

bool Collectives::turn() {
  for (std::size_t i = 0; i < slots_.size(); ++i) {  // a turn may make teams
    Team* const team = slots_[i].team.get();
    if (team == nullptr || !team->is_dirty) continue;
    team->is_dirty = false;
    try {
      runner_.break_all(*team);
    } catch (const std::bad_alloc&) {  // the next turn goes on with it
      team->is_dirty = true;
      throw;
    }
  }
  making_.turn();
  return runner_.turn();
}

// Others wait for what this rank has begun: they are told.
void Collectives::close() {
  if (!is_closed_ && port_.config().stats != 0) choosing_.print();
  is_closed_ = true;
  for (std::size_t i = 0; i < slots_.size(); ++i)
    if (slots_[i].team != nullptr) runner_.give_up(*slots_[i].team);
}

}  // namespace photon::service::coll
