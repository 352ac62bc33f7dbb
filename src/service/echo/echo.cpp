#include "service/echo/echo.hpp"

#include <algorithm>
#include <cstring>

namespace photon::service::echo {

ph_status Echo::ask(Rank rank, std::uint64_t value) {
  if (rank < peers_.size()) {  // else say_words() has the words
    if (under_way_ + answers_.size() >= PH_ECHO_MOST_ASKED) return PH_AGAIN;
    answers_.make_room(under_way_ + 1);  // its answer does not fail then
    peer(rank).asked.make_room();
  }
  const ph_status status = port_.say_words(rank, kAsked, value);
  if (status != PH_OK) return status;
  peers_[rank]->asked.push_unchecked({value});
  ++under_way_;
  return PH_OK;
}

ph_status Echo::ask_body(Rank rank, std::span<const std::byte> body, std::uint64_t value) {
  if (const ph_status status = port_.contact(rank); status != PH_OK) return status;
  PeerState& to = peer(rank);
  if (under_way_ + answers_.size() >= PH_ECHO_MOST_ASKED || to.bodies.size() >= PH_ECHO_MOST_BODIES)
    return PH_AGAIN;
  answers_.make_room(under_way_ + 1);
  to.bodies.make_room();
  Saying what;
  what.to = rank;
  what.header = std::as_bytes(std::span(&kBody, 1));
  const ph_status status = port_.say_body(what, body, to.bodies.end());
  if (status != PH_OK) return status;
  to.bodies.push_unchecked({value});
  ++under_way_;
  return PH_OK;
}

void Echo::listen(ph_echo_handler handler, void* user) noexcept {
  handler_ = handler;
  user_ = user;
}

bool Echo::take(ph_echo_result& result) noexcept {
  if (answers_.empty()) return false;
  result = answers_.front();
  answers_.pop();
  return true;
}

// An answer that its peer is owed: it is as many as the peer has under way.
void Echo::say_surely(Rank to, std::uint64_t op, std::uint64_t value) {
  if (port_.say_words(to, op, value) != PH_AGAIN) return;
  const std::uint64_t words[] = {op, value};
  Saying what;
  what.to = to;
  what.header = std::as_bytes(std::span(words));
  what.must_go = true;
  static_cast<void>(port_.say(what));
}

bool Echo::on_message(const Message& message) {
  std::uint64_t words[2];
  if (message.header.size() != sizeof words || !message.payload.empty()) return false;
  std::memcpy(words, message.header.data(), sizeof words);
  const auto [op, value] = words;
  switch (op) {
    case kAsked: say_surely(message.from, kAnswer, value); return true;
    case kAnswer: return answered(message.from, peer(message.from).asked, value);
    case kTold: return take_told(message.from, value);
    case kHeard: {
      std::uint64_t& told = told_to_[message.from];
      if (value > told) return false;
      told -= value;
      return true;
    }
    case kBodySum:
    case kBodyEnds: return body_answered(message.from, op, value);
    default: return false;
  }
}

// False: it tells more than it may.
bool Echo::take_told(Rank from, std::uint64_t value) {
  if (told_.size() >= told_check_ && !may_tell(from)) return false;
  if (handler_ == nullptr) {
    note_heard(from, 1);
    return true;
  }
  told_.push_back({from, value});
  port_.wants_run();
  return true;
}

// Each message is not counted: it is looked through what waits when there is much of it.
bool Echo::may_tell(Rank from) noexcept {
  const auto is_its = [from](const Told& one) { return one.from == from; };
  if (std::count_if(told_.begin(), told_.end(), is_its) >= PH_ECHO_MOST_TOLD) return false;
  told_check_ = told_.size() + kHeardAtOnce;
  return true;
}

// If there is no memory to say so, nothing was noted.
void Echo::note_heard(Rank from, std::uint64_t count) {
  PeerState& teller = peer(from);
  const std::uint64_t heard = teller.heard + count;
  if (heard >= kHeardAtOnce) say_surely(from, kHeard, heard);
  teller.heard = heard >= kHeardAtOnce ? 0 : heard;
}

// False: it was not asked for, or is not what was sent.
bool Echo::answered(Rank from, base::RingQueue<Asked>& asked, std::uint64_t value) {
  if (asked.empty() || asked.front().value != value) return false;
  asked.pop();
  --under_way_;
  answers_.push_unchecked({from, PH_OK, value, 0});
  port_.wake();
  return true;
}

bool Echo::body_answered(Rank from, std::uint64_t op, std::uint64_t sum) {
  base::RingQueue<Asked>& bodies = peer(from).bodies;
  if (bodies.empty() || !bodies.front().has_left) return false;  // it may still be read from
  const Asked one = bodies.front();
  if (op == kBodyEnds && one.failed == PH_OK) return false;
  bodies.pop();
  --under_way_;
  answers_.push_unchecked({from, one.failed, one.value, one.failed == PH_OK ? sum : 0});
  port_.wake();
  return true;
}

// Its bytes have left; the answer is still to come, also where they could not be read.
void Echo::on_local(Rank to, std::uint64_t token, ph_status status) {
  base::RingQueue<Asked>& bodies = peer(to).bodies;
  if (token < bodies.begin() || token >= bodies.end()) return;
  bodies.at(token).failed = status;
  bodies.at(token).has_left = true;
}

Verdict Echo::on_chunk(const Chunk& chunk) {
  if (chunk.offset == 0) {
    std::uint64_t op = 0;
    if (chunk.message.header.size() != sizeof op || !chunk.message.payload.empty())
      return Verdict::malformed;
    std::memcpy(&op, chunk.message.header.data(), sizeof op);
    if (op != kBody) return Verdict::malformed;
    PeerState& from = peer(chunk.message.from);
    if (from.coming == PH_ECHO_MOST_BODIES) return Verdict::malformed;
    ++from.coming;
  }
  const bool ends = chunk.bytes.empty();
  kept_.push({chunk.message.from, chunk.loan, chunk.bytes.data(), chunk.bytes.size(),
              ends || chunk.is_last()});
  port_.wants_turn();
  return ends ? Verdict::taken : Verdict::kept;
}

// One chunk a turn: others have theirs. It stands in front until its answer is said, which may find
// no memory: then the next turn says it.
bool Echo::turn() {
  if (kept_.empty()) return false;
  Kept& one = kept_.front();
  PeerState& from = peer(one.from);
  if (one.bytes != nullptr) {
    from.sum.add({one.bytes, one.size_bytes});
    port_.give_back(one.from, one.loan);
    one.bytes = nullptr;
  }
  if (one.is_last) {
    if (port_.state(one.from) == PH_OK)
      say_surely(one.from, one.size_bytes == 0 ? kBodyEnds : kBodySum, from.sum.value());
    from.sum = Sum();
    --from.coming;
  }
  kept_.pop();
  return !kept_.empty();
}

void Echo::end_all(Rank rank, base::RingQueue<Asked>& asked, ph_status why) noexcept {
  for (; !asked.empty(); asked.pop()) {
    const Asked& one = asked.front();
    answers_.push_unchecked({rank, one.failed == PH_OK ? why : one.failed, one.value, 0});
    --under_way_;
  }
}

void Echo::on_lost(Rank rank, ph_status why) noexcept {
  told_to_[rank] = 0;  // who tells it more hears why not
  if (peers_[rank] == nullptr) return;
  end_all(rank, peers_[rank]->asked, why);
  end_all(rank, peers_[rank]->bodies, why);
  port_.wake();
}

// Values that are on their way to the handler make room for more: no more than twice the bound are
// here.
void Echo::collect() {
  while (heard_count_ < told_.size()) {
    const Rank from = told_[heard_count_].from;
    std::size_t end = heard_count_ + 1;
    while (end < told_.size() && told_[end].from == from) ++end;
    note_heard(from, end - heard_count_);
    heard_count_ = end;
  }
  heard_count_ = 0;
  told_check_ = PH_ECHO_MOST_TOLD;
  running_.swap(told_);
  running_handler_ = handler_;
  running_user_ = user_;
}

void Echo::run() noexcept {
  if (running_handler_ != nullptr)
    for (const Told& one : running_) running_handler_(running_user_, one.from, one.value);
  running_.clear();
}

void Echo::close() {
  handler_ = nullptr;
  told_.clear();
  heard_count_ = 0;
}

std::uint64_t Echo::held() const noexcept {
  return under_way_ + answers_.size() + kept_.size() + told_.size();
}

}  // namespace photon::service::echo
