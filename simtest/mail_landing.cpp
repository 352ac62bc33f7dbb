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

bool is_whole(const Mailed& mail, const std::byte* bytes) {
  std::vector<std::byte> right(mail.size_bytes());
  mail.fill(right);
  for (std::uint64_t i = 0; i < right.size(); ++i)
    if (bytes[i] != right[i] && (!mail.may_have_changed() || bytes[i] != mail.source[i]))
      return false;
  return true;
}

// Whether it may be there without having counted: it was recalled, or could not be read to its end.
bool may_not_count(const Posted& posted, const Mailed& mail) noexcept {
  return mail.is_large &&
         (posted.was_recalled || mail.from_gone || mail.is_cut || posted.box->is_gone);
}

}  // namespace

std::string place_text(const Posted& posted) {
  return "buffer " + std::to_string(posted.cookie) + " (epoch " + std::to_string(posted.epoch) +
         ")";
}

// It has been handed over, or its owner is gone: its bytes are what they are from now on.
void MailBoxes::settle(Posted& posted) {
  MailSlot& slot = slot_of(posted);
  posted.image = slot.memory;
  posted.is_over = true;
  posted.over_at = tick();
  find_all(posted, posted.image);
  if (!posted.has_pointer) return;
  posted.pointer = slot.at();
  if (posted.incarnation != 0 && posted.pointer.address != slot.data())
    wrong("status", *posted.box, place_text(posted) + ": its pointer says nothing");
}

void MailBoxes::find_all(Posted& posted, const Bytes& memory) {
  if (posted.box->is_managed())
    find_managed(posted, memory);
  else
    find_steered(posted, memory);
  if (!oracle_.failed()) check_untouched(posted, memory);
}

void MailBoxes::find_steered(Posted& posted, const Bytes& memory) {
  const std::byte* const data = memory.data() + MailSlot::kGuardBytes;
  for (Mailed* mail : place_of(*posted.box).mails) {
    if (mail->place != nullptr || mail->is_counted_only() || mail->end() > posted.size_bytes)
      continue;
    const bool may_be_there = number_at(data + mail->offset) == mail->number ||
                              (mail->may_have_changed() && is_whole(*mail, data + mail->offset));
    if (!may_be_there) continue;
    if (!may_not_count(posted, *mail))
      land(posted, *mail, mail->offset);
    else if (is_whole(*mail, data + mail->offset))
      posted.candidates.push_back({mail, mail->offset});
    if (oracle_.failed()) return;
  }
}

// One behind the other. That another one follows does not say that a message has counted: several
// may have been read at a time, and recalled when all their bytes were there.
void MailBoxes::find_managed(Posted& posted, const Bytes& memory) {
  const std::byte* const data = memory.data() + MailSlot::kGuardBytes;
  const auto named_at = [&](std::uint64_t at) -> Mailed* {
    const std::uint32_t number =
        at + kMailNamedSize <= posted.size_bytes ? number_at(data + at) : 0;
    if (number != 0 && number <= mails_.size()) return &mails_[number - 1];
    for (Mailed* mail : place_of(*posted.box).mails)
      if (mail->may_have_changed() && at + mail->size_bytes() <= posted.size_bytes &&
          mail->place == nullptr && is_whole(*mail, data + at))
        return mail;
    return nullptr;
  };
  for (std::uint64_t at = 0; at + kMailNamedSize <= posted.size_bytes && !oracle_.failed();) {
    if (named_at(at) == nullptr) return;
    Mailed& mail = *named_at(at);
    // What a rewind left there, or what nothing explains.
    if (&place_of(mail) != &place_of(*posted.box) || mail.place != nullptr) return;
    const std::uint64_t end = at + mail.size_bytes();
    if (!may_not_count(posted, mail)) {
      land(posted, mail, at);
    } else {
      if (end <= posted.size_bytes && is_whole(mail, data + at))
        posted.candidates.push_back({&mail, at});
      if (named_at(end) == nullptr) return;
    }
    at = end;
  }
}

void MailBoxes::land(Posted& posted, Mailed& mail, std::uint64_t position) {
  const MailBox& box = *posted.box;
  const std::uint32_t incarnation =
      posted.incarnation != 0 ? posted.incarnation : box.incarnations.back();
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
  if (mail.last_traced > posted.ordinal)
    return wrong("late", mail, "landed in " + place_text(posted) + ", and is in a later one, too");
  mail.place = &posted;
  mail.position = position;
  if (mail.over_at == 0) mail.over_at = tick();
  ++posted.operations;
  posted.bytes += mail.size_bytes();
  posted.top = std::max(posted.top, position + mail.size_bytes());
  check_order(posted, mail);
}

// Whether it may have been landing in an earlier buffer that was taken back.
bool MailBoxes::may_have_been_recalled(const Mailed& mail) {
  const auto& all = place_of(mail).buffers;
  return mail.is_large && std::any_of(all.begin(), all.end(), [&mail](const Posted& one) {
           const bool is_over_before = one.over_at != 0 && one.over_at < mail.begun_at;
           return one.was_recalled && one.ordinal < mail.place->ordinal && !is_over_before;
         });
}

// Whether a buffer may have been full for the first, and had room again for the second, because a
// large message could not be read to its end.
bool MailBoxes::has_room_again(const Mailed& first, const Mailed& second) {
  const auto& all = place_of(first).mails;
  return first.place != second.place && std::any_of(all.begin(), all.end(), [](const Mailed* one) {
           return one->is_large && one->place == nullptr && (one->from_gone || one->is_cut);
         });
}

// But those that name an epoch, which may wait while later ones land; and but large ones that were
// recalled from a steered buffer: others had landed there before them, or behind it.
void MailBoxes::check_order(const Posted& posted, const Mailed& mail) {
  const bool is_managed = posted.box->is_managed();
  for (const Mailed* other : place_of(*posted.box).mails) {
    if (other == &mail || other->place == nullptr || other->from != mail.from) continue;
    const Mailed& first = other->number < mail.number ? *other : mail;
    const Mailed& second = &first == &mail ? *other : mail;
    if (first.epoch != PH_ANY_EPOCH || first.is_void != second.is_void) continue;
    const std::uint32_t one = first.place->ordinal, two = second.place->ordinal;
    if (!is_managed && (may_have_been_recalled(first) || has_room_again(first, second))) continue;
    if (one < two || (one == two && (!is_managed || first.position < second.position))) continue;
    return wrong("order", second, "landed before " + first.text());
  }
}

// Nothing has touched it but the messages that were found.
void MailBoxes::check_untouched(Posted& posted, const Bytes& memory) {
  Bytes right = posted.background;
  for (const Mailed* mail : place_of(*posted.box).mails) {
    if (mail->place != &posted || mail->is_void) continue;
    const std::uint64_t first = MailSlot::kGuardBytes + mail->position;
    mail->fill(std::span(right).subspan(first, mail->size_bytes()));
    for (std::uint64_t i = 0; mail->may_have_changed() && i < mail->size_bytes(); ++i)
      if (memory[first + i] == mail->source[i]) right[first + i] = mail->source[i];
  }
  if (right == memory) return;
  const bool has_shared = !posted.box->is_managed();
  const std::vector<Trace> traces = traces_in(posted, memory);
  for (std::uint64_t at = 0; at < right.size(); ++at) {
    if (right[at] == memory[at]) continue;
    const std::uint64_t offset = at - MailSlot::kGuardBytes;  // wraps in front of the buffer
    if (has_shared && offset < kMailSharedBytes && may_be_shared(posted, offset, memory[at])) {
      posted.is_shared_changed = true;
      continue;
    }
    const bool is_trace = std::any_of(traces.begin(), traces.end(), [&](const Trace& one) {
      return one.explains(offset, memory[at]);
    });
    if (!is_trace) return explain(posted, memory, at);
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

void MailBoxes::explain(Posted& posted, const Bytes& memory, std::uint64_t at) {
  const std::string where = place_text(posted) + " at " + std::to_string(at) + " - " +
                            std::to_string(MailSlot::kGuardBytes);
  const std::uint32_t number =
      at + kMailNamedSize <= memory.size() ? number_at(memory.data() + at) : 0;
  if (number == 0 || number > mails_.size())
    return wrong("bytes", *posted.box, where + " holds what no message put there");
  const Mailed& mail = mails_[number - 1];
  wrong(mail.place != nullptr ? "twice" : "bytes", mail, "stands in " + where);
}

bool MailBoxes::is_changed(Posted& posted) {
  if (!posted.is_over) return false;
  MailSlot& slot = slot_of(posted);
  const bool has_other_pointer =
      posted.has_pointer && (slot.at().address != posted.pointer.address ||
                             slot.at().size_bytes != posted.pointer.size_bytes);
  if (slot.memory == posted.image && !has_other_pointer) return false;
  wrong("late", *posted.box, place_text(posted) + " was written after it had been handed over");
  return true;
}

}  // namespace photon::simtest
