// Which messages a buffer has, byte by byte, and what its event has to say of them.
#include <algorithm>
#include <cstring>

#include "simtest/mail_boxes.hpp"
#include "simtest/pattern.hpp"

namespace photon::simtest {

namespace {

// The number of the message that begins there; 0: none does.
std::uint32_t number_at(const std::byte* bytes) noexcept {
  std::uint32_t name = 0;
  std::memcpy(&name, bytes, sizeof name);
  return (name & 0xff) == 0x80 ? name >> 8 : 0;
}

std::string place_text(const Posted& posted) {
  return "buffer " + std::to_string(posted.cookie) + " (epoch " + std::to_string(posted.epoch) +
         ")";
}

}  // namespace

// It has been handed over, or its owner is gone: its bytes are what they are from now on.
void MailBoxes::settle(Posted& posted) {
  MailSlot& slot = slot_of(posted);
  find_all(posted);
  posted.image = slot.memory;
  posted.is_over = true;
  if (!posted.has_pointer) return;
  posted.pointer = slot.at();
  if (posted.incarnation != 0 && posted.pointer.address != slot.data())
    wrong("status", *posted.box, place_text(posted) + ": its pointer says nothing");
}

void MailBoxes::find_all(Posted& posted) {
  if (posted.box->is_managed())
    find_managed(posted);
  else
    find_steered(posted);
  if (!oracle_.failed()) check_untouched(posted);
}

void MailBoxes::find_steered(Posted& posted) {
  const std::byte* const data = slot_of(posted).data();
  for (Mailed* mail : place_of(*posted.box).mails) {
    if (mail->place != nullptr || mail->is_counted_only() || mail->end() > posted.size_bytes)
      continue;
    if (number_at(data + mail->offset) == mail->number) land(posted, *mail, mail->offset);
    if (oracle_.failed()) return;
  }
}

void MailBoxes::find_managed(Posted& posted) {
  const std::byte* const data = slot_of(posted).data();
  for (std::uint64_t at = 0; at + kMailNamedSize <= posted.size_bytes && !oracle_.failed();) {
    const std::uint32_t number = number_at(data + at);
    if (number == 0 || number > mails_.size()) return;
    Mailed& mail = mails_[number - 1];
    // What a rewind left there, or what nothing explains.
    if (&place_of(mail) != &place_of(*posted.box) || mail.place != nullptr) return;
    land(posted, mail, at);
    at += mail.size_bytes();
  }
}

void MailBoxes::land(Posted& posted, Mailed& mail, std::uint64_t position) {
  const MailBox& box = *posted.box;
  const std::uint32_t incarnation = box.incarnations.back();
  if (!mail.accepted) return wrong("unexpected", mail, "landed, and was not accepted");
  if (mail.refused != PH_OK && !mail.to_gone && !mail.is_cut)
    return wrong("unexpected", mail, "landed in " + place_text(posted) + ", and was refused");
  if (mail.appends != box.is_managed() ||
      (box.args.source != PH_ANY_RANK && box.args.source != mail.from))
    return wrong("unexpected", mail, "landed where it must be refused");
  if (position + mail.size_bytes() > posted.size_bytes)
    return wrong("guard", mail, "landed beyond the end of " + place_text(posted));
  if (mail.epoch != PH_ANY_EPOCH && mail.epoch != posted.epoch)
    return wrong("order", mail, "landed in " + place_text(posted));
  if (mail.incarnation != 0 && mail.incarnation != incarnation)
    return wrong("order", mail, "landed in incarnation " + std::to_string(incarnation));
  mail.place = &posted;
  mail.position = position;
  if (mail.over_at == 0) mail.over_at = tick();
  ++posted.operations;
  posted.bytes += mail.size_bytes();
  posted.top = std::max(posted.top, position + mail.size_bytes());
  check_order(posted, mail);
}

// But those that name an epoch, which may wait while later ones land.
void MailBoxes::check_order(const Posted& posted, const Mailed& mail) {
  const bool is_managed = posted.box->is_managed();
  for (const Mailed* other : place_of(*posted.box).mails) {
    if (other == &mail || other->place == nullptr || other->from != mail.from) continue;
    const Mailed& first = other->number < mail.number ? *other : mail;
    const Mailed& second = &first == &mail ? *other : mail;
    if (first.epoch != PH_ANY_EPOCH || first.is_void != second.is_void) continue;
    const std::uint32_t one = first.place->ordinal, two = second.place->ordinal;
    if (one < two || (one == two && (!is_managed || first.position < second.position))) continue;
    return wrong("order", second, "landed before " + first.text());
  }
}

// Nothing has touched it but the messages that were found.
void MailBoxes::check_untouched(Posted& posted) {
  MailSlot& slot = slot_of(posted);
  std::vector<std::byte> right = posted.image;
  for (const Mailed* mail : place_of(*posted.box).mails)
    if (mail->place == &posted && !mail->is_void)
      mail->fill(
          std::span(right).subspan(MailSlot::kGuardBytes + mail->position, mail->size_bytes()));
  if (right == slot.memory) return;
  const bool has_shared = !posted.box->is_managed();
  for (std::uint64_t at = 0; at < right.size(); ++at) {
    if (right[at] == slot.memory[at]) continue;
    const std::uint64_t offset = at - MailSlot::kGuardBytes;  // wraps in front of the buffer
    if (has_shared && offset < kMailSharedBytes && may_be_shared(posted, offset, slot.memory[at])) {
      posted.is_shared_changed = true;
      continue;
    }
    return explain(posted, at);
  }
}

bool MailBoxes::may_be_shared(const Posted& posted, std::uint64_t offset, std::byte byte) {
  for (const Mailed* mail : place_of(*posted.box).mails) {
    if (!mail->is_shared() || mail->end() > posted.size_bytes) continue;
    if (offset < mail->offset || offset >= mail->end()) continue;
    std::vector<std::byte> bytes(mail->size_bytes());
    mail->fill(bytes);
    if (bytes[offset - mail->offset] == byte) return true;
  }
  return false;
}

void MailBoxes::explain(Posted& posted, std::uint64_t at) {
  const MailSlot& slot = slot_of(posted);
  const std::string where = place_text(posted) + " at " + std::to_string(at) + " - " +
                            std::to_string(MailSlot::kGuardBytes);
  const std::uint32_t number =
      at + kMailNamedSize <= slot.memory.size() ? number_at(slot.memory.data() + at) : 0;
  if (number == 0 || number > mails_.size())
    return wrong("bytes", *posted.box, where + " holds what no message put there");
  const Mailed& mail = mails_[number - 1];
  wrong(mail.place != nullptr ? "twice" : "bytes", mail, "stands in " + where);
}

// Of the messages that were not found there are as many as can be.
void MailBoxes::check_counts(Posted& posted, const ph_mailbox_event& event) {
  MailPlace& here = place_of(*posted.box);
  const std::uint64_t more_bytes = event.bytes - posted.bytes;
  const std::uint64_t shared = more_bytes / kMailSharedSize;
  const std::uint64_t more = event.operations - posted.operations;
  const bool is_wrong = event.bytes < posted.bytes || event.operations < posted.operations ||
                        more_bytes % kMailSharedSize != 0 || shared > more ||
                        (shared != 0) != posted.is_shared_changed;
  const std::string found = std::to_string(posted.operations) + " messages of " +
                            std::to_string(posted.bytes) + " bytes are there";
  if (is_wrong || (posted.box->is_managed() && more != 0))
    return wrong("count", *posted.box,
                 "has counted " + std::to_string(event.operations) + " messages, " +
                     std::to_string(event.bytes) + " bytes; " + found);
  const std::uint64_t most_top = shared == 0 ? posted.top : std::max(posted.top, kMailSharedBytes);
  const std::uint64_t least_top = shared == 0 ? posted.top : std::max(posted.top, kMailSharedSize);
  if (event.size_bytes < least_top || event.size_bytes > most_top)
    return wrong("count", *posted.box,
                 "says that bytes landed up to " + std::to_string(event.size_bytes) + "; " + found +
                     ", up to " + std::to_string(posted.top));
  if (posted.has_pointer && posted.pointer.size_bytes != event.size_bytes)
    return wrong("count", *posted.box, "has another size in the pointer than in the event");
  here.shared_count += shared;
  here.empty_count += more - shared;
  std::uint64_t able_shared = 0, able_empty = 0;
  for (const Mailed* mail : here.mails)
    if (mail->is_counted_only() && (mail->refused == PH_OK || mail->to_gone || mail->is_cut))
      ++(mail->is_shared() ? able_shared : able_empty);
  if (here.shared_count > able_shared || here.empty_count > able_empty)
    wrong("twice", *posted.box, "has counted more messages than were sent and not refused");
}

void MailBoxes::check_why(Posted& posted, const ph_mailbox_event& event) {
  if (oracle_.failed()) return;
  const MailBox& box = *posted.box;
  const bool counts_bytes = box.args.unit == PH_MAILBOX_BYTES;
  const std::uint64_t count = counts_bytes ? event.bytes : event.operations;
  const bool is_full = count >= posted.threshold;
  std::uint64_t largest = counts_bytes ? kMailSharedSize : 1;
  bool is_too_large = false;  // one of them, to come behind what is there
  for (const Mailed* mail : place_of(box).mails) {
    if (counts_bytes && mail->place == &posted) largest = std::max(largest, mail->size_bytes());
    if (mail->size_bytes() > posted.size_bytes - event.bytes) is_too_large = true;
  }
  ph_mailbox_why right = box.is_managed() ? PH_MAILBOX_FULL : PH_MAILBOX_COMPLETE;
  if (posted.is_closed) right = PH_MAILBOX_CLOSED;
  if (posted.is_early) right = PH_MAILBOX_EARLY;
  if (is_full) right = PH_MAILBOX_COMPLETE;
  if (event.why != right || (posted.is_early && is_full))
    return wrong("status", box,
                 "handed " + place_text(posted) + " over for reason " + std::to_string(event.why) +
                     ", expected was " + std::to_string(right));
  if (right == PH_MAILBOX_COMPLETE && (!is_full || count >= posted.threshold + largest))
    return wrong("count", box,
                 "has " + std::to_string(count) + " in " + place_text(posted) + ", threshold " +
                     std::to_string(posted.threshold));
  if (right == PH_MAILBOX_FULL && (event.operations == 0 || !is_too_large))
    wrong("count", box, "says that " + place_text(posted) + " was full, and all would have fitted");
}

bool MailBoxes::is_changed(Posted& posted) {
  MailSlot& slot = slot_of(posted);
  const bool has_other_pointer =
      posted.has_pointer && (slot.at().address != posted.pointer.address ||
                             slot.at().size_bytes != posted.pointer.size_bytes);
  if (slot.memory == posted.image && !has_other_pointer) return false;
  wrong("late", *posted.box, place_text(posted) + " was written after it had been handed over");
  return true;
}

}  // namespace photon::simtest
