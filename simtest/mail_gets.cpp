#include "simtest/mail_gets.hpp"

#include <algorithm>
#include <cstring>

#include "simtest/pattern.hpp"

namespace photon::simtest {

namespace {

constexpr std::uint64_t kGetMark = 0x6d67'6574'0000'0000;  // no other id has that
constexpr std::uint64_t kGetNumber = 0xffff'ffff;
constexpr std::uint32_t kPlainGetId = 8;
constexpr std::ptrdiff_t kMostHeld = 8;  // requests, and long ids

}  // namespace

std::string Getting::text() const {
  std::string text = "get " + std::to_string(number) + " (of rank " + std::to_string(from) +
                     " from " + std::to_string(to) + ", mailbox " + std::to_string(address) + ", " +
                     std::to_string(size_bytes) + " bytes at " + std::to_string(offset);
  if (epoch != PH_ANY_EPOCH) text += ", epoch " + std::to_string(epoch);
  if (incarnation != 0) text += ", incarnation " + std::to_string(incarnation);
  return text + (lane == 0 ? ")" : ", " + name_of_lane(lane) + ")");
}

void MailGets::wrong(const char* kind, const Getting& get, const std::string& what) {
  oracle_.report(kind, get.text() + " " + what);
}

bool MailGets::may_hold_request(const Endpoint& from) const {
  return std::count_if(gets_.begin(), gets_.end(), [&from](const Getting& get) {
           return get.accepted && !get.is_over && get.from == from.rank && get.lane == from.lane;
         }) < kMostHeld;
}

Getting& MailGets::begin(const Endpoint& from, const Step& step) {
  Getting& get = gets_.emplace_back();
  get.number = static_cast<std::uint32_t>(gets_.size());
  get.from = from.rank;
  get.lane = from.lane;
  get.to = step.peer;
  get.address = static_cast<std::uint32_t>(step.operand % kMailAddressesCount);
  get.offset = step.offset;
  get.size_bytes = step.size_bytes;
  if (may_hold_request(from)) {
    get.id_bytes = std::max(kPlainGetId, step.local_id_bytes);
    get.is_asking = step.requested;
  }
  get.is_silent = !get.is_asking && (step.flags & PH_NO_LCE) != 0;
  get.memory.resize(get.size_bytes + 2 * Getting::kGuardBytes);
  Pattern(Purpose::landing, kGetMark | get.number).fill(get.memory);
  get.image = get.memory;
  get.begun_at = boxes_.tick();
  if (get.to >= ranks_) return get;
  get.accepted = true;
  const auto& lives = place_of(get).lives;
  const std::uint64_t known = lives.empty() ? 0 : lives.back().known_epoch;
  if (step.compare != 0) get.epoch = std::max<std::uint64_t>(known + step.compare, 3) - 3;
  if (step.kinds != 0 && !lives.empty() && !lives.back().incarnations.empty())
    get.incarnation = lives.back().incarnations.back();
  MailPlace& place = place_of(get);
  ++place.reads_begun;
  place.most_read_bytes = std::max(place.most_read_bytes, get.size_bytes);
  return get;
}

std::vector<std::byte> MailGets::id_of(const Getting& get) {
  std::vector<std::byte> id(get.id_bytes);
  const std::uint64_t word = kGetMark | get.number;
  Pattern(Purpose::id, word).fill(id);
  std::memcpy(id.data(), &word, sizeof word);
  return id;
}

void MailGets::posted(Getting& get, ph_status status) {
  if (oracle_.failed()) return;
  oracle_.note({get.from, get.lane}, get.text() + " = " + std::to_string(status));
  if (get.to >= ranks_) {
    if (status != PH_ERR_RANK) wrong("status", get, "said " + std::to_string(status));
    return;
  }
  if (status == PH_OK) return oracle_.also_under_way({get.from, get.lane}, get.to);
  const bool is_told = oracle_.may_be_gone({get.to, get.lane}, status) ||
                       oracle_.may_be_lost(get.from, get.to, status);
  if (status != PH_AGAIN && !is_told)
    wrong("status", get, "was refused by the call with " + std::to_string(status));
  if (get.is_over) wrong("unexpected", get, "is over, though the call was refused");
  get.accepted = false;
  --place_of(get).reads_begun;
}

bool MailGets::completed(const Endpoint& at, const ph_completion& one) {
  if ((one.id & ~kGetNumber) != kGetMark) return false;
  if (oracle_.failed()) return true;
  const std::uint64_t number = one.id & kGetNumber;
  const std::string seen = "rank " + std::to_string(at.rank) + " probed a " + text_of(one);
  if (number == 0 || number > gets_.size()) {
    oracle_.report("id", seen + ": no get has that id");
    return true;
  }
  Getting& get = gets_[number - 1];
  const std::vector<std::byte> id = id_of(get);
  const bool has_all =
      one.id_size_bytes == get.id_bytes &&
      (one.long_id == nullptr ? get.id_bytes == kPlainGetId
                              : std::memcmp(one.long_id, id.data(), id.size()) == 0);
  const bool is_its_place = one.kind == PH_LOCAL && get.accepted && get.from == at.rank &&
                            get.lane == at.lane && one.peer == get.to;
  if (!is_its_place || !has_all || get.is_asking || (one.status == PH_OK && get.is_silent))
    wrong("unexpected", get, "yields this: " + seen);
  else
    over(get, static_cast<ph_status>(one.status));
  return true;
}

void MailGets::ended(Getting& get, const ph_result& result) {
  if (oracle_.failed()) return;
  const std::uint64_t moved = result.status == PH_OK ? get.size_bytes : 0;
  if (get.request != PH_REQUEST_NONE || result.peer != get.to || result.size_bytes != moved)
    return wrong("unexpected", get,
                 "ended with " + std::to_string(result.size_bytes) + " bytes of rank " +
                     std::to_string(result.peer));
  over(get, static_cast<ph_status>(result.status));
}

void MailGets::over(Getting& get, ph_status status) {
  oracle_.note({get.from, get.lane}, get.text() + " ended with " + std::to_string(status));
  if (std::exchange(get.is_over, true)) return wrong("twice", get, "ends a second time");
  get.image = get.memory;
  if (status == PH_OK) return check_bytes(get);
  const bool is_loss = oracle_.may_be_gone({get.to, get.lane}, status) ||
                       oracle_.may_be_lost(get.from, get.to, status);
  if (!is_loss) ++place_of(get).reads_refused;
  if (!may_end_with(get, status))
    wrong("status", get, "was refused with " + std::to_string(status) + " for no reason");
}

// A buffer may not have been there at any time: a get does not wait for one.
bool MailGets::may_refuse(const MailBox& box, const Getting& get, ph_status status) {
  switch (status) {
    case PH_ERR_ACCESS: return box.args.source != PH_ANY_RANK && box.args.source != get.from;
    case PH_ERR_RANGE: return get.offset + get.size_bytes > box.least_bytes;
    case PH_ERR_EPOCH:  // also in the middle of a large one
    case PH_ERR_NO_BUFFER: return true;
    default: return false;
  }
}

bool MailGets::may_end_with(Getting& get, ph_status status) {
  if (oracle_.may_be_gone({get.to, get.lane}, status) ||
      oracle_.may_be_lost(get.from, get.to, status))
    return true;
  const auto& lives = place_of(get).lives;
  if (status == PH_ERR_NOT_FOUND)
    return std::none_of(lives.begin(), lives.end(), [&get](const MailBox& box) {
      return box.opened_at <= get.begun_at && box.is_open() && !box.is_changing;
    });
  return std::any_of(lives.begin(), lives.end(), [&](const MailBox& box) {
    const bool is_met = box.is_open() || box.ends_with_its_lane || box.closed_at > get.begun_at;
    return is_met && may_refuse(box, get, status);
  });
}

// Whether its bytes can have been in that buffer while it was under way.
bool MailGets::may_be_of(Getting& get, Posted& posted) {
  const MailBox& box = *posted.box;
  const bool was_rewound = box.incarnations.size() > 1;
  const bool was_there =
      posted.over_at == 0 || posted.over_at >= get.begun_at || box.args.retained != 0;
  const bool is_allowed = box.args.source == PH_ANY_RANK || box.args.source == get.from;
  const bool is_named = get.epoch == PH_ANY_EPOCH || get.epoch == posted.epoch || was_rewound;
  if (!was_there || !is_allowed || !is_named || posted.size_bytes == 0 ||
      get.offset + get.size_bytes > posted.size_bytes)
    return false;
  MailPlace& place = place_of(get);
  const MailSlot& slot = place.slots[posted.slot];
  const auto has_large = std::any_of(place.mails.begin(), place.mails.end(),
                                     [](const Mailed* mail) { return mail->is_large; });
  if (was_rewound || (has_large && !box.is_for_reading())) return true;
  for (std::uint64_t i = 0; i < get.size_bytes; ++i) {
    const std::uint64_t at = MailSlot::kGuardBytes + get.offset + i;
    const std::byte byte = get.destination()[i];
    const bool is_there = byte == posted.background[at] ||
                          (posted.is_over && byte == posted.image[at]) ||
                          (slot.posted == &posted && byte == slot.memory[at]) ||
                          (get.offset + i < kMailSharedBytes && !box.is_managed());
    if (!is_there) return false;
  }
  return true;
}

void MailGets::check_bytes(Getting& get) {
  MailPlace& place = place_of(get);
  Posted* found = nullptr;
  std::uint32_t count = 0;
  for (Posted& posted : place.buffers)
    if (may_be_of(get, posted)) {
      ++count;
      found = &posted;
    }
  if (count == 0) return wrong("bytes", get, "has bytes that no buffer held");
  // The first part of a large one may reach a threshold of bytes, and then the rest does not count.
  const bool is_one_part = get.size_bytes != 0 && get.size_bytes <= carried_max_;
  const bool is_counted = get.epoch == PH_ANY_EPOCH && is_one_part && found->box->is_for_reading();
  if (count == 1 && is_counted) ++found->reads;
}

std::vector<Getting*> MailGets::asked_by(const Endpoint& at) {
  std::vector<Getting*> all;
  for (Getting& get : gets_)
    if (get.request != PH_REQUEST_NONE && get.from == at.rank && get.lane == at.lane)
      all.push_back(&get);
  return all;
}

void MailGets::gone(const Endpoint& end) {
  for (Getting& get : gets_)
    if ((end.lane == 0 || get.lane == end.lane) && get.from == end.rank) get.is_gone = true;
}

bool MailGets::explains(const Endpoint& end, ph_status status) {
  return std::any_of(gets_.begin(), gets_.end(), [&](Getting& get) {
    const bool is_of_it = get.from == end.rank && (end.lane == 0 || get.lane == end.lane);
    return is_of_it && get.accepted && !get.is_over && may_end_with(get, status);
  });
}

bool MailGets::lacks_word(const Getting& get) const {
  return get.accepted && !get.is_over && !get.is_silent && !get.is_gone &&
         !oracle_.is_dead(get.from);
}

bool MailGets::is_settled() const {
  return std::none_of(gets_.begin(), gets_.end(),
                      [this](const Getting& get) { return lacks_word(get); });
}

void MailGets::report_pending() {
  for (const Getting& get : gets_)
    if (lacks_word(get)) return wrong("lost", get, "has not ended");
}

void MailGets::check_memory() {
  for (Getting& get : gets_) {
    const auto right = get.image.begin();
    const bool is_final = get.is_over || !get.accepted;
    const bool has_guards = std::equal(right, right + Getting::kGuardBytes, get.memory.begin()) &&
                            std::equal(get.image.end() - Getting::kGuardBytes, get.image.end(),
                                       get.memory.end() - Getting::kGuardBytes);
    if (!has_guards || (is_final && get.image != get.memory))
      return wrong("guard", get, "was written where or when it must not be");
  }
  for (const MailPlace& place : boxes_.places())
    for (const Posted& posted : place.buffers)
      if (posted.event.cookie != 0 && posted.box->incarnations.size() == 1 &&
          posted.reads > posted.event.operations)
        return oracle_.report("count", name_of(*posted.box) + ": buffer " +
                                           std::to_string(posted.cookie) + " was read " +
                                           std::to_string(posted.reads) + " times, and counted " +
                                           std::to_string(posted.event.operations));
}

}  // namespace photon::simtest
