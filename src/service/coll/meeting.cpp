// Teams of a list: the first of it hears of all others, and tells each the number and the slots.
#include <algorithm>
#include <cstring>

#include "service/coll/choosing.hpp"
#include "service/coll/making.hpp"
#include "wire/status.hpp"

namespace photon::service::coll {

namespace {

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

constexpr std::uint64_t pair_of(std::uint32_t low, std::uint32_t high) noexcept {
  return std::uint64_t{low} | std::uint64_t{high} << 32;
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
    if (const ph_status status = port_.contact(member.rank); status != PH_OK)
      return fail(status, "team_of: rank " + std::to_string(member.rank) + " is lost");
  }
  meeting.proposal = propose();
  meeting.number = meeting.proposal;
  meeting.members[meeting.own].slot = teams_.reserve_slot(meeting.proposal);
  meeting.missing = meeting.own == 0 ? args.count - 1 : args.count;
  meetings_.push_back(std::move(meeting));
  Meeting& made = meetings_.back();
  if (made.own != 0) {
    const std::uint64_t words[] = {static_cast<std::uint64_t>(Op::meet), hash,
                                   pair_of(made.proposal, made.members[made.own].slot)};
    return runner_.post().words(made.members[0].rank, words);
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

void Making::tell_all(Meeting& meeting) {
  std::vector<std::uint32_t> slots;
  slots.reserve(meeting.members.size());
  for (const Member& member : meeting.members) slots.push_back(member.slot);
  for (std::uint32_t i = 1; i < meeting.members.size(); ++i)
    for (std::uint32_t first = 0; first < slots.size(); first += kSlotsAtOnce) {
      const std::size_t count = std::min<std::size_t>(kSlotsAtOnce, slots.size() - first);
      const std::uint64_t words[] = {
          static_cast<std::uint64_t>(Op::met), meeting.hash, pair_of(meeting.number, first),
          static_cast<std::uint64_t>(static_cast<std::int64_t>(meeting.status))};
      static_cast<void>(runner_.post().words(
          meeting.members[i].rank, words, std::as_bytes(std::span(slots).subspan(first, count))));
    }
  tell();
}

bool Making::on_meet(const Message& message) {
  std::uint64_t words[3];
  if (message.header.size() != sizeof words || !message.payload.empty()) return false;
  std::memcpy(words, message.header.data(), sizeof words);
  const Heard heard{words[1], message.from, static_cast<std::uint32_t>(words[2]),
                    static_cast<std::uint32_t>(words[2] >> 32)};
  if (heard.slot >= kMostSlots) return false;
  const auto at = find(heard.hash);
  if (at == meetings_.end() || at->own != 0 || at->missing == 0) {
    if (heard_.size() >= kMostHeard) return false;
    heard_.push_back(heard);
    return true;
  }
  join(*at, heard);
  if (at->missing == 0) tell_all(*at);
  return true;
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
  Meeting meeting = std::move(*at);
  meetings_.erase(at);
  const std::uint32_t slot = meeting.members[meeting.own].slot;
  if (meeting.status != PH_OK) {
    teams_.give_up_slot(slot, true);
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

bool Making::turn() {
  for (Meeting& meeting : meetings_)
    if (std::exchange(meeting.tells, false)) tell_all(meeting);
  return false;
}

}  // namespace photon::service::coll
