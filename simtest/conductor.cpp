#include "simtest/conductor.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace photon::simtest {

namespace {

using transport::sim::SimNetwork;

constexpr std::uint64_t kTurnNs = 100;                    // longest time between two switches
constexpr std::uint64_t kLongestRunNs = 100'000'000'000;  // simulated
constexpr std::uint64_t kMostSwitches = 1'000'000;        // runs that end take up to 55,000
constexpr std::uint64_t kEscapeNs = 1'000'000'000;        // what each wait lasts once stuck
constexpr std::uint64_t kBetweenStalls = 256;             // pauses and waits in the library
constexpr std::uint64_t kLongestStallNs = 100'000;
constexpr std::uint64_t kServeNs = 1000;  // between two looks in a collective
constexpr std::uint64_t kMostEscapes = 1'000'000;

}  // namespace

Conductor::Conductor(SimNetwork& network, std::uint64_t seed)
    : network_(network), random_(transport::sim::Random(seed).stream(0x636f6e64)) {
  network_.pace_by(*this);
}

void Conductor::run(const std::function<void(ph_rank)>& body, const std::function<void()>& stuck) {
  body_ = body;
  on_stuck_ = stuck;
  seats_.resize(network_.size());
  for (ph_rank rank = 0; rank < seats_.size(); ++rank)
    seats_[rank].fiber = std::make_unique<Fiber>(stacks_, [this, rank] { body_(rank); });
  for (ph_rank rank = 0; choose(rank);) {
    resume(rank);
    network_.advance_to(network_.now_ns() + random_.up_to(kTurnNs));
  }
}

void Conductor::resume(ph_rank rank) {
  running_ = rank;
  seats_[rank].asleep = false;
  inside_ = true;
  seats_[rank].fiber->resume();
  inside_ = false;
}

bool Conductor::stop(ph_rank rank) {
  Seat& seat = seats_[rank];
  return !seat.fiber->ended() && !std::exchange(seat.is_stopped, true);
}

void Conductor::bury() {
  give_up();
  for (ph_rank rank = 0; rank < seats_.size(); ++rank)
    while (seats_[rank].is_stopped && !seats_[rank].fiber->ended()) resume(rank);
}

void Conductor::let_happen() {
  while (!stuck_ && !events_.empty() && events_.begin()->first <= network_.now_ns()) {
    const auto event = events_.extract(events_.begin());
    event.mapped()();
  }
}

// When a rank can go on; kNever: something else has to happen first.
std::uint64_t Conductor::due_ns(ph_rank rank) {
  const Seat& seat = seats_[rank];
  if (!seat.asleep) return seat.ready_ns;
  const std::uint64_t awake_ns = std::min(seat.ready_ns, seat.where->news_due_ns(rank));
  return std::max(awake_ns, seat.stalled_until_ns);
}

// One of those that can go, drawn. False: all have ended.
bool Conductor::choose(ph_rank& rank) {
  for (;;) {
    let_happen();
    able_.clear();
    std::uint64_t next_ns = events_.empty() ? SimNetwork::kNever : events_.begin()->first;
    bool all_ended = true;
    const std::uint64_t now_ns = network_.now_ns();
    for (ph_rank candidate = 0; candidate < seats_.size(); ++candidate) {
      if (seats_[candidate].fiber->ended() || seats_[candidate].is_stopped) continue;
      all_ended = false;
      const std::uint64_t due = stuck_ ? 0 : due_ns(candidate);
      if (due <= now_ns) able_.push_back(candidate);
      next_ns = std::min(next_ns, due);
    }
    if (all_ended) return false;
    ++switches_;
    if (!able_.empty()) {
      rank = able_[random_.up_to(able_.size() - 1)];
      if (!stuck_ && (now_ns > kLongestRunNs || switches_ > kMostSwitches)) get_stuck();
      return true;
    }
    if (next_ns == SimNetwork::kNever)
      get_stuck();
    else
      network_.advance_to(next_ns);
  }
}

void Conductor::get_stuck() {
  on_stuck_();
  give_up();
}

void Conductor::give_up() noexcept {
  if (std::exchange(stuck_, true)) return;
  switches_ = 0;
}

void Conductor::give_way(std::uint64_t ready_ns, SimNetwork* asleep_in) {
  Seat& seat = seats_[running_];
  if (stuck_) {
    network_.advance_to(network_.now_ns() + kEscapeNs);
    if (++switches_ > kMostEscapes) {
      std::fprintf(stderr, "simtest: rank %u does not leave the library although every wait ends\n",
                   running_);
      std::abort();
    }
  }
  seat.ready_ns = ready_ns;
  seat.asleep = asleep_in != nullptr;
  seat.where = asleep_in;
  seat.fiber->leave();
}

// Now and then a rank stands still for long.
std::uint64_t Conductor::draw_stall() {
  const bool stalls = random_.up_to(kBetweenStalls - 1) == 0;
  const std::uint64_t stall_ns = stalls ? random_.up_to(kLongestStallNs) : 0;
  seats_[running_].stood_still_ns += stall_ns;
  return stall_ns;
}

void Conductor::pause(std::uint64_t ns) {
  const std::uint64_t stall_ns = draw_stall();
  give_way(network_.now_ns() + ns + stall_ns, nullptr);
}

void Conductor::sleep(SimNetwork& where, transport::Rank me, std::uint64_t until_ns) noexcept {
  if (inside_ && me == running_) {
    seats_[me].stalled_until_ns = network_.now_ns() + draw_stall();
    return give_way(until_ns, &where);
  }
  // Outside run() nobody else can act: only time can pass.
  if (until_ns != SimNetwork::kNever) network_.advance_to(until_ns);
}

void Conductor::interrupt(SimNetwork& where, transport::Rank me, std::uint64_t until_ns) noexcept {
  const std::uint64_t begin_ns = network_.now_ns();
  const std::uint64_t stood_still_ns = seats_[me].stood_still_ns;
  sleep(where, me, until_ns);
  seats_[me].stood_still_ns = stood_still_ns + network_.now_ns() - begin_ns;
}

bool Conductor::meet(const boot::Serve& serve) {
  const std::uint64_t mine = collectives_;
  if (++arrived_ == seats_.size()) {
    arrived_ = 0;
    ++collectives_;
    return !stuck_;
  }
  // The transport's news wake us too: a rank in a collective serves its peers.
  while (collectives_ == mine && !stuck_) {
    serve();
    if (collectives_ != mine) break;
    seats_[running_].stalled_until_ns = 0;
    give_way(network_.now_ns() + kServeNs, &network_);
  }
  return collectives_ != mine;
}

}  // namespace photon::simtest
