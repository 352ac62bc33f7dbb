#include "service/mailbox/ahead.hpp"

#include <algorithm>

#include "service/mailbox/sender.hpp"

namespace photon::service::mailbox {

// One that there is no room for is not noted: it is a matter of speed.
void Ahead::on_grant(const Granted& granted, std::uint64_t next) {
  if (count_ >= kMostGrants) return;
  if (boxes_.size() >= kMostGrants && empty_ >= kMostGrants / 2) {
    std::erase_if(boxes_, [](const auto& one) { return one.second.grants.empty(); });
    empty_ = 0;
  }
  auto found = boxes_.find(granted.address);
  if (found == boxes_.end()) {
    if (boxes_.size() >= kMostGrants) return;
    // Mails that went to a new address before are not known one by one.
    found = boxes_.try_emplace(granted.address, Box{{}, next - 1, next != 0}).first;
    ++empty_;
  }
  Box& box = found->second;
  while (granted.is_first && !box.grants.empty()) drop_front(box);
  box.grants.make_room();
  if (box.grants.empty()) --empty_;
  box.grants.push_unchecked({granted});
  ++count_;
}

void Ahead::goes_otherwise(std::uint64_t address, std::uint64_t number) noexcept {
  const auto found = boxes_.find(address);
  if (found == boxes_.end()) return;
  found->second.other = number;
  found->second.has_other = true;
}

bool Ahead::store(Rank to, Letter& letter, std::span<const std::byte> bytes) {
  const auto found = boxes_.find(letter.address);
  if (found == boxes_.end()) return false;
  Box& box = found->second;
  for (; !box.grants.empty(); drop_front(box)) {
    Grant& grant = box.grants.front();
    const Granted& granted = grant.granted;
    const bool fits = letter.mail.offset >= grant.top && letter.mail.offset <= granted.size_bytes &&
                      bytes.size() <= granted.size_bytes - letter.mail.offset;
    if (!fits) return false;  // its receiver says what becomes of it
    const ph_target place{granted.place.address + letter.mail.offset, granted.place.key};
    const ph_status status = port_.store(to, place, bytes);
    if (status == PH_AGAIN) return false;
    if (status != PH_OK) continue;  // it was taken back
    letter.is_stored = true;
    letter.grant = granted.number;
    grant.top = letter.mail.offset + bytes.size();
    grant.stored += granted.counts_operations ? 1 : bytes.size();
    if (grant.stored >= granted.threshold) drop_front(box);
    return true;
  }
  return false;
}

// ---- of the sender

// Its end was told by its receiver.
bool Sender::is_over(const To& to, std::uint64_t number) noexcept {
  if (number >= to.sent.begin()) return false;
  const auto kept = std::ranges::lower_bound(to.waiting, number, {}, &Waiting::number);
  return kept == to.waiting.end() || kept->number != number;
}

// A message that may be stored in a buffer before its receiver looks. Its source is needed until
// the verdict, so it needs a completion.
bool Sender::goes_ahead(Rank rank, const ph_mailbox_put_args& args, bool appends) const noexcept {
  const To* const to = rank < peers_.size() ? peers_[rank].get() : nullptr;
  const bool means_one = args.epoch != PH_ANY_EPOCH || args.incarnation != 0;
  if (to == nullptr || to->ahead.empty()) return false;
  if (means_one || appends || (args.flags & PH_NO_LCE) != 0) return false;
  if (to->offers.size() >= kMostOffers) return false;  // one that is small may still be carried
  return to->ahead.wants(args.address, args.size_bytes,
                         [&](std::uint64_t number) { return is_over(*to, number); });
}

// One that was stored is told even where no line is free: its receiver may make no call for long.
ph_status Sender::send_offer(Rank rank, const Letter& letter) {
  const Encoded encoded = encode(letter);
  const ph_status status = say_line(rank, encoded, encoded.count);
  if (status != PH_AGAIN) return status;
  Saying what;
  what.to = rank;
  what.header = std::as_bytes(std::span(encoded.words).first(encoded.count));
  what.must_go = true;
  return port_.say(what);
}

void Sender::on_grant(Rank from, const Granted& granted) {
  if (peers_[from] == nullptr) peers_[from] = std::make_unique<To>(port_);
  peers_[from]->ahead.on_grant(granted, peers_[from]->sent.end());
}

std::uint64_t Sender::granted(Rank by) const noexcept {
  return peers_[by] == nullptr ? 0 : peers_[by]->ahead.granted();
}

}  // namespace photon::service::mailbox
