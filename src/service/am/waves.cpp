#include "service/am/waves.hpp"

#include <cstring>
#include <new>
#include <string>
#include <tuple>
#include <utility>

#include "wire/status.hpp"

namespace photon::service::am {

namespace {

constexpr std::uint64_t word_of(Op op) noexcept {
  Word word;
  word.op = op;
  return encode(word);
}

constexpr std::size_t kMostWords = 3;  // behind word 0

// Of a rank that was never met there is no state: what says that it cannot be met is all there is.
constexpr bool is_for_good(ph_status status) noexcept {
  return status == PH_ERR_PEER || status == PH_ERR_DEPARTED;
}

}  // namespace

Waves::Waves(Port& port, const Gates& gates, IsSettled is_settled, std::uint32_t waves_wanted)
    : port_(port),
      gates_(gates),
      is_settled_(std::move(is_settled)),
      states_({port.rank(), port.size()}, waves_wanted) {}

// ---- for the user

ph_status Waves::may_begin(const char* call) {
  const char* what = nullptr;
  if (port_.is_in_run())
    what = "called in a handler, which it would wait for";
  else if (promise_ != 0)
    what = "one of ph_am_quiesce_begin() is under way on this lane";
  else if (is_waited_for_)
    what = "another thread of this rank is in it";
  if (what == nullptr) return PH_OK;
  return port_.fail(PH_ERR_STATE, PH_ANY_RANK, std::string(call) + ": " + what);
}

// Parent and children, so that each hears of the other's end.
ph_status Waves::meet() {
  if (states_.state() == WaveStates::State::broken) {
    for (std::size_t place = 0; place < AmTree::kPlaces; ++place) push(place);
    return why_broken();
  }
  for (std::size_t place = 0; place < AmTree::kPlaces; ++place) {
    if (!states_.tree().has(place)) continue;
    const Rank rank = states_.tree().at(place);
    const ph_status status = port_.contact(rank);
    if (status == PH_OK) continue;
    const ph_status state = port_.state(rank);
    if (state == PH_OK && !is_for_good(status)) return status;  // not yet: nothing has begun
    break_off(rank, state == PH_OK ? status : state);
    break;
  }
  if (why_ != PH_OK) break_off(lost_, why_);
  return states_.state() == WaveStates::State::broken ? why_broken() : PH_OK;
}

ph_status Waves::why_broken() {
  return port_.fail(why_, lost_,
                    "am_quiesce: rank " + std::to_string(lost_) +
                        (why_ == PH_ERR_DEPARTED ? " has left" : " is lost") +
                        ", so that nobody can tell what its messages have come to (" +
                        ph_status_text(why_) + ")");
}

ph_status Waves::enter() {
  if (const ph_status status = may_begin("am_quiesce"); status != PH_OK) return status;
  if (!is_begun_) {
    if (const ph_status status = meet(); status != PH_OK) return status;
    states_.begin();
    is_begun_ = true;
  }
  look();  // also where it goes on: what its caller has just sent may have been all
  is_waited_for_ = true;
  return PH_OK;
}

ph_status Waves::take() {
  const ph_status status = *end_;
  end_.reset();
  is_begun_ = is_waited_for_ = false;
  return status == PH_OK ? PH_OK : why_broken();
}

ph_status Waves::begin(ph_request* request) {
  if (const ph_status status = may_begin("am_quiesce_begin"); status != PH_OK) return status;
  if (is_begun_)
    return port_.fail(PH_ERR_STATE, PH_ANY_RANK,
                      "am_quiesce_begin: one of ph_am_quiesce() is not over; call that again");
  if (const ph_status status = meet(); status != PH_OK) return status;
  if (const ph_status status = port_.contact(port_.rank()); status != PH_OK) return status;
  UserEnd end;
  end.rank = port_.rank();
  end.request = request;
  promise_ = port_.promise(end);
  if (promise_ == 0) return PH_AGAIN;
  const std::uint64_t promised = promise_;
  states_.begin();
  look();
  port_.hand_over(promised, request);
  return PH_OK;
}

// ---- what is said

void Waves::say(std::size_t place, const Words& words) noexcept {
  unsaid_[place].wave = words;
  push(place);
}

void Waves::say_to_children(const WaveStamp& stamp, bool is_over) noexcept {
  const Words words{3, false, {word_of(Op::down), encode(stamp), is_over ? 1u : 0u}};
  for (std::size_t place = 0; place < states_.tree().children_count(); ++place) say(place, words);
}

// What is behind waits for what is before it.
void Waves::push(std::size_t place) noexcept {
  if (!states_.tree().has(place)) return;
  const Rank to = states_.tree().at(place);
  if (push(to, unsaid_[place].wave)) push(to, unsaid_[place].broken);
}

// False: it stays here, also for one who cannot be met yet. Who is lost, or has left, takes
// nothing.
bool Waves::push(Rank to, Words& words) noexcept {
  if (words.count == 0) return true;
  words.is_kept = false;
  const auto& w = words.words;
  const ph_status status = words.count == 3 ? port_.say_words(to, w[0], w[1], w[2])
                                            : port_.say_words(to, w[0], w[1], w[2], w[3]);
  if (status == PH_AGAIN) return false;
  if (status == PH_ERR_MEMORY) {
    port_.wants_turn();
    return false;
  }
  const bool is_gone = is_for_good(status) || port_.state(to) != PH_OK;
  words.is_kept = status != PH_OK && !is_gone;
  if (words.is_kept && !is_closed_) return false;
  words = {};
  return true;
}

void Waves::do_next(const WaveStates::Next& next) noexcept {
  using Say = WaveStates::Say;
  if (next.say == Say::nothing) return;
  if (next.say == Say::up)
    return say(
        AmTree::kParent,
        {4, false, {word_of(Op::up), encode(next.stamp), next.sums.sent, next.sums.handled}});
  ++waves_;
  say_to_children(next.stamp, next.say == Say::over);
  if (next.say == Say::over) ended(PH_OK);
}

// ---- what comes

bool Waves::on_message(Rank from, Op op, std::span<const std::byte> rest) noexcept {
  std::uint64_t words[kMostWords] = {};
  const std::size_t count = op == Op::down ? 2 : kMostWords;
  if (rest.size() != count * sizeof words[0]) return false;
  std::memcpy(words, rest.data(), rest.size());
  switch (op) {
    case Op::up:
      if (!states_.up(from, to_stamp(words[0]), {words[1], words[2]})) return false;
      push(*states_.tree().place_of(from));  // it may not have been met when this rank broke off
      look();
      return true;
    case Op::down: {
      WaveStates::Next next;
      if (words[1] > 1 || !states_.down(from, to_stamp(words[0]), words[1] == 1, next))
        return false;
      do_next(next);
      look();
      return true;
    }
    case Op::broken: return hear_broken(from, words);
    default: return false;
  }
}

bool Waves::hear_broken(Rank from, std::span<const std::uint64_t> words) noexcept {
  const auto [quiesce, status, rank] = std::tuple(words[0], words[1], words[2]);
  if (quiesce > UINT32_MAX || !states_.may_break(from, static_cast<std::uint32_t>(quiesce)) ||
      !wire::is_error(status) || rank >= port_.size())
    return false;
  break_off(static_cast<Rank>(rank), wire::to_status(status), states_.tree().place_of(from));
  return true;
}

// A link may be lost though both of its ends live, and be no link of the tree: then this rank alone
// knows that the sums will never be equal. Before its own call the next one tells.
void Waves::on_lost(Rank rank, ph_status why) noexcept {
  const auto place = states_.tree().place_of(rank);
  if (place) unsaid_[*place] = {};
  if (!place && why == PH_ERR_DEPARTED) return;
  if (states_.state() != WaveStates::State::idle) return break_off(rank, why, place);
  if (why_ != PH_OK || why == PH_ERR_DEPARTED) return;
  why_ = why;
  lost_ = rank;
}

// The others are told in the next turn: this may be inside of what was said to one of them.
void Waves::break_off(Rank rank, ph_status why, std::optional<std::size_t> told_by) noexcept {
  const std::uint32_t quiesce = states_.stamp().quiesce;
  const bool is_under_way = states_.state() != WaveStates::State::idle;
  if (!states_.break_off()) return;
  why_ = why;
  lost_ = rank;
  const Words words{4,
                    false,
                    {word_of(Op::broken), quiesce,
                     static_cast<std::uint64_t>(static_cast<std::int64_t>(why)), rank}};
  if (!is_closed_) {
    for (std::size_t place = 0; place < AmTree::kPlaces; ++place)
      if (states_.tree().has(place) && place != told_by) unsaid_[place].broken = words;
    port_.wants_turn();
  }
  if (is_under_way) ended(why);
}

void Waves::ended(ph_status status) noexcept {
  if (promise_ == 0) {
    end_ = status;
    return port_.wake();
  }
  std::string why;
  try {
    if (status != PH_OK) {
      why_broken();
      why = port_.last_error().what;
    }
  } catch (const std::bad_alloc&) {  // the status alone tells
  }
  const std::uint64_t promise = std::exchange(promise_, 0);
  port_.complete(promise, status, why.empty() ? nullptr : why.c_str());
  port_.release(promise);
}

// ---- turns

// One wave at a time: where this rank is alone, the next one is of the next turn.
void Waves::look() noexcept {
  if (!is_asked() || !is_settled_()) return;
  do_next(states_.gathered({gates_.sent(), gates_.handled()}));
  if (is_alone_and_ready()) port_.wants_turn();
}

void Waves::look_later() noexcept {
  if (is_asked()) port_.wants_turn();
}

bool Waves::is_alone_and_ready() const noexcept {
  return states_.tree().ranks_count == 1 && states_.is_all_there();
}

void Waves::on_room(Rank to) noexcept {
  if (const auto place = states_.tree().place_of(to)) push(*place);
  look();
}

// One who waits has met its neighbours, and this rank may make no call of its own.
void Waves::on_met(Rank rank) noexcept {
  const auto place = states_.tree().place_of(rank);
  if (place && (unsaid_[*place].wave.is_kept || unsaid_[*place].broken.is_kept)) port_.wants_turn();
}

void Waves::turn() noexcept {
  for (std::size_t place = 0; place < AmTree::kPlaces; ++place) push(place);
  look();
}

// ---- leaving

void Waves::close() noexcept {
  if (std::exchange(is_closed_, true)) return;
  for (std::size_t place = 0; place < AmTree::kPlaces; ++place) push(place);
  if (promise_ == 0) return;
  port_.complete(promise_, PH_ERR_DEPARTED);
  port_.release(std::exchange(promise_, 0));
}

bool Waves::is_idle() const noexcept {
  for (const Unsaid& one : unsaid_)
    if (one.wave.count != 0 || one.broken.count != 0) return false;
  return true;
}

std::uint64_t Waves::held() const noexcept {
  std::uint64_t held = promise_ != 0 ? 1 : 0;
  for (const Unsaid& one : unsaid_)
    for (const Words* words : {&one.wave, &one.broken})
      held += words->count != 0 && !words->is_kept ? 1 : 0;
  return held;
}

}  // namespace photon::service::am
