// Payloads of active messages that land: each part is told once, in order, with all its bytes
// there, and the last one once, be it with an error.
#include <algorithm>
#include <cstring>

#include "simtest/am_model.hpp"
#include "simtest/pattern.hpp"

namespace photon::simtest {

namespace {

// Each of them takes some of a rank's registrations.
constexpr std::int64_t kFewPulled = 8;

std::string text_of(const ph_am_part& part) {
  return "part of " + std::to_string(part.size_bytes) + " bytes at " + std::to_string(part.offset) +
         ", status " + std::to_string(part.status) + (part.is_last != 0 ? ", the last one" : "");
}

}  // namespace

void AmModel::end(AmMessage& one, ph_status status) {
  one.is_handled = true;
  one.result = status > PH_OK ? PH_ERR_ARGUMENT : status;
  if (!one.is_pulled) one.payload = std::vector<std::byte>(one.payload.size());
}

// Whether so many payloads of its rank are lent that no registration may be left.
bool AmModel::may_lack_regions(const AmMessage& one) const {
  if (!one.is_pulled) return false;
  return std::count_if(all_.begin(), all_.end(), [&](const AmMessage& other) {
           return other.is_pulled && other.accepted && other.from == one.from &&
                  !other.local_seen && !other.late_seen;
         }) > kFewPulled;
}

AmLanded& AmModel::land(AmMessage& one) {
  one.landed =
      std::make_unique<AmLanded>(one.number, one.step->place, one.payload.size(), one.is_pulled);
  return *one.landed;
}

// The source is gone, or its link is: then its keys go at once, and that may be seen first.
bool AmModel::may_end_early(const AmMessage& one, const ph_am_part& part) const {
  if (!one.is_pulled || part.status == PH_OK || part.size_bytes != 0 || part.is_last == 0)
    return false;
  return part.offset == one.landed->next().offset &&
         ((part.status == PH_ERR_KEY && (one.is_cut || one.from_gone)) ||
          oracle_.may_be_gone({one.from, one.lane}, part.status) ||
          oracle_.may_be_lost(one.to, one.from, part.status));
}

bool AmModel::has_bytes(const AmMessage& one, const ph_am_part& part) const {
  const std::vector<std::byte> bytes = one.landed->bytes(part);
  std::uint64_t index = part.offset;
  std::size_t first = 0;
  if (one.is_named_by_payload()) {  // the first bytes are its number
    const std::uint64_t value = one.value();
    std::byte name[sizeof value];
    std::memcpy(name, &value, sizeof value);
    for (; first < bytes.size() && index < sizeof value; ++first, ++index)
      if (bytes[first] != name[index]) return false;
  }
  const auto rest = std::span(bytes).subspan(first);
  return !Pattern(Purpose::source, one.value()).difference(rest, index).has_value();
}

void AmModel::check_part(const AmMessage& one, const ph_am_part& part) {
  const ph_am_part next = one.landed->next();
  const bool is_next = part.offset == next.offset && part.size_bytes == next.size_bytes &&
                       part.status == next.status && part.data == next.data &&
                       (part.is_last != 0) == (next.is_last != 0);
  if (one.landed->is_over())
    wrong("twice", one, "is told of a " + text_of(part) + ", after the last one");
  else if (!is_next && !may_end_early(one, part))
    wrong("order", one, "is told of a " + text_of(part) + ", and the next is a " + text_of(next));
  else if (part.status == PH_OK && !has_bytes(one, part))
    wrong("bytes", one, "has other bytes in a " + text_of(part));
  else if (one.landed->is_damaged())
    wrong("guard", one, "has written beside its landing");
}

void AmModel::part_begun(const Endpoint& at, AmMessage& one, const ph_am_message& message,
                         const ph_am_part& part) {
  State& here = state(at);
  ++here.running;
  if (oracle_.failed()) return;
  oracle_.note(at, "message " + std::to_string(one.number) + ": " + text_of(part));
  one.landed->spoil_list();
  const bool is_its = message.source == one.from && message.id == one.id &&
                      message.immediate == one.immediate && message.header == nullptr &&
                      message.header_bytes == 0 && message.payload == nullptr &&
                      message.payload_bytes == one.payload.size() && one.to == at.rank;
  if (here.running != 1)
    wrong("handler", one, "is told of a part while another handler of its lane runs");
  else if (here.gone || state({at.rank}).gone)
    wrong("handler", one, "is told of a part by a rank that leaves");
  else if (!is_its || one.is_handled)
    wrong("unexpected", one, "is told of a part in other words than its own, or when it is over");
  else
    check_part(one, part);
}

void AmModel::part_ended(const Endpoint& at, AmMessage& one, const ph_am_part& part,
                         ph_status returned) {
  --state(at).running;
  if (oracle_.failed()) return;
  one.landed->told(part, returned);
  if (part.is_last != 0) end(one, part.status != PH_OK ? part.status : returned);
}

void AmModel::check_landings() {
  for (const AmMessage& one : all_)
    if (!oracle_.failed() && one.landed != nullptr && one.landed->is_damaged())
      wrong("late", one, "has written beside its landing, or to it when it was over");
}

}  // namespace photon::simtest
