// What becomes of mailboxes when their ranks, lanes and runs end.
#include <algorithm>

#include "simtest/mail_boxes.hpp"

namespace photon::simtest {

std::vector<MailBox*> MailBoxes::closed_ones(const Endpoint& at) {
  std::vector<MailBox*> all;
  for (std::uint32_t address = 0; address < kMailAddressesCount && !places_.empty(); ++address)
    for (MailBox& life : place(at, address).lives)
      if (!life.is_open() && !life.is_gone && !life.awaited.empty()) all.push_back(&life);
  return all;
}

void MailBoxes::gone(const Endpoint& end) {
  for (MailPlace& here : places_)
    for (MailBox& box : here.lives) {
      if (!is_mine(end, box) || box.is_gone) continue;
      box.is_gone = true;
      here.may_lack = true;
      if (!box.is_open()) continue;
      box.closed_at = tick();
      box.ends_with_its_lane = true;
    }
}

void MailBoxes::left(const Endpoint& end) {
  for (MailPlace& here : places_)
    for (MailBox& box : here.lives)
      if (is_mine(end, box))
        for (; !box.posted.empty() && !oracle_.failed(); box.posted.pop_front())
          settle(*box.posted.front());
}

void MailBoxes::died(ph_rank rank) {
  for (MailPlace& here : places_)
    for (MailBox& box : here.lives)
      if (box.at.rank == rank && may_be_landing(box)) box.posted.clear();
  left(rank);
}

bool MailBoxes::is_settled(const MailPlace& place) const {
  return std::all_of(place.lives.begin(), place.lives.end(), [](const MailBox& box) {
    return box.is_gone || (!box.is_open() && box.awaited.empty());
  });
}

bool MailBoxes::is_settled() const {
  return std::all_of(places_.begin(), places_.end(),
                     [this](const MailPlace& place) { return is_settled(place); });
}

void MailBoxes::report_pending() {
  for (const MailPlace& here : places_)
    for (const MailBox& box : here.lives)
      if (!box.is_gone && (box.is_open() || !box.awaited.empty()))
        return wrong("lost", box,
                     "has not given " + std::to_string(box.awaited.size()) + " events");
}

void MailBoxes::check_memory() {
  for (MailPlace& here : places_)
    for (const MailSlot& slot : here.slots)
      if (slot.posted != nullptr && slot.posted->is_over && is_changed(*slot.posted)) return;
}

}  // namespace photon::simtest
