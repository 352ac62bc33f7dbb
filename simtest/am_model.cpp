#include "simtest/am_model.hpp"

#include <algorithm>
#include <cstring>

#include "simtest/pattern.hpp"

namespace photon::simtest {

namespace {

constexpr std::uint64_t kAmMark = 0x616d'7367'0000'0000;  // no other value has that
constexpr std::uint64_t kAmNumber = 0xffff'ffff;

const char* name_of(AmMessage::Way way) noexcept {
  switch (way) {
    case AmMessage::Way::small: return "small";
    case AmMessage::Way::args: return "with args";
    case AmMessage::Way::reply: return "reply";
    case AmMessage::Way::prepared: return "prepared";
  }
  return "?";
}

std::span<const std::byte> span_of(const void* data, std::uint64_t size_bytes) noexcept {
  return {static_cast<const std::byte*>(data), size_bytes};
}

std::uint64_t word_in(std::span<const std::byte> bytes) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data(), sizeof word);
  return word;
}

}  // namespace

std::uint64_t AmMessage::value() const noexcept { return kAmMark | number; }

std::string AmMessage::text() const {
  std::string text = "message " + std::to_string(number) + " (" + name_of(way) + ", id " +
                     std::to_string(id) + ", of rank " + std::to_string(from) + " to " +
                     std::to_string(to) + ", " + std::to_string(payload.size()) + " bytes";
  if (!header.empty()) text += ", a header of " + std::to_string(header.size());
  if (cause != nullptr) text += ", because of message " + std::to_string(cause->number);
  return text + (lane == 0 ? ")" : ", " + name_of_lane(lane) + ")");
}

AmModel::AmModel(Oracle& oracle, const Program& program)
    : oracle_(oracle),
      ranks_(program.ranks),
      lanes_(program.lanes_count()),
      carried_max_(program.ams ? option_of(program, "am_carried_max") : 0),
      flows_(program.ams ? std::size_t{ranks_} * ranks_ * lanes_ : 0),
      states_(std::size_t{ranks_} * lanes_) {}

void AmModel::wrong(const char* kind, const AmMessage& one, const std::string& what) {
  oracle_.report(kind, one.text() + " " + what);
}

// The bytes that it has at its sender.
void AmModel::fill(AmMessage& one) const {
  Pattern(Purpose::source, one.value()).fill(one.payload);
  Pattern(Purpose::id, one.value()).fill(one.header);
  const std::uint64_t value = one.value();
  auto& named = one.header.size() >= 8 ? one.header : one.payload;
  if (named.size() >= 8) std::memcpy(named.data(), &value, sizeof value);
}

// The others may run before the call returns, and handle it: so it counts as accepted until the
// call says something else.
AmMessage& AmModel::begin(const Endpoint& from, const Draft& draft) {
  AmMessage& one = all_.emplace_back();
  const Step& step = *draft.step;
  one.way = draft.way;
  one.number = static_cast<std::uint32_t>(all_.size());
  one.from = from.rank;
  one.to = draft.to;
  one.lane = from.lane;
  one.step = &step;
  one.cause = draft.cause;
  one.quiesces = draft.cause != nullptr ? draft.cause->quiesces : draft.quiesces;
  const bool is_reply = draft.way == AmMessage::Way::reply;
  one.id = is_reply ? kAmIds[0] : kAmIds[step.offset];
  one.payload.resize(is_reply ? step.own_gap_bytes : step.size_bytes);
  one.is_pulled = carried_max_ != 0 && one.payload.size() > carried_max_;
  const bool has_header =
      draft.way == AmMessage::Way::args || draft.way == AmMessage::Way::prepared;
  if (has_header) one.header.resize(step.row_bytes);
  if (draft.way == AmMessage::Way::prepared) one.flags = PH_NO_LCE;
  if (draft.way == AmMessage::Way::args || is_reply) {
    one.flags = is_reply ? step.flags & ~PH_AM_REPLY : step.flags;
    one.has_id = step.local_id_bytes != 0;
    if (step.compare != 0) one.immediate = one.value();
  }
  fill(one);
  one.begun_at = oracle_.events_so_far();
  if (one.to >= ranks_) return one;
  one.accepted = true;
  one.is_cut = oracle_.is_lost(one.from, one.to);
  const State& there = state({one.to, one.lane});
  const auto handler = there.handlers.find(one.id);
  one.may_refuse = handler == there.handlers.end() || handler->second == 0;
  one.may_drop = one.is_cut || there.gone || state({one.to}).gone;
  queue(one).push_back(&one);
  return one;
}

ph_status AmModel::right_status(const AmMessage& one) const {
  if (one.to >= ranks_) return PH_ERR_RANK;
  const Fault fault = one.way == AmMessage::Way::reply ? Fault::none : one.step->fault;
  return fault == Fault::none ? PH_OK : PH_ERR_ARGUMENT;
}

void AmModel::posted(AmMessage& one, ph_status status) {
  if (oracle_.failed()) return;
  oracle_.note({one.from, one.lane}, one.text() + " = " + std::to_string(status));
  const bool is_reply = one.way == AmMessage::Way::reply;
  const ph_status right = right_status(one);
  // In a handler it queues in the place of PH_AGAIN, until there is no room for it.
  const bool may_try_again = status == (one.cause == nullptr ? PH_AGAIN : PH_ERR_MEMORY);
  if (status != right && !(right == PH_OK && may_try_again && !is_reply) &&
      !may_end_with(one, status) && !(status == PH_ERR_MEMORY && may_lack_regions(one)))
    return wrong("status", one,
                 "was told " + std::to_string(status) + ", expected was " + std::to_string(right));
  if (status == PH_OK) {
    if (!one.has(PH_NO_LCE) || one.is_pulled) oracle_.also_under_way({one.from, one.lane}, one.to);
  } else if (one.has_begun || one.local_seen || one.late_seen) {
    return wrong("unexpected", one,
                 "was handled or told of, though the call said " + std::to_string(status));
  } else if (one.to < ranks_) {
    std::erase(queue(one), &one);
    one.accepted = false;
  }
  Pattern(Purpose::junk, one.value()).fill(one.header);
  if (!one.is_pulled || status != PH_OK) Pattern(Purpose::junk, one.value()).fill(one.payload);
}

// ---- handlers

std::uint64_t AmModel::handler_of(const Endpoint& at, std::uint32_t id) {
  return state(at).handlers[id];
}

void AmModel::enroll(const Endpoint& at, std::uint32_t id, std::uint64_t handler) {
  oracle_.note(at, "id " + std::to_string(id) + " has handler " + std::to_string(handler));
  state(at).handlers[id] = handler;
  if (handler != 0) return;
  for (AmMessage& one : all_)
    if (one.to == at.rank && one.lane == at.lane && one.id == id && !one.has_begun)
      one.may_refuse = true;
}

AmMessage* AmModel::named(std::uint64_t value) noexcept {
  const std::uint64_t at = (value & kAmNumber) - 1;
  return (value & ~kAmNumber) != kAmMark || at >= all_.size() ? nullptr : &all_[at];
}

// By its number, or the first of its way that can be meant.
AmMessage* AmModel::find(const Endpoint& at, const ph_am_message& message) {
  if (message.header_bytes >= 8) return named(word_in(span_of(message.header, 8)));
  if (message.payload_bytes >= 8 && message.payload != nullptr)
    return named(word_in(span_of(message.payload, 8)));
  if (message.immediate != 0) return named(message.immediate);
  if (message.source >= ranks_) return nullptr;
  AmMessage probe;
  probe.from = message.source;
  probe.to = at.rank;
  probe.lane = at.lane;
  for (AmMessage* one : queue(probe))
    if (!one->is_named() && one->id == message.id && one->payload.size() == message.payload_bytes &&
        one->header.size() == message.header_bytes)
      return one;
  return nullptr;
}

bool AmModel::check_shape(const Endpoint& at, const AmMessage& one, const ph_am_message& message) {
  const bool is_reply = one.way == AmMessage::Way::reply;
  const std::uint32_t flags =
      (one.has(PH_AM_REPLY) ? PH_AM_REPLY : 0) | (is_reply ? std::uint32_t{PH_AM_IS_REPLY} : 0);
  if (one.lane != at.lane || one.to != at.rank || one.from != message.source)
    wrong(one.lane != at.lane ? "lane" : "unexpected", one,
          "comes to rank " + std::to_string(at.rank) + " on " + name_of_lane(at.lane) +
              " as if from " + std::to_string(message.source));
  else if (!one.accepted)
    wrong("unexpected", one, "comes, though it was not accepted");
  else if (one.has_begun)
    wrong("twice", one, "comes a second time");
  else if (one.is_passed)
    wrong("order", one, "comes behind one that was sent later");
  else if (one.is_refused)
    wrong("twice", one, "comes, though its sender was told that it was refused");
  else if (one.id != message.id || message.flags != flags || message.immediate != one.immediate ||
           message.payload_bytes != one.payload.size() ||
           message.header_bytes != one.header.size() || message.size != sizeof message)
    wrong("bytes", one,
          "comes as id " + std::to_string(message.id) + ", flags " + std::to_string(message.flags) +
              ", immediate " + std::to_string(message.immediate) + ", " +
              std::to_string(message.payload_bytes) + " and " +
              std::to_string(message.header_bytes) + " bytes");
  return !oracle_.failed();
}

void AmModel::check_bytes(const AmMessage& one, const ph_am_message& message) {
  if (oracle_.failed()) return;
  const auto differs = [&](Purpose purpose, std::span<const std::byte> bytes, bool has_name) {
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % 8 != 0) return true;
    const std::size_t name = has_name ? 8 : 0;
    if (has_name && word_in(bytes) != one.value()) return true;
    return Pattern(purpose, one.value()).difference(bytes.subspan(name), name).has_value();
  };
  const auto header = span_of(message.header, message.header_bytes);
  if (one.is_pulled != (message.payload == nullptr && message.payload_bytes != 0))
    return wrong("bytes", one, "comes with its payload where it has to be read, or without it");
  const auto payload = span_of(message.payload, one.is_pulled ? 0 : message.payload_bytes);
  const bool is_in_header = header.size() >= 8;
  if (differs(Purpose::id, header, is_in_header) ||
      differs(Purpose::source, payload, !is_in_header && payload.size() >= 8))
    wrong("bytes", one, "comes with other bytes than it had at the call");
}

// Those before it do not come any more.
void AmModel::pass(AmMessage& one) {
  std::deque<AmMessage*>& sent = queue(one);
  while (!oracle_.failed() && !sent.empty() && sent.front() != &one) {
    AmMessage& passed = *sent.front();
    if (!passed.may_refuse && !passed.may_drop) wrong("order", one, "overtakes " + passed.text());
    passed.is_passed = true;
    sent.pop_front();
  }
  if (oracle_.failed()) return;
  if (sent.empty()) return wrong("order", one, "comes behind one that was sent later");
  sent.pop_front();
}

AmMessage* AmModel::begun(const Endpoint& at, std::uint64_t handler, const ph_am_message& message) {
  State& here = state(at);
  ++here.running;
  if (oracle_.failed()) return nullptr;
  AmMessage* const one = find(at, message);
  if (one == nullptr) {
    oracle_.report("unexpected",
                   "rank " + std::to_string(at.rank) + " handles what nobody sent: " + "id " +
                       std::to_string(message.id) + " of rank " + std::to_string(message.source));
    return nullptr;
  }
  oracle_.note(at, "handles message " + std::to_string(one->number));
  if (!check_shape(at, *one, message)) return nullptr;
  if (here.running != 1)
    wrong("handler", *one, "is handled while another handler of its lane runs");
  else if (here.gone || state({at.rank}).gone)
    wrong("handler", *one, "is handled by a rank that leaves");
  else if (here.handlers[one->id] != handler)
    wrong("handler", *one,
          "is handled by handler " + std::to_string(handler) + ", its id has " +
              std::to_string(here.handlers[one->id]));
  if (!oracle_.failed()) pass(*one);
  if (!oracle_.failed()) check_bytes(*one, message);
  one->has_begun = true;
  return oracle_.failed() ? nullptr : one;
}

// What it has named is ignored if it says an error.
void AmModel::handled(const Endpoint& at, AmMessage& one, ph_status status) {
  --state(at).running;
  if (one.landed == nullptr) return end(one, status);
  if (status != PH_OK) one.landed->ignore();
  if (!one.landed->is_told()) end(one, status != PH_OK ? status : one.landed->error());
}

}  // namespace photon::simtest
