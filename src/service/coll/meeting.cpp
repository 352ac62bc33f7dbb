// Teams of a list: the first of it hears of all others, and tells each the number and the slots.
#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "service/coll/choosing.hpp"
#include "service/coll/making.hpp"
#include "wire/status.hpp"

namespace photon::service::coll {

namespace {

constexpr const char* kUntold = "there was no memory to tell it of its team";

std::uint64_t hash_of(const ph_team_of_args& args) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](std::uint64_t value) {
    for (int i = 0; i < 8; ++i) hash = (hash ^ (value >> (8 * i) & 0xff)) * 0x100000001b3;
  };
  add(args.tag);
  add(args.count);
  for (std::uint32_t i = 0; i < args.count; ++i) add(args.ranks[i]);
  return hash;
}

}  // namespace

std::list<Making::Meeting>::iterator Making::find(std::uint64_t hash) noexcept {
  return std::find_if(meetings_.begin(), meetings_.end(),
                      [&](const Meeting& one) { return one.hash == hash; });
}

ph_status Making::of(const ph_team_of_args& args, Team*& team) {
  team = nullptr;
  const std::uint64_t hash = hash_of(args);
  auto at = find(hash);
  if (at == meetings_.end()) {
    if (const ph_status status = begin_meeting(args, hash); status != PH_OK) return status;
    at = find(hash);
  }
  if (at->missing != 0 && at->status == PH_OK) return PH_TIMEOUT;
  return end_meeting(at, team);
}

ph_status Making::begin_meeting(const ph_team_of_args& args, std::uint64_t hash) {
  Meeting meeting;
  meeting.hash = hash;
  meeting.own = args.count;
  std::vector<Rank> sorted(args.ranks, args.ranks + args.count);
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    return fail(PH_ERR_ARGUMENT, "team_of: a rank stands in the list twice");
  if (sorted.back() >= port_.size())
    return fail(PH_ERR_RANK, "team_of: there is no rank " + std::to_string(sorted.back()));
  for (std::uint32_t i = 0; i < args.count; ++i) {
    if (args.ranks[i] == port_.rank()) meeting.own = i;
    meeting.members.push_back({args.ranks[i], kMostSlots});
  }
  if (meeting.own == args.count)
    return fail(PH_ERR_ARGUMENT, "team_of: the calling rank is not in the list");
  for (const Member& member : meeting.members) {
    const bool is_asked = meeting.own == 0 || &member == meeting.members.data();
    if (!is_asked || member.rank == port_.rank()) continue;
    const ph_status status = port_.contact(member.rank);
    if (status == PH_OK) continue;
    if (meeting.own == 0) refuse_list(hash, status);
    return fail(status, "team_of: rank " + std::to_string(member.rank) + " is lost");
  }
  meeting.proposal = propose();
  meeting.number = meeting.proposal;
  meeting.missing = meeting.own == 0 ? args.count - 1 : args.count;
  meetings_.push_back(std::move(meeting));
  Meeting& made = meetings_.back();
  try {
    made.members[made.own].slot = teams_.reserve_slot(made.proposal);
    if (made.own != 0) return say_meet(made);
  } catch (const std::bad_alloc&) {  // nobody has heard of it
    const std::uint32_t slot = made.members[made.own].slot;
    meetings_.pop_back();
    if (slot != kMostSlots) teams_.give_up_slot(slot, PH_OK);
    throw;
  }
  for (std::size_t i = 0; i < heard_.size();) {
    if (heard_[i].hash != hash) {
      ++i;
      continue;
    }
    const Heard heard = heard_[i];
    heard_[i] = heard_.back();
    heard_.pop_back();
    join(made, heard);
  }
  if (made.missing == 0) tell_all(made);
  return PH_OK;
}

// The others have come to it, or will, and wait for this rank.
void Making::refuse_list(std::uint64_t hash, ph_status why) {
  const bool is_known = std::any_of(refused_.begin(), refused_.end(),
                                    [&](const Refused& one) { return one.hash == hash; });
  if (!is_known && refused_.size() == kMostHeard) refused_.erase(refused_.begin());
  if (!is_known) refused_.push_back({hash, why});
  const auto first = std::stable_partition(heard_.begin(), heard_.end(),
                                           [&](const Heard& one) { return one.hash != hash; });
  for (auto at = first; at != heard_.end(); ++at) answer_refused(*at, why);
  heard_.erase(first, heard_.end());
}

void Making::answer_refused(const Heard& heard, ph_status why) {
  const std::uint64_t words[] = {static_cast<std::uint64_t>(Op::met), heard.hash,
                                 pair_of(heard.proposal, 0),
                                 static_cast<std::uint64_t>(static_cast<std::int64_t>(why))};
  static_cast<void>(runner_.post().words(heard.from, words));
}

ph_status Making::say_meet(const Meeting& meeting) {
  const std::uint64_t words[] = {static_cast<std::uint64_t>(Op::meet), meeting.hash,
                                 pair_of(meeting.proposal, meeting.members[meeting.own].slot)};
  return runner_.post().words(meeting.members[0].rank, words);
}

void Making::join(Meeting& meeting, const Heard& heard) {
  for (Member& member : meeting.members) {
    if (member.rank != heard.from) continue;
    if (member.slot != kMostSlots) break;
    member.slot = heard.slot;
    meeting.number = std::max(meeting.number, heard.proposal);
    --meeting.missing;
    return;
  }
  port_.cut_off(heard.from, "it came twice to the making of a team, or to one that is not its");
}

// A member that cannot be told for lack of memory is cut off: it waits.
void Making::tell_all(Meeting& meeting) noexcept {
  for (std::uint32_t i = 1; i < meeting.members.size(); ++i) {
    try {
      tell_one(meeting, meeting.members[i].rank);
    } catch (const std::bad_alloc&) {
      port_.cut_off(meeting.members[i].rank, kUntold);
    }
  }
  tell();
}

void Making::tell_one(const Meeting& meeting, Rank to) {
  const auto& members = meeting.members;
  for (std::uint32_t first = 0; first < members.size(); first += kSlotsAtOnce) {
    const std::size_t count = std::min<std::size_t>(kSlotsAtOnce, members.size() - first);
    std::array<std::uint32_t, kSlotsAtOnce> slots{};
    for (std::size_t i = 0; i < count; ++i) slots[i] = members[first + i].slot;
    const std::uint64_t words[] = {
        static_cast<std::uint64_t>(Op::met), meeting.hash, pair_of(meeting.number, first),
        static_cast<std::uint64_t>(static_cast<std::int64_t>(meeting.status))};
    static_cast<void>(
        runner_.post().words(to, words, std::as_bytes(std::span(slots).first(count))));
  }
}

bool Making::on_meet(const Message& message) {
  std::uint64_t words[3];
  if (message.header.size() != sizeof words || !message.payload.empty()) return false;
  std::memcpy(words, message.header.data(), sizeof words);
  const Heard heard{words[1], message.from, static_cast<std::uint32_t>(words[2]),
                    static_cast<std::uint32_t>(words[2] >> 32)};
  if (heard.slot >= kMostSlots) return false;
  const auto at = find(heard.hash);
  const bool has_failed = at != meetings_.end() && at->own == 0 && at->status != PH_OK;
  const auto refused = std::find_if(refused_.begin(), refused_.end(),
                                    [&](const Refused& one) { return one.hash == heard.hash; });
  if (has_failed || refused != refused_.end()) {
    answer_refused(heard, has_failed ? at->status : refused->status);
    return true;
  }
  if (at == meetings_.end() || at->own != 0 || at->missing == 0) {
    if (heard_.size() >= kMostOfOne && is_full_of(message.from)) return false;
    heard_.push_back(heard);
    return true;
  }
  join(*at, heard);
  if (at->missing == 0) tell_all(*at);
  return true;
}

// Whether a rank has come early to as many teams as it may.
bool Making::is_full_of(Rank rank) const noexcept {
  return std::count_if(heard_.begin(), heard_.end(), [&](const Heard& heard) {
           return heard.from == rank;
         }) >= static_cast<std::ptrdiff_t>(kMostOfOne);
}

bool Making::on_met(const Message& message) {
  std::uint64_t words[4];
  const std::size_t count = message.payload.size() / sizeof(std::uint32_t);
  if (message.header.size() != sizeof words ||
      count * sizeof(std::uint32_t) != message.payload.size())
    return false;
  std::memcpy(words, message.header.data(), sizeof words);
  const auto at = find(words[1]);
  if (at == meetings_.end()) return true;  // it was given up here
  const auto first = static_cast<std::uint32_t>(words[2] >> 32);
  if (at->own == 0 || at->members[0].rank != message.from || first > at->members.size() ||
      count > at->members.size() - first || count > at->missing)
    return false;
  const auto status = static_cast<std::int32_t>(words[3]);
  if (status != PH_OK && !wire::is_error(status)) return false;
  if (status == PH_OK && first != at->members.size() - at->missing) return false;
  if (at->status == PH_OK) at->status = static_cast<ph_status>(status);
  at->number = static_cast<std::uint32_t>(words[2]);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t slot = 0;
    std::memcpy(&slot, message.payload.data() + i * sizeof slot, sizeof slot);
    if (slot >= kMostSlots) {
      if (at->status == PH_OK) return false;
      continue;
    }
    at->members[first + i].slot = slot;
  }
  at->missing -= static_cast<std::uint32_t>(count);
  if (at->missing == 0 || at->status != PH_OK) tell();
  return true;
}

ph_status Making::end_meeting(std::list<Meeting>::iterator at, Team*& team) {
  if (at->tells) tell_failed(*at);
  Meeting meeting = std::move(*at);
  meetings_.erase(at);
  const std::uint32_t slot = meeting.members[meeting.own].slot;
  if (meeting.status != PH_OK) {
    teams_.give_up_slot(slot, meeting.status);
    return fail(meeting.status, "team_of: a rank of the list is lost");
  }
  highest_ = std::max(highest_, meeting.number);
  auto made = std::make_unique<Team>(std::move(meeting.members), meeting.own,
                                     static_cast<std::uint32_t>(port_.config().coll_window));
  made->slot = slot;
  made->number = meeting.number;
  Choosing::lay_out(port_, *made);
  team = &teams_.add(std::move(made));
  return PH_OK;
}

// The first of the list tells the others; they hear of the loss of the first alone by themselves.
void Making::lost(Rank rank, ph_status why) noexcept {
  std::erase_if(heard_, [&](const Heard& heard) { return heard.from == rank; });
  for (Meeting& meeting : meetings_) {
    if (meeting.missing == 0 || meeting.status != PH_OK) continue;
    const bool is_in = std::any_of(meeting.members.begin(), meeting.members.end(),
                                   [&](const Member& member) { return member.rank == rank; });
    if (!is_in || (meeting.own != 0 && meeting.members[0].rank != rank)) continue;
    meeting.status = why;
    meeting.tells = meeting.own == 0;
    tell();
  }
}

// Only those who have come, for each that comes has one answer: another may still be inside the
// making of the team before, of the same list. That one is refused when it comes.
void Making::tell_failed(Meeting& meeting) {
  refuse_list(meeting.hash, meeting.status);
  for (std::uint32_t i = 1; i < meeting.members.size(); ++i) {
    const Member& member = meeting.members[i];
    if (member.slot == kMostSlots) continue;
    try {
      answer_refused({meeting.hash, member.rank, meeting.number, member.slot}, meeting.status);
    } catch (const std::bad_alloc&) {
      port_.cut_off(member.rank, kUntold);
    }
  }
  tell();
  meeting.tells = false;  // last: a turn tries again without memory
}

bool Making::turn() {
  for (Meeting& meeting : meetings_)
    if (meeting.tells) tell_failed(meeting);
  return false;
}

}  // namespace photon::service::coll
