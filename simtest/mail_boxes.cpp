// The calls of an owner, and what comes of its mailboxes. Which messages a buffer has is in
// mail_landing.cpp.
#include "simtest/mail_boxes.hpp"

#include <algorithm>
#include <cstring>

#include "simtest/pattern.hpp"

namespace photon::simtest {

namespace {

constexpr std::size_t kPointerAlignment = 64;
constexpr std::uint64_t kMailPattern = 0x6d61'696c'0000'0000;

bool is_same(const ph_mailbox_event& one, const ph_mailbox_event& other) noexcept {
  return one.address == other.address && one.epoch == other.epoch && one.data == other.data &&
         one.size_bytes == other.size_bytes && one.bytes == other.bytes &&
         one.operations == other.operations && one.cookie == other.cookie;
}

std::string text_of(const ph_mailbox_event& event) {
  return "an event of epoch " + std::to_string(event.epoch) + ", incarnation " +
         std::to_string(event.incarnation) + ": " + std::to_string(event.operations) +
         " messages, " + std::to_string(event.bytes) + " bytes, up to " +
         std::to_string(event.size_bytes) + ", why " + std::to_string(event.why);
}

}  // namespace

std::string name_of(const MailBox& box) {
  return "mailbox " + std::to_string(box.address) + " of rank " + std::to_string(box.at.rank) +
         (box.at.lane == 0 ? "" : ", " + name_of_lane(box.at.lane));
}

ph_mailbox_pointer& MailSlot::at() noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer.data());
  const std::size_t skipped = (kPointerAlignment - address % kPointerAlignment) % kPointerAlignment;
  return *reinterpret_cast<ph_mailbox_pointer*>(pointer.data() + skipped);
}

MailBoxes::MailBoxes(Oracle& oracle, const Program& program, std::deque<Mailed>& mails)
    : oracle_(oracle),
      lanes_(program.lanes_count()),
      slot_bytes_(program.mail_bytes),
      mails_(mails),
      places_(program.mailboxes
                  ? std::size_t{program.ranks} * program.lanes_count() * kMailAddressesCount
                  : 0) {}

void MailBoxes::wrong(const char* kind, const MailBox& box, const std::string& what) {
  oracle_.report(kind, name_of(box) + " " + what);
}

void MailBoxes::wrong(const char* kind, const Mailed& mail, const std::string& what) {
  oracle_.report(kind, mail.text() + " " + what);
}

MailSlot& MailBoxes::slot_of(const Posted& posted) noexcept {
  return place_of(*posted.box).slots[posted.slot];
}

void MailBoxes::expect(const MailBox& box, const char* call, ph_status status, ph_status right) {
  oracle_.note(box.at, std::string(call) + " of mailbox " + std::to_string(box.address) + " = " +
                           std::to_string(status));
  if (status != right)
    wrong("status", box,
          std::string(call) + " said " + std::to_string(status) + ", expected was " +
              std::to_string(right));
}

void MailBoxes::opened(const Endpoint& at, std::uint32_t address, const ph_mailbox_args& args,
                       ph_mailbox handle, ph_status status) {
  MailPlace& here = place(at, address);
  if (here.open() != nullptr) return expect(*here.open(), "a second open", status, PH_ERR_STATE);
  if (here.slots.empty()) here.slots.resize(kMailSlots);
  const std::uint64_t first = here.lives.empty() ? 0 : here.lives.back().end_epoch;
  MailBox& box = here.lives.emplace_back();
  box.at = at;
  box.address = address;
  box.args = args;
  box.handle = handle;
  box.opened_at = tick();
  box.known_epoch = box.end_epoch = box.most_epoch = first;
  expect(box, "open", status, PH_OK);
}

// Nothing more can come to the buffers before that epoch.
void MailBoxes::sync(MailBox& box, std::uint64_t epoch, std::uint32_t incarnation,
                     ph_status status) {
  if (oracle_.failed()) return;
  if (status != PH_OK) return expect(box, "epoch", status, PH_OK);
  if (box.incarnations.empty()) box.incarnations.push_back(0);
  if (box.incarnations.back() == 0) box.incarnations.back() = incarnation;
  if (incarnation != box.incarnations.back())
    return wrong("status", box, "has another incarnation than it was given");
  if (epoch < box.known_epoch || epoch > box.end_epoch)
    return wrong("count", box,
                 "is said to be at epoch " + std::to_string(epoch) + ", it had handed over " +
                     std::to_string(box.known_epoch) + " of " + std::to_string(box.end_epoch));
  while (box.known_epoch < epoch && !oracle_.failed()) hand_over(box);
}

void MailBoxes::hand_over(MailBox& box) {
  Posted& first = *box.posted.front();
  box.posted.pop_front();
  ++box.known_epoch;
  first.incarnation = box.incarnations.back();
  if (box.args.retained != 0) {
    box.retained.push_back(&first);
    if (box.retained.size() > box.args.retained) box.retained.pop_front();
  }
  settle(first);
}

bool MailBoxes::is_held(const MailBox& box, std::uint32_t slot) const {
  const auto has = [slot](const std::deque<Posted*>& all) {
    return std::any_of(all.begin(), all.end(),
                       [slot](const Posted* one) { return one->slot == slot; });
  };
  return has(box.posted) || has(box.retained);
}

ph_mailbox_buffer MailBoxes::prepare(MailBox& box, std::uint32_t number, const Step& step) {
  MailSlot& slot = place_of(box).slots[number];
  const std::uint64_t size =
      step.size_bytes == 0 ? slot_bytes_ : std::min(step.size_bytes, slot_bytes_);
  ph_mailbox_buffer buffer{};
  buffer.size = sizeof buffer;
  buffer.size_bytes = size;
  buffer.threshold = step.compare;
  buffer.cookie = ++posts_;
  if (slot.memory.empty()) {
    slot.memory.resize(slot_bytes_ + 2 * MailSlot::kGuardBytes);
    slot.pointer.resize(sizeof(ph_mailbox_pointer) + 2 * kPointerAlignment);
  }
  buffer.data = slot.data();
  if (step.requested) buffer.pointer = &slot.at();
  return buffer;
}

// No message that names itself begins with a byte like these.
void MailBoxes::fill(MailBox& box, std::uint32_t number, const ph_mailbox_buffer& buffer) {
  MailPlace& here = place_of(box);
  MailSlot& slot = here.slots[number];
  if (slot.posted != nullptr && is_changed(*slot.posted)) return;
  Posted& one = here.buffers.emplace_back();
  one.ordinal = static_cast<std::uint32_t>(here.buffers.size());
  one.slot = number;
  one.box = &box;
  one.has_pointer = buffer.pointer != nullptr;
  Pattern(Purpose::background, kMailPattern | buffer.cookie).fill(slot.memory);
  for (std::byte& byte : slot.memory) byte &= std::byte{0x7f};
  one.background = slot.memory;
  one.posted_at = tick();
  slot.at() = {};
  slot.posted = &one;
  slot.is_busy = true;
  // Others may be told of what is refused before the call returns.
  box.most_epoch = std::max(box.most_epoch, box.end_epoch + 1);
  box.least_bytes = std::min(box.least_bytes, buffer.size_bytes);
}

ph_status MailBoxes::right_of(const MailBox& box, const ph_mailbox_buffer& buffer) noexcept {
  std::uint64_t threshold = buffer.threshold != 0 ? buffer.threshold : box.args.threshold;
  if (threshold == 0 && box.args.unit == PH_MAILBOX_BYTES) threshold = buffer.size_bytes;
  const bool is_reachable = !box.is_managed() || threshold <= buffer.size_bytes;
  return threshold != 0 && is_reachable ? PH_OK : PH_ERR_ARGUMENT;
}

void MailBoxes::posted(MailBox& box, std::uint32_t number, const ph_mailbox_buffer& buffer,
                       ph_status status, ph_status right) {
  if (oracle_.failed()) return;
  expect(box, "post", status, right);
  if (status != PH_OK || oracle_.failed()) return;
  MailPlace& here = place_of(box);
  Posted& one = *here.slots[number].posted;
  one.size_bytes = buffer.size_bytes;
  one.threshold = buffer.threshold != 0 ? buffer.threshold : box.args.threshold;
  if (one.threshold == 0) one.threshold = buffer.size_bytes;
  one.cookie = buffer.cookie;
  one.epoch = box.end_epoch++;
  box.posted.push_back(&one);
  box.awaited.push_back({&one, false});
  oracle_.note(box.at, "buffer " + std::to_string(one.cookie) + " of " +
                           std::to_string(one.size_bytes) + " bytes, threshold " +
                           std::to_string(one.threshold) + ", is epoch " +
                           std::to_string(one.epoch));
}

bool MailBoxes::may_be_landing(const MailBox& box) {
  const auto& mails = place_of(box).mails;
  return std::any_of(mails.begin(), mails.end(),
                     [](const Mailed* mail) { return mail->may_be_landing(); });
}

// It is handed over at once, unless a network may still read into it: then sync() says when.
void MailBoxes::advanced(MailBox& box, ph_status status) {
  if (oracle_.failed()) return;
  const auto first = std::find_if(box.posted.begin(), box.posted.end(),
                                  [](const Posted* one) { return !one->is_early; });
  expect(box, "inc_epoch", status, first == box.posted.end() ? PH_AGAIN : PH_OK);
  if (status != PH_OK || oracle_.failed()) return;
  (*first)->is_early = true;
  (*first)->was_recalled = box.was_landing;
  if (!box.was_landing) hand_over(box);
}

void MailBoxes::listed(MailBox& box, const std::vector<ph_mailbox_event>& events) {
  if (oracle_.failed()) return;
  if (events.size() != box.retained.size())
    return wrong("count", box,
                 "retains " + std::to_string(events.size()) + " buffers, expected were " +
                     std::to_string(box.retained.size()));
  for (std::size_t i = 0; i < events.size() && !oracle_.failed(); ++i) {
    const Posted& one = *box.retained[events.size() - 1 - i];
    const bool is_taken = one.event.cookie != 0;
    const bool is_right = events[i].epoch == one.epoch && events[i].cookie == one.cookie &&
                          events[i].data == slot_of(one).data();
    if (!is_right || (is_taken && !is_same(events[i], one.event)))
      wrong("unexpected", box, "lists another buffer as retained: " + text_of(events[i]));
  }
}

void MailBoxes::released(MailBox& box, std::uint64_t epoch, ph_status status) {
  if (oracle_.failed()) return;
  const auto found = std::find_if(box.retained.begin(), box.retained.end(),
                                  [epoch](const Posted* one) { return one->epoch == epoch; });
  expect(box, "release", status, found == box.retained.end() ? PH_ERR_STATE : PH_OK);
  if (found != box.retained.end()) box.retained.erase(found);
}

// What had landed in buffers that are still posted is void, and stays where it is. Others may land
// in the call, so the bytes are kept.
void MailBoxes::rewinding(MailBox& box, std::uint64_t epoch) {
  const bool is_known = std::any_of(box.retained.begin(), box.retained.end(),
                                    [epoch](const Posted* one) { return one->epoch == epoch; });
  if (oracle_.failed() || !is_known) return;
  taking_back(box);
  place_of(box).may_lack = box.is_changing = true;
  for (Posted* one : box.posted) one->before = slot_of(*one).memory;
}

void MailBoxes::make_void(Posted& posted) {
  find_all(posted, posted.before);
  for (const Candidate& one : posted.candidates) one.mail->is_uncertain = true;
  posted.candidates.clear();
  for (Mailed* mail : place_of(*posted.box).mails)
    if (mail->place == &posted) mail->is_void = true;
  posted.bytes = posted.operations = posted.top = 0;
  posted.is_shared_changed = false;
  posted.background = std::exchange(posted.before, {});
}

void MailBoxes::rewound(MailBox& box, std::uint64_t epoch, ph_status status) {
  if (oracle_.failed()) return;
  const auto found = std::find_if(box.retained.begin(), box.retained.end(),
                                  [epoch](const Posted* one) { return one->epoch == epoch; });
  const bool may_wait = found != box.retained.end() && box.was_landing && status == PH_AGAIN;
  if (may_wait) box.is_changing = false;
  expect(box, "rewind", status,
         may_wait                      ? PH_AGAIN
         : found == box.retained.end() ? PH_ERR_STATE
                                       : PH_OK);
  if (status != PH_OK || oracle_.failed()) return;
  MailPlace& here = place_of(box);
  for (Posted* one : box.posted) make_void(*one);
  // Behind what was handed over, before what is posted; the earliest first.
  const auto behind = static_cast<std::ptrdiff_t>(box.awaited.size() - box.posted.size());
  while (box.retained.back()->epoch != epoch) {
    Posted& later = *box.retained.back();
    box.retained.pop_back();
    later.is_void = true;
    here.slots[later.slot].is_busy = true;
    box.awaited.insert(box.awaited.begin() + behind, {&later, true});
  }
  box.known_epoch = epoch + 1;
  box.end_epoch = box.known_epoch;
  box.incarnations.push_back(0);  // not known yet
  box.is_changing = false;
  for (Posted* one : box.posted) one->epoch = box.end_epoch++;
}

void MailBoxes::closed(MailBox& box, ph_status status) {
  if (oracle_.failed()) return;
  expect(box, "close", status, PH_OK);
  box.closed_at = tick();
  for (Posted* one : box.posted) {
    if (one->is_early) continue;
    one->is_closed = true;
    one->was_recalled = box.was_landing;
  }
  while (!box.was_landing && !box.posted.empty() && !oracle_.failed()) hand_over(box);
  box.retained.clear();
}

void MailBoxes::took(const Endpoint& at, const ph_mailbox_event& event) {
  if (oracle_.failed()) return;
  MailBox* box = nullptr;
  for (std::uint32_t address = 0; address < kMailAddressesCount; ++address)
    for (MailBox& life : place(at, address).lives)
      if (life.handle.bits == event.box.bits && !life.awaited.empty()) box = &life;
  oracle_.note(at, text_of(event));
  if (box == nullptr)
    return oracle_.report("unexpected", "rank " + std::to_string(at.rank) + " took " +
                                            text_of(event) + ", of no mailbox that owes one");
  const Awaited next = box->awaited.front();
  box->awaited.pop_front();
  Posted& one = *next.posted;
  if (!next.is_rewound && !box->posted.empty() && box->posted.front() == &one) hand_over(*box);
  if (oracle_.failed()) return;
  const bool is_right = event.address == kMailAddresses[box->address] && event.epoch == one.epoch &&
                        event.data == slot_of(one).data() && event.cookie == one.cookie &&
                        event.incarnation == one.incarnation;
  if (!is_right)
    return wrong("order", *box,
                 "gave " + text_of(event) + "; next is epoch " + std::to_string(one.epoch) +
                     ", incarnation " + std::to_string(one.incarnation));
  if ((event.why == PH_MAILBOX_REWOUND) != next.is_rewound)
    return wrong("status", *box, "gave " + text_of(event) + ", rewound or not");
  if (next.is_rewound) {
    if (!is_same(event, one.event))
      wrong("count", *box, "took back another one: " + text_of(event));
  } else {
    one.event = event;
    choose_candidates(one, event);
    check_counts(one, event);
    check_why(one, event);
  }
  if (is_changed(one)) return;
  // One that was rewound before this event was taken comes once more.
  slot_of(one).is_busy = one.is_void && !next.is_rewound;
}

void MailBoxes::took_none(MailBox& box, ph_status status) {
  if (oracle_.failed()) return;
  const bool is_over = !box.is_open() && box.awaited.empty();
  const bool owes = box.awaited.size() != box.posted.size();
  if (owes)
    wrong("lost", box, "gave no event, and has handed over a buffer");
  else if (status != (is_over ? PH_ERR_STATE : PH_AGAIN))
    wrong("status", box, "gave no event, and said " + std::to_string(status));
}

}  // namespace photon::simtest
