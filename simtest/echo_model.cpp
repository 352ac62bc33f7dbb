#include "simtest/echo_model.hpp"

#include <algorithm>

#include "simtest/pattern.hpp"

namespace photon::simtest {

namespace {

constexpr std::uint64_t kEchoMark = 0x6563'686f'0000'0000;  // no other value has that
constexpr std::uint64_t kEchoNumber = 0xffff'ffff;

const char* name_of(Echoed::Kind kind) noexcept {
  switch (kind) {
    case Echoed::Kind::ask: return "ask";
    case Echoed::Kind::body: return "ask with a body";
    case Echoed::Kind::tell: return "tell";
  }
  return "?";
}

}  // namespace

std::uint64_t Echoed::value() const noexcept { return kEchoMark | number; }

std::string Echoed::text() const {
  std::string text = std::string("echo ") + std::to_string(number) + " (" + name_of(kind) +
                     " of rank " + std::to_string(from) + " to " + std::to_string(to);
  if (!body.empty()) text += ", " + std::to_string(body.size()) + " bytes";
  return text + (lane == 0 ? ")" : ", " + name_of_lane(lane) + ")");
}

EchoModel::EchoModel(Oracle& oracle, const Program& program)
    : oracle_(oracle),
      ranks_(program.ranks),
      lanes_(program.lanes_count()),
      flows_(program.echoes ? std::size_t{ranks_} * ranks_ * lanes_ : 0),
      states_(std::size_t{ranks_} * lanes_) {}

void EchoModel::wrong(const char* kind, const Echoed& one, const std::string& what) {
  oracle_.report(kind, one.text() + " " + what);
}

// The others may run before the call returns, and answer or hear it: so it counts as accepted until
// the call says something else.
Echoed& EchoModel::begin(const Endpoint& from, ph_rank to, Echoed::Kind kind,
                         std::uint64_t size_bytes) {
  Echoed& one = all_.emplace_back();
  one.kind = kind;
  one.number = static_cast<std::uint32_t>(all_.size());
  one.from = from.rank;
  one.to = to;
  one.lane = from.lane;
  one.body.resize(size_bytes);
  Pattern(Purpose::source, one.value()).fill(one.body);
  if (size_bytes != 0) one.sum = ph_echo_sum({one.body.data(), one.body.size()});
  one.begun_at = oracle_.events_so_far();
  if (to >= ranks_) return one;
  one.accepted = true;
  one.is_cut = oracle_.is_lost(one.from, to);
  if (kind == Echoed::Kind::tell) {
    const State& there = state({to, one.lane});
    one.was_deaf = there.handler == 0;
    one.may_drop = one.is_cut || one.was_deaf || there.gone || state({to}).gone;
  }
  one.expected = !one.may_drop;
  if (one.expected) ++pending_;
  queue(one).push_back(&one);
  return one;
}

bool EchoModel::may_end_with(const Echoed& one, ph_status status) {
  return oracle_.may_be_gone({one.to, one.lane}, status) ||
         oracle_.may_be_lost(one.from, one.to, status);
}

void EchoModel::drop(Echoed& one) noexcept {
  if (one.expected) --pending_;
  one.expected = false;
}

void EchoModel::posted(Echoed& one, ph_status status) {
  if (oracle_.failed()) return;
  oracle_.note({one.from, one.lane}, one.text() + " = " + std::to_string(status));
  if (one.to >= ranks_) {
    if (status != PH_ERR_RANK) wrong("status", one, "said " + std::to_string(status));
    return;
  }
  if (status == PH_OK) return;
  if (status != PH_AGAIN && !may_end_with(one, status))
    wrong("status", one, "was refused with " + std::to_string(status));
  if (one.over)
    wrong("unexpected", one,
          "was answered or heard, though the call said " + std::to_string(status));
  one.accepted = false;
  drop(one);
  std::erase(queue(one), &one);
  one.body = {};
}

Echoed* EchoModel::find(std::uint64_t value) noexcept {
  const std::uint64_t at = (value & kEchoNumber) - 1;
  return (value & ~kEchoNumber) != kEchoMark || at >= all_.size() ? nullptr : &all_[at];
}

// Says whether it came on the lane and between the ranks that it belongs to.
bool EchoModel::check_place(const Endpoint& at, const Echoed& one, ph_rank peer,
                            ph_rank right_peer) {
  if (one.lane != at.lane)
    wrong("lane", one, "came to rank " + std::to_string(at.rank) + " on " + name_of_lane(at.lane));
  else if (peer != right_peer)
    wrong("unexpected", one, "is said to be of peer " + std::to_string(peer));
  else if (!one.accepted)
    wrong("unexpected", one, "came, though it was not accepted");
  else if (one.over)
    wrong("twice", one, "came a second time");
  return !oracle_.failed();
}

void EchoModel::answered(const Endpoint& at, const ph_echo_result& result) {
  if (oracle_.failed()) return;
  Echoed* const one = find(result.value);
  if (one == nullptr || one->kind == Echoed::Kind::tell || one->from != at.rank)
    return oracle_.report("unexpected", "rank " + std::to_string(at.rank) +
                                            " has an answer that it did not ask for: value " +
                                            std::to_string(result.value) + " of rank " +
                                            std::to_string(result.rank));
  oracle_.note(
      at, "answer of echo " + std::to_string(one->number) + " = " + std::to_string(result.status));
  if (!check_place(at, *one, result.rank, one->to)) return;
  std::deque<Echoed*>& asked = queue(*one);
  if (asked.front() != one) return wrong("order", *one, "overtakes " + asked.front()->text());
  if (result.status != PH_OK && !may_end_with(*one, result.status))
    return wrong("status", *one, "was answered with " + std::to_string(result.status));
  if (result.status == PH_OK && !one->body.empty() && result.sum != one->sum)
    return wrong("bytes", *one, "was answered with the sum of other bytes");
  asked.pop_front();
  one->over = true;
  drop(*one);
  Pattern(Purpose::junk, one->value()).fill(one->body);
}

// Values may be dropped from now on: also those that come before the call returns.
void EchoModel::listening(const Endpoint& at, std::uint64_t handler) {
  oracle_.note(at, "listen by handler " + std::to_string(handler));
  state(at).handler = handler;
  if (handler != 0) return;
  for (Echoed& one : all_) {
    if (one.kind != Echoed::Kind::tell || one.to != at.rank || one.lane != at.lane) continue;
    one.may_drop = one.was_deaf = true;
    drop(one);
  }
}

const Echoed* EchoModel::heard(const Endpoint& at, std::uint64_t handler, ph_rank from,
                               std::uint64_t value) {
  State& here = state(at);
  ++here.running;
  if (oracle_.failed()) return nullptr;
  Echoed* const one = find(value);
  if (one == nullptr || one->kind != Echoed::Kind::tell || one->to != at.rank) {
    oracle_.report("unexpected", "rank " + std::to_string(at.rank) +
                                     " heard what nobody told it: value " + std::to_string(value) +
                                     " of rank " + std::to_string(from));
    return nullptr;
  }
  oracle_.note(at, "heard echo " + std::to_string(one->number));
  if (!check_place(at, *one, from, one->from)) return nullptr;
  if (here.running != 1)
    wrong("handler", *one, "is heard while another handler of its lane runs");
  else if (here.gone || state({at.rank}).gone)
    wrong("handler", *one, "is heard by a rank that has left");
  else if (here.handler != handler)
    wrong("handler", *one,
          "is heard by handler " + std::to_string(handler) + ", the lane has " +
              std::to_string(here.handler));
  std::deque<Echoed*>& told = queue(*one);
  while (!oracle_.failed() && !told.empty() && told.front() != one) {
    if (!told.front()->may_drop) wrong("order", *one, "overtakes " + told.front()->text());
    told.pop_front();  // it was dropped, and must not come any more
  }
  if (told.empty()) wrong("order", *one, "comes behind one that was told later");
  if (oracle_.failed()) return nullptr;
  told.pop_front();
  one->over = true;
  drop(*one);
  return one;
}

// A rank that dies may take with it what it had told; a rank that leaves delivers it. Neither takes
// answers or hears any more.
void EchoModel::gone(const Endpoint& end, bool is_dead) {
  state(end).gone = true;
  for (Echoed& one : all_) {
    const bool is_told = one.kind == Echoed::Kind::tell;
    const bool is_from = is_of(end, one.from, one.lane), is_to = is_of(end, one.to, one.lane);
    if (!is_told && is_from) drop(one);
    if (!is_told || (!is_to && !(is_from && is_dead))) continue;
    one.may_drop = true;
    drop(one);
  }
}

void EchoModel::link_lost(ph_rank a, ph_rank b) {
  for (Echoed& one : all_) {
    if ((one.from != a || one.to != b) && (one.from != b || one.to != a)) continue;
    one.is_cut = true;
    if (one.kind != Echoed::Kind::tell) continue;
    one.may_drop = true;
    drop(one);
  }
}

void EchoModel::finalized(ph_rank rank) {
  for (const Echoed& one : all_) {
    if (one.kind != Echoed::Kind::tell || one.from != rank || !one.accepted) continue;
    if (one.over || !one.is_cut || one.was_deaf) continue;
    if (!oracle_.was_told_since({rank, one.lane}, one.to, one.begun_at))
      return wrong("silent", one,
                   "was accepted and never heard: its link was lost, and nobody " +
                       std::string("was told, not by ph_finalize() either"));
  }
}

void EchoModel::report_pending() {
  for (const Echoed& one : all_)
    if (one.expected)
      return wrong("lost", one,
                   one.kind == Echoed::Kind::tell ? "is not heard" : "is not answered");
}

}  // namespace photon::simtest
