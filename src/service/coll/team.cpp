#include "service/coll/team.hpp"

#include <algorithm>

#include "service/coll/operation.hpp"

namespace photon::service::coll {

namespace {

bool are_in_order(const std::vector<Member>& members) noexcept {
  for (std::uint32_t i = 0; i < members.size(); ++i)
    if (members[i].rank != i) return false;
  return true;
}

}  // namespace

Team::Team(std::vector<Member> all, std::uint32_t own_number, std::uint32_t window_count)
    : members(std::move(all)), own(own_number), window(window_count), history(window_count) {
  if (are_in_order(members)) return;
  by_rank_.reserve(members.size());
  for (std::uint32_t i = 0; i < size(); ++i) by_rank_.emplace_back(members[i].rank, i);
  std::sort(by_rank_.begin(), by_rank_.end());
}

std::uint32_t Team::find(Rank rank) const noexcept {
  if (by_rank_.empty()) return std::min(rank, size());
  const auto at = std::lower_bound(by_rank_.begin(), by_rank_.end(), std::pair(rank, 0U));
  return at != by_rank_.end() && at->first == rank ? at->second : size();
}

Operation* Team::under_way(std::uint32_t channel, std::uint32_t sequence) noexcept {
  const Channel* const order = channels.find(channel);
  if (order == nullptr) return nullptr;
  Operation* const found = channel == 0 ? one_shot(sequence) : order->prepared;
  if (found == nullptr || found->sequence != sequence || !found->is_under_way()) return nullptr;
  return found;
}

bool Team::was_begun(std::uint32_t channel, std::uint32_t sequence) const noexcept {
  const Channel* const order = channels.find(channel);
  if (order == nullptr) return channels.is_gone(channel);
  return static_cast<std::int32_t>(sequence - order->begun) < 0;
}

const Told* Team::told(std::uint32_t channel, std::uint32_t sequence) const noexcept {
  const auto at = std::find_if(told_.rbegin(), told_.rend(), [&](const Told& one) {
    return one.channel == channel && one.sequence == sequence;
  });
  return at != told_.rend() ? &*at : nullptr;
}

void Team::note_told(const Told& what) {
  if (told_.size() == told_.capacity()) forget_far();
  told_.push_back(what);
  uncompared.drop(what.channel, what.sequence);  // all hear of it as it is
}

bool Team::is_far(std::uint32_t channel, std::uint32_t sequence) const noexcept {
  if (channels.is_gone(channel)) return channels.age_of(channel) >= kFreedTold;
  const Channel* const order = channels.find(channel);
  const std::uint32_t begun = order == nullptr ? 0 : order->begun;
  return sequence - begun + kMostAhead >= 2 * kMostAhead;
}

void Team::reserve_gone() {
  if (gone_.empty()) gone_.resize(window.size());
}

void Team::note_gone(const Operation& prepared) noexcept {
  Gone& place = gone_[gone_next_++ % gone_.size()];  // reserve_gone() has made them
  const std::uint32_t begun = channels.find(prepared.channel)->begun;
  const bool is_known = begun != 0 && !prepared.is_changed;
  place = {prepared.channel, begun, is_known ? prepared.plan.described : Described{}};
}

const Gone* Team::gone(std::uint32_t channel) const noexcept {
  const auto at =
      std::ranges::find_if(gone_, [&](const Gone& one) { return one.channel == channel; });
  return channel != 0 && channels.is_gone(channel) && at != gone_.end() ? &*at : nullptr;
}

const Described* Team::call_of(std::uint32_t channel, std::uint32_t sequence) const noexcept {
  if (const Gone* const freed = gone(channel); freed != nullptr)
    return freed->begun - 1 == sequence && freed->latest.kind != 0 ? &freed->latest : nullptr;
  const Channel* const order = channels.find(channel);
  if (order == nullptr) return nullptr;
  const bool is_near = order->begun - 1 - sequence < window.size();
  if (channel == 0) return is_near ? &history[sequence % window.size()] : nullptr;
  const Operation* const latest = order->prepared;
  if (latest == nullptr || order->begun - 1 != sequence || latest->is_changed) return nullptr;
  return &latest->plan.described;
}

bool Team::recall(const Name& name, Described& call) noexcept {
  const bool is_kept = name.tag == kCheckTag ? uncompared.take(name.channel, name.sequence, call)
                                             : uncompared.find(name.channel, name.sequence, call);
  if (is_kept) return true;
  const Described* const known = call_of(name.channel, name.sequence);
  if (known != nullptr) call = *known;
  return known != nullptr;
}

bool Team::is_freed_before(std::uint32_t channel, std::uint32_t sequence,
                           Described& freed) const noexcept {
  const Gone* const one = gone(channel);
  const Channel* const order = channels.find(channel);
  if (one == nullptr && order == nullptr && channels.is_gone(channel)) return false;
  const std::uint32_t begun = one != nullptr ? one->begun : order != nullptr ? order->begun : 0;
  if (sequence - begun >= kMostAhead) return false;  // made, or long ago: sequences come again
  const bool was_prepared = one != nullptr || (order != nullptr && order->prepared != nullptr);
  freed = {};
  freed.kind = kFreedKind;
  freed.member = own;
  freed.channel = was_prepared ? channel : 0;
  freed.number = was_prepared ? begun : channels.one_shot().begun;
  return true;
}

void Team::forget_far() noexcept {
  std::erase_if(told_, [&](const Told& one) { return is_far(one.channel, one.sequence); });
}

}  // namespace photon::service::coll
