// Slots of teams: reserved, given up, and what a team that was freed still does in its slot.
#include "service/coll/collectives.hpp"

namespace photon::service::coll {

// It stays in its slot until that is used again, and passes word of failures on: others may know of
// them by this member alone.
void Collectives::bury(Team& team) noexcept {
  team.is_freed = true;
  free_slots_.push_unchecked(team.slot);  // reserve_slot() has made room
  buried_ += weight_of(team);
  for (std::uint64_t at = free_slots_.begin(); buried_ > kMostBuried; ++at)
    unbury(free_slots_.at(at));
}

void Collectives::unbury(std::uint32_t slot) noexcept {
  if (slots_[slot].team == nullptr) return;
  buried_ -= weight_of(*slots_[slot].team);
  slots_[slot].team.reset();
}

std::uint32_t Collectives::reserve_slot(std::uint32_t proposal) {
  constexpr int kTries = 8;
  for (int i = 0; i < kTries && !free_slots_.empty() && still_compares(free_slots_.front()); ++i) {
    const std::uint32_t last = free_slots_.front();
    free_slots_.pop();
    free_slots_.push_unchecked(last);
  }
  auto slot = static_cast<std::uint32_t>(slots_.size());
  if (free_slots_.empty() || still_compares(free_slots_.front())) {
    free_slots_.make_room(slots_.size() + 1);  // so that each can be freed
    slots_.emplace_back();
  } else {
    slot = free_slots_.front();
    free_slots_.pop();
    unbury(slot);
  }
  slots_[slot].is_reserved = true;
  slots_[slot].proposal = proposal;
  return slot;
}

// Messages that have come for it are refused, as for a team that was freed. Where members may have
// got a team that we have not, they know the slot by a number that we do not: it is never used
// again.
void Collectives::give_up_slot(std::uint32_t slot, ph_status why) noexcept {
  slots_[slot].is_reserved = false;
  if (why != PH_OK) slots_[slot].gone_status = why;  // else it was that of a team before
  const std::vector<Mail> mail = std::move(slots_[slot].mail);
  slots_[slot].mail.clear();
  if (why == PH_OK) free_slots_.push_unchecked(slot);  // reserve_slot() has made room
  for (const Mail& one : mail) hand_over(one);
}

// The member before has not come to all that this one has called.
bool Collectives::still_compares(std::uint32_t slot) const noexcept {
  const Team* const team = slots_[slot].team.get();
  return team != nullptr && team->broken.status == PH_OK && !team->uncompared.empty();
}

Team* Collectives::buried(const Name& name) noexcept {
  Team* const team = name.slot < slots_.size() ? slots_[name.slot].team.get() : nullptr;
  return team != nullptr && team->number == name.number && team->is_freed ? team : nullptr;
}

}  // namespace photon::service::coll
