// How collectives go on: their teams are met, they take their places, begin and end.
#include <cstring>
#include <string>
#include <thread>
#include <utility>

#include "compat/collectives.hpp"
#include "compat/warn.hpp"

namespace photon::classic {

namespace {

constexpr const char* kJoin = "photon_collective_join";

// How long one is waited for before those that have not begun have their turn.
constexpr std::int64_t kAloneUs = 10000;
constexpr std::int64_t kAmongOthersUs = 50;

// No larger room is kept for results to come.
constexpr std::size_t kMostSpareBytes = std::size_t{64} << 20;

// Nothing was done, and the call may be made again.
bool is_for_later(ph_status status) noexcept { return status > 0 || status == PH_ERR_MEMORY; }

// A request that is still named has ended only if its context has.
bool has_ended(ph_status status, ph_request request) noexcept {
  return request == PH_REQUEST_NONE || status == PH_ERR_STATE || status == PH_ERR_FORKED;
}

ph_coll_kind kind_of(photon_coll kind) noexcept {
  switch (kind) {
    case PHOTON_COLL_REDUCE: return PH_COLL_REDUCE;
    case PHOTON_COLL_ALLREDUCE:
    case PHOTON_COLL_IALLREDUCE: return PH_COLL_ALLREDUCE;
    case PHOTON_COLL_SCAN:
    case PHOTON_COLL_ISCAN: return PH_COLL_SCAN;
    default: return PH_COLL_BARRIER;
  }
}

// An operation takes its place in the order of the team at init, when its arguments are not known:
// until join gives them by ph_coll_change() it is prepared as a barrier.
ph_coll_args barrier_for_now() noexcept {
  ph_coll_args args{};
  args.size = sizeof args;
  args.kind = PH_COLL_BARRIER;
  args.flags = PH_NO_LCE;
  return args;
}

ph_coll_args args_of(Collective& collective) noexcept {
  ph_coll_args args{};
  args.size = sizeof args;
  args.kind = kind_of(collective.kind);
  args.request = &collective.request;
  if (collective.is_barrier()) return args;
  args.in = collective.work.in;
  args.out = collective.yields() ? collective.result.bytes.get() : nullptr;
  args.count = collective.work.count;
  args.type = collective.work.type;
  args.op = collective.work.op;
  args.flags = PH_REPRODUCIBLE;  // the order of the ranks
  return args;
}

}  // namespace

// The program's buffer is written at the end alone. Throws bad_alloc.
void Collectives::give_room(Collective& collective) {
  const std::size_t needed = collective.yields() ? collective.work.size_bytes() : 0;
  if (needed <= collective.result.size_bytes) return;
  collective.result = std::exchange(spare_, {});
  if (needed <= collective.result.size_bytes) return;
  collective.result = {};
  collective.result = {std::make_unique_for_overwrite<std::byte[]>(needed), needed};
}

// In the order of init; those that nobody will join have their place, too, which is given up.
void Collectives::place_all(Communicator& communicator) {
  auto& unplaced = communicator.unplaced;
  const ph_coll_args args = barrier_for_now();
  while (!unplaced.empty()) {
    Collective& next = *unplaced.front();
    if (communicator.status() == PH_OK) {
      if (communicator.team() == nullptr) return;
      const ph_status status = ph_coll_prepare(communicator.team(), &args, &next.place);
      if (is_for_later(status)) return;
      next.status = status;
    } else {
      next.status = communicator.status();
    }
    if (next.is_dropped) drop(next);
    unplaced.pop_front();
  }
  std::erase_if(meeting_, [&](const auto& one) { return one.get() == &communicator; });
}

void Collectives::step_all() {
  for (std::size_t i = meeting_.size(); i-- > 0;) {
    const std::shared_ptr<Communicator> communicator = meeting_[i];
    communicator->look(context_);
    place_all(*communicator);
  }
  for (const auto& [rid, collective] : table_) step(*collective);
}

void Collectives::step(Collective& collective) {
  if (collective.state == State::joined) begin(collective);
  if (collective.state != State::begun) return;
  ph_request request = collective.request;
  const ph_status status = ph_test(context_, &request, nullptr);
  if (has_ended(status, request)) end(collective, status);
}

ph_status Collectives::change(Collective& collective) {
  const ph_coll_args args = args_of(collective);
  const ph_status status = ph_coll_change(collective.place, &args);
  collective.is_changed = status == PH_OK;
  return status;
}

// Peers depend on one that was joined: what can be tried again is.
void Collectives::begin(Collective& collective) {
  if (collective.status != PH_OK) return end(collective, collective.status);
  if (collective.place == nullptr) return;
  ph_status status = collective.is_changed ? PH_OK : change(collective);
  if (status == PH_OK) status = ph_coll_start(collective.place);
  if (is_for_later(status)) return;
  if (status != PH_OK) return end(collective, status);
  collective.state = State::begun;
  --joined_;
  if (collective.request == PH_REQUEST_NONE) end(collective, PH_OK);
}

void Collectives::end(Collective& collective, ph_status status) noexcept {
  if (collective.state == State::over) return;
  if (collective.state == State::joined && joined_ != 0) --joined_;
  if (status != PH_OK) say(status);
  const std::size_t size_bytes = collective.work.size_bytes();
  if (status == PH_OK && collective.yields() && size_bytes != 0)
    std::memcpy(collective.work.out, collective.result.bytes.get(), size_bytes);
  if (collective.result.size_bytes > spare_.size_bytes &&
      collective.result.size_bytes <= kMostSpareBytes)
    spare_ = std::move(collective.result);
  collective.result = {};
  collective.request = PH_REQUEST_NONE;
  collective.status = status;
  collective.state = State::over;
  if (collective.tells()) collective.told.front().status = status;
  drop(collective);
}

// Its place is given up, now or when it gets it.
void Collectives::drop(Collective& collective) noexcept {
  collective.is_dropped = true;
  if (collective.place == nullptr) return;
  static_cast<void>(ph_coll_free(collective.place));
  collective.place = nullptr;
}

void Collectives::await_end(Collective& collective, ph_request request) {
  std::size_t others = 0;
  {
    const std::scoped_lock lock(mutex_);
    others = joined_;
  }
  const std::int64_t round_us = others != 0 ? kAmongOthersUs : kAloneUs;
  const ph_status status = ph_wait_request(context_, &request, nullptr, round_us);
  if (has_ended(status, request)) {
    const std::scoped_lock lock(mutex_);
    end(collective, status);
  } else if (status == PH_ERR_NOT_FOUND) {
    std::this_thread::yield();  // another thread has it in hand, and is about to say so
  }
}

// Or for room.
void Collectives::await_team(Communicator& communicator) {
  bool is_ours = false;
  {
    const std::scoped_lock lock(mutex_);
    is_ours = communicator.may_wait();
    if (is_ours) communicator.begin_wait();
  }
  if (is_ours) {
    ph_team* team = nullptr;
    const ph_status status = communicator.wait(context_, kAmongOthersUs, team);
    const std::scoped_lock lock(mutex_);
    communicator.end_wait(context_, status, team);
    return;
  }
  std::size_t count = 0;  // nothing is taken: peers are served
  static_cast<void>(ph_probe(context_, {PH_ANY_RANK, PH_EITHER, nullptr}, nullptr, 0, &count));
  std::this_thread::yield();
}

// The context has the words, if none of another thread's have come since.
void Collectives::say(ph_status status) noexcept {
  ph_error error{};
  ph_last_error(context_, &error);
  const bool is_it = error.status == status && error.text[0] != '\0';
  const char* const text = is_it ? error.text : ph_status_text(status);
  if (status != PH_ERR_ARGUMENT) return warn(kJoin, text);
  try {
    const std::string own = "(rank " + std::to_string(ph_rank_of(context_)) + ")";
    std::string words = "ranks have joined with different counts or datatypes";
    if (std::strstr(text, own.c_str()) != nullptr)
      words += ", and the other one says of this that it has joined with another count or datatype";
    warn(kJoin, (words + ": " + text).c_str());
  } catch (const std::bad_alloc&) {
    warn(kJoin, "ranks have joined with different counts or datatypes");
  }
}

}  // namespace photon::classic
