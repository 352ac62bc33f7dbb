#include "service/coll/making.hpp"

#include <algorithm>
#include <cstring>

#include "service/coll/choosing.hpp"

namespace photon::service::coll {

Making::Making(Port& port, Runner& runner, Teams& teams)
    : port_(port), runner_(runner), teams_(teams) {}

ph_status Making::fail(ph_status status, std::string why) {
  words_ = std::move(why);
  return status;
}

void Making::tell() noexcept {
  ++news_;
  port_.wake();
}

std::list<Making::Split>::iterator Making::find(const Team& parent) noexcept {
  return std::find_if(splits_.begin(), splits_.end(),
                      [&](const Split& one) { return one.parent == &parent; });
}

bool Making::is_splitting(const Team& parent) const noexcept {
  return std::any_of(splits_.begin(), splits_.end(),
                     [&](const Split& one) { return one.parent == &parent; });
}

ph_status Making::split(Team& parent, std::int64_t colour, std::int64_t key, Team*& team) {
  team = nullptr;
  auto at = find(parent);
  if (at == splits_.end()) {
    if (const ph_status status = begin_split(parent, colour, key); status != PH_OK) return status;
    at = find(parent);
  }
  if (at->op != nullptr) return PH_TIMEOUT;
  return end_split(at, team);
}

// The cards travel as an allgather of bytes, among the other one-shot operations of the parent.
ph_status Making::begin_split(Team& parent, std::int64_t colour, std::int64_t key) {
  if (parent.one_shot(parent.channels.one_shot().begun) != nullptr) return port_.again();
  splits_.emplace_back();
  Split& split = splits_.back();
  split.parent = &parent;
  bool has_begun = false;
  try {
    split.cards.resize(parent.size());
    Operation& op = runner_.make();
    split.op = &op;
    const std::uint32_t proposal = propose();
    const std::uint32_t slot = teams_.reserve_slot(proposal);
    split.own = {colour, key, proposal, slot, port_.host_of(port_.rank()), 0};
    op.team = &parent;
    op.is_internal = true;
    Plan& plan = op.plan;
    plan.call.kind = schedule::Kind::allgather;
    plan.call.size = parent.size();
    plan.call.rank = parent.own;
    plan.call.count = sizeof(Card);
    plan.call.algorithm = schedule::choose(plan.call, {});  // whatever is set
    plan.in = reinterpret_cast<const std::byte*>(&split.own);
    plan.out = reinterpret_cast<std::byte*>(split.cards.data());
    plan.described.kind = kSplitKind;
    plan.described.count = sizeof(Card);
    plan.digest = digest_of(plan.described);
    ++parent.alive;
    has_begun = true;
    split.sequence = parent.channels.one_shot().begun;
    runner_.begin(op);
  } catch (const std::bad_alloc&) {
    if (split.op != nullptr) runner_.free(*split.op);  // begin() throws before it is under way
    if (has_begun) --parent.alive;
    if (split.own.proposal != 0) teams_.give_up_slot(split.own.slot, PH_OK);
    splits_.pop_back();
    throw;
  }
  return PH_OK;
}

// Messages of other members to the team wait in its slot until the caller makes it.
void Making::ended(Operation& op) noexcept {
  const auto at =
      std::find_if(splits_.begin(), splits_.end(), [&](const Split& one) { return one.op == &op; });
  if (at == splits_.end()) return;
  at->status = static_cast<ph_status>(op.blame.status);
  try {
    if (at->status != PH_OK) words_ = "team_split: " + text_of(op.blame, *op.team);
  } catch (const std::bad_alloc&) {  // the status alone tells
  }
  at->op = nullptr;
  --op.team->alive;
  runner_.free(op);
  tell();
}

ph_status Making::end_split(std::list<Split>::iterator at, Team*& team) {
  const Split& split = *at;  // it stays until its team is made: that may find no memory
  const Told* const told = split.parent->told(0, split.sequence);  // by one who has no team
  const ph_status status = told == nullptr || split.status != PH_OK
                               ? split.status
                               : static_cast<ph_status>(told->blame.status);
  if (told != nullptr) words_ = "team_split: " + text_of(told->blame, *split.parent);
  if (status != PH_OK) {
    const std::uint32_t slot = split.own.slot;
    splits_.erase(at);
    teams_.give_up_slot(slot, status);
    return status;
  }
  std::vector<std::uint32_t> chosen;
  std::uint32_t number = 0;
  for (std::uint32_t i = 0; i < split.cards.size(); ++i) {
    number = std::max(number, split.cards[i].proposal);
    if (split.cards[i].colour == split.own.colour) chosen.push_back(i);
  }
  highest_ = std::max(highest_, number);
  if (split.own.colour == PH_NO_COLOUR) {
    const std::uint32_t slot = split.own.slot;
    splits_.erase(at);
    teams_.give_up_slot(slot, PH_OK);
    return PH_OK;
  }
  std::stable_sort(chosen.begin(), chosen.end(), [&](std::uint32_t a, std::uint32_t b) {
    return split.cards[a].key < split.cards[b].key;
  });
  std::vector<Member> members;
  std::vector<Rank> hosts;
  std::uint32_t own = 0;
  for (const std::uint32_t old : chosen) {
    hosts.push_back(split.cards[old].host);
    if (old == split.parent->own) own = static_cast<std::uint32_t>(members.size());
    members.push_back({split.parent->members[old].rank, split.cards[old].slot});
  }
  auto made = std::make_unique<Team>(std::move(members), own,
                                     static_cast<std::uint32_t>(port_.config().coll_window));
  made->slot = split.own.slot;
  made->number = number;
  made->parent_slot = split.parent->slot;
  made->parent_number = split.parent->number;
  made->parent_sequence = split.sequence;
  made->is_split = true;
  Choosing::lay_out(port_, *made, std::move(hosts));
  splits_.erase(at);
  team = &teams_.add(std::move(made));
  return PH_OK;
}

}  // namespace photon::service::coll
