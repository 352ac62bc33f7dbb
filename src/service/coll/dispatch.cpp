// Dispatches messages, ends and losses of collectives.
#include <algorithm>
#include <cstring>

#include "service/coll/collectives.hpp"
#include "wire/status.hpp"

namespace photon::service::coll {

namespace {

// The size of what may have to wait here, if it is a payload.
bool is_payload(const Message& message, std::uint64_t& size_bytes) noexcept {
  const auto op = std::to_integer<std::uint8_t>(message.header[0]);
  const auto base = static_cast<std::uint8_t>(Op::words);
  size_bytes = op >= base ? op - base : message.payload.size();
  return op == static_cast<std::uint8_t>(Op::payload) ||
         (op >= base && op <= base + kMostWordBytes);
}

}  // namespace

// A peer that sends more than it may is cut off before any of that is kept.
bool Collectives::on_message(const Message& message) {
  if (message.header.size() < sizeof(std::uint64_t)) return false;
  Post& post = runner_.post();
  std::uint64_t size_bytes = 0;
  const bool is_within = is_payload(message, size_bytes)
                             ? post.came(message.from, size_bytes)
                             : std::to_integer<std::uint8_t>(message.header[0]) !=
                                       static_cast<std::uint8_t>(Op::ready) ||
                                   post.note_came(message.from);
  if (is_within) return dispatch(message);
  port_.cut_off(message.from,
                "it sends more than coll_early_bytes, the same at all ranks, and notes allow");
  return true;
}

bool Collectives::dispatch(const Message& message) {
  HeadWords words{};
  if (message.header.size() < sizeof words[0]) return false;
  std::memcpy(words.data(), message.header.data(), std::min(message.header.size(), sizeof words));
  const Head head = decode(words);
  if (head.op == static_cast<std::uint8_t>(Op::meet)) return making_.on_meet(message);
  if (head.op == static_cast<std::uint8_t>(Op::met)) return making_.on_met(message);
  if (message.header.size() < sizeof words) return false;
  if (head.op == static_cast<std::uint8_t>(Op::credit))
    return message.header.size() == sizeof words && runner_.post().credited(message.from, words[1]);
  if (head.op == static_cast<std::uint8_t>(Op::absent)) return take_absent(message, head);
  Team* const team = find(head.name);
  if (team == nullptr) return take_stale(message, head);
  const std::uint32_t member = team->find(message.from);
  if (member >= team->size()) return false;
  switch (static_cast<Op>(head.op)) {
    case Op::failed:
    case Op::broken:
    case Op::lacks:
    case Op::never:
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
    case Op::lines: {
      if (team->channels.is_gone(head.name.channel) && is_of_call(head))
        runner_.check_late(*team, head.name, member, head.digest);
      Lines::Told what;
      if (message.header.size() != sizeof words + sizeof what || !message.payload.empty())
        return false;
      std::memcpy(&what, message.header.data() + sizeof words, sizeof what);
      return runner_.lines().take(*team, head, member, what);
    }
    case Op::agree: return agreeing_.on_message(message, *team, head, member);
    default: return take_data(message, *team, head, member);
  }
}

// It has failed to make a team, or has freed it when that was broken. The slot is its own.
bool Collectives::take_absent(const Message& message, const Head& head) {
  Blame why;
  why.status = static_cast<std::int32_t>(head.digest);
  if (message.header.size() != sizeof(HeadWords) || !wire::is_error(why.status)) return false;
  if (why.status == PH_ERR_STATE) {  // it was called on after all its calls there
    why.status = PH_ERR_ARGUMENT;
    why.other.kind = kFreedKind;
    why.other.number = head.name.sequence;
  }
  for (Slot& slot : slots_) {
    Team* const team = slot.team.get();
    if (team == nullptr || team->number != head.name.number) continue;
    why.member = team->find(message.from);
    if (why.member >= team->size() || team->members[why.member].slot != head.name.slot) continue;
    why.own.member = team->own;
    why.other.member = why.member;
    note_broken(*team, why);
  }
  return true;
}

// Another member fails in the split by which a team was made: it has none.
void Collectives::failed_elsewhere(Team& team, std::uint32_t sequence, const Blame& why) noexcept {
  for (Slot& slot : slots_) {
    Team* const made = slot.team.get();
    if (made == nullptr || !made->is_split || made->parent_slot != team.slot ||
        made->parent_number != team.number || made->parent_sequence != sequence)
      continue;
    Blame own = why;
    own.member = made->find(team.members[why.member].rank);
    if (own.member == made->size()) own.member = made->own;
    note_broken(*made, own);
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
  const auto is = [&](Op op) { return head.op == static_cast<std::uint8_t>(op); };
  if (is(Op::broken) || is(Op::lacks)) note_broken(team, why);
  if (is(Op::broken)) return true;
  if (is(Op::lacks)) {
    runner_.lacks(team, head.name, why, member);
    return true;
  }
  if (is(Op::never)) {
    Operation* const op = team.under_way(head.name.channel, head.name.sequence);
    if (op != nullptr) runner_.never(*op, why, member);
    return true;
  }
  if (head.op == static_cast<std::uint8_t>(Op::differs))
    return runner_.differs(team, head.name, why, member);
  runner_.failed(team, head.name, why);
  if (why.status == PH_ERR_DEPARTED) note_broken(team, why);  // later ones are refused here, too
  return true;
}

// For a team that is being made here it waits; for one that was freed it is too late, but for word
// of a failure.
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
  say_absent(message, head);
  if (!take_freed(message, head)) return false;
  std::uint64_t size_bytes = 0;
  if (is_payload(message, size_bytes)) runner_.post().spent(message.from, size_bytes);
  const bool is_note = head.op == static_cast<std::uint8_t>(Op::ready);
  const bool is_blame = head.op == static_cast<std::uint8_t>(Op::failed) ||
                        head.op == static_cast<std::uint8_t>(Op::broken) ||
                        head.op == static_cast<std::uint8_t>(Op::differs);
  if (Team* const team = buried(head.name); team != nullptr && is_blame) {
    const std::uint32_t member = team->find(message.from);
    return member < team->size() && take_blame(message, *team, head, member);
  }
  if (head.op == static_cast<std::uint8_t>(Op::agree)) agreeing_.answer_stale(message, head);
  if (head.op == static_cast<std::uint8_t>(Op::differs) ||
      head.op == static_cast<std::uint8_t>(Op::lacks))
    return answer_stale(message, head);
  if (!is_note) return true;
  std::uint64_t note[4];
  if (message.header.size() != sizeof(HeadWords) + sizeof note) return false;
  std::memcpy(note, message.header.data() + sizeof(HeadWords), sizeof note);
  Name theirs = head.name;
  theirs.slot = static_cast<std::uint32_t>(note[3]) & (kMostSlots - 1);
  static_cast<void>(runner_.post().answer(message.from, theirs, PH_ERR_STATE));
  return true;
}

// Its sender may wait for what does not come: the team was lost here, and not only freed.
void Collectives::say_absent(const Message& message, const Head& head) {
  const std::uint32_t at = head.name.slot;
  if (at == 0 || at >= slots_.size()) return;
  const Slot& slot = slots_[at];
  const bool is_its = slot.gone_number == 0 || slot.gone_number == head.name.number;
  const bool is_data = is_of_call(head) || head.op == static_cast<std::uint8_t>(Op::lines);
  if (!is_its || !is_data || slot.gone_status == PH_OK) return;
  static_cast<void>(runner_.post().absent(message.from, head.name, slot.gone_status));
}

// It asks what this member has begun, on a team that is freed here: its own call alone is known;
// or whether it will begin something.
bool Collectives::answer_stale(const Message& message, const Head& head) {
  Blame why;
  if (message.payload.size() != sizeof why || message.header.size() != sizeof(HeadWords))
    return false;
  std::memcpy(&why, message.payload.data(), sizeof why);
  Name theirs = head.name;
  theirs.slot = head.digest & (kMostSlots - 1);
  const bool asks = head.op == static_cast<std::uint8_t>(Op::lacks);
  static_cast<void>(runner_.post().blame(message.from, asks ? Op::never : Op::failed, theirs, why));
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
  agreeing_.on_lost(rank);
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
  agreeing_.turn();
  providing_.turn();
  return runner_.turn();
}

// Others wait for what this rank has begun: they are told.
void Collectives::close() {
  if (!is_closed_ && port_.config().stats != 0) choosing_.print();
  is_closed_ = true;
  for (std::size_t i = 0; i < slots_.size(); ++i)
    if (slots_[i].team != nullptr) runner_.give_up(*slots_[i].team);
  providing_.close();
}

}  // namespace photon::service::coll
