// Waiting: spin a while (spin_time.hpp), then sleep. Several threads share one sleeper.
//
//   looking -- nothing, spun out --> [sleeper] announced -- looked again --> asleep --> looking
//                                \-> [another sleeps] waits for its news --> looking
#include <algorithm>
#include <chrono>

#include <sched.h>

#include "base/finally.hpp"
#include "engine/quiet_turn.hpp"
#include "engine/services.hpp"

namespace photon::engine {

namespace {

// "For ever" is far enough away.
std::int64_t deadline_after(std::int64_t now_ns, std::int64_t timeout_us) noexcept {
  constexpr std::int64_t kFar = INT64_MAX / 4;
  if (timeout_us > kFar / 1000) return INT64_MAX;
  return now_ns + std::max<std::int64_t>(0, timeout_us) * 1000;
}

}  // namespace

bool Engine::ready(const ph_query& query) const noexcept {
  if (query.peer == PH_ANY_RANK)
    return ((query.kinds & PH_LOCAL) != 0 && !local_ready_.empty()) ||
           ((query.kinds & PH_REMOTE) != 0 && !unexpected_ready_.empty());
  const Peer* peer = peers_[query.peer].get();
  if (peer == nullptr) return false;
  return ((query.kinds & PH_LOCAL) != 0 && !peer->local.empty()) ||
         ((query.kinds & PH_REMOTE) != 0 && peer->has_remote());
}

// What a wait for this query can still hope for; PH_OK: something.
ph_status Engine::broken(const ph_query& query) {
  if (query.peer == PH_ANY_RANK) return all_lost();
  if (peers_[query.peer] == nullptr) return PH_OK;
  const Peer& peer = *peers_[query.peer];
  if (peer.broken == PH_OK) return PH_OK;
  // Local ids of its operations come when NICs have let go of their memory.
  if ((query.kinds & PH_LOCAL) != 0 && peer.posted_under_way != 0) return PH_OK;
  return fail(peer.broken, query.peer,
              "wait: rank " + std::to_string(query.peer) + " can send nothing any more");
}

ph_status Engine::wait(LaneGuard& guard, const ph_query& query, std::int64_t timeout_us) {
  if (const auto status = check_query("wait", query); status != PH_OK) return status;
  ph_status verdict = PH_OK;
  bool is_woken = false;  // the word can be taken once, and this is asked again and again
  const auto done = [&] {
    is_woken = is_woken || guard.wake_word().take();
    if (is_woken || ready(query)) return true;
    verdict = broken(query);
    return verdict != PH_OK;
  };
  const auto status = wait_until(guard, done, timeout_us);
  return status == PH_OK ? verdict : status;
}

// Progress until done() or the deadline. The lane is given up between the looks.
ph_status Engine::wait_until(LaneGuard& guard, const std::function<bool()>& done,
                             std::int64_t timeout_us) {
  constexpr unsigned kYields = 8;
  constexpr std::int64_t kCrowdedNs = 2'000;  // above a round trip to a rank that runs
  if (const ph_status status = check_wait(); status != PH_OK) return status;
  progress(nullptr);  // every wait serves the peers, also one that finds what it wants at once
  if (done()) return PH_OK;
  if (stand_in_sleeps_) transport_->wake();  // we serve, and sleep, ourselves
  const std::int64_t began = transport_->now_ns();
  const std::int64_t deadline = deadline_after(began, timeout_us);
  const std::int64_t spin_until = oversubscribed_ ? 0 : began + spin_time_.ns();
  bool has_slept = false;
  const auto is_over = [&] {
    if (!done()) return false;
    if (has_slept && !oversubscribed_) spin_time_.slept(transport_->now_ns() - began);
    return true;
  };
  for (unsigned turns = 0;; ++turns) {
    if (meanwhile_) {
      guard.release();
      meanwhile_();
      guard.retake();
      if (!guard.still_open()) return guard.status();
    }
    const bool moved = (oversubscribed_ || !quiet_turn()) && progress(nullptr);
    const bool runs = user_code_ != 0;
    if (runs) {
      run_user_code(guard);
      if (!guard.still_open()) return guard.status();
    }
    if (is_over()) return PH_OK;
    // Turns that move bytes, or run user code, are long, and a wait ends when its time is over;
    // empty ones are short.
    const bool look_at_clock = moved || runs || turns % 16 == 0 || oversubscribed_;
    const std::int64_t now = look_at_clock ? transport_->now_ns() : 0;
    if (look_at_clock && now >= deadline) return PH_TIMEOUT;
    if (!moved && look_at_clock && now >= spin_until && (!oversubscribed_ || turns >= kYields)) {
      const auto is_up = [&] { return user_code_ != 0 || done(); };  // it is ours to run
      rest(guard, deadline == INT64_MAX ? -1 : (deadline - now + 999) / 1000, is_up);
      if (!guard.still_open()) return guard.status();
      has_slept = true;
      if (is_over()) return PH_OK;
      turns = 0;
      continue;
    }
    const bool is_long = is_crowded_ && look_at_clock && now - began >= kCrowdedNs;
    const bool should_give_core =
        (oversubscribed_ || is_long) && !moved;  // below nothing here is ours
    const bool is_ours = guard.is_biased();      // nobody waits for it here, or will show it
    guard.release();
    if (should_give_core)
      ::sched_yield();
    else if (!is_ours)
      transport::Policy::relax();
    guard.retake();
    if (!guard.still_open()) return guard.status();
  }
}

// Sleep once, as the rank's sleeper or behind it. timeout_us < 0: no limit.
void Engine::rest(LaneGuard& guard, std::int64_t timeout_us, const std::function<bool()>& done) {
  if (!stand_in_sleeps_ || sleeping_) guard.wake_word().arm();
  const base::Finally settled([&] {
    if (guard.status() == PH_OK && waiters_ == 0) guard.wake_word().disarm();
  });
  const bool stands_in = is_standing_in_;  // and not while it has given the lane up
  const std::uint64_t turn = turn_;
  const auto is_back = [&] {
    is_standing_in_ = stands_in;
    if (stands_in && turn_ != turn) is_caller_back_ = true;
  };
  services_->before_sleep();
  if (sleeping_) {
    // Our last turn may have taken credit in without using it yet, and nobody wakes the sleeper for
    // it again: as he did before he slept, leave nothing undone. What comes from here on wakes him.
    if (look_everywhere() || done()) return;
    timeout_us = sleep_limit_us(timeout_us);  // he chose his without knowing of our work
    ++waiters_;
    std::unique_lock lock(news_mutex_);
    const auto seen = news_count_;
    is_standing_in_ = false;
    guard.release();
    const auto limit = std::chrono::microseconds(timeout_us < 0 ? 1'000'000 : timeout_us);
    news_.wait_for(lock, limit, [&] { return news_count_ != seen; });
    lock.unlock();
    guard.retake();
    if (guard.status() != PH_OK) return;
    is_back();
    --waiters_;
    return;
  }
  // Hot rings ring while we sleep, and are hot again when we are back.
  for (Peer* peer : hot_) peer->rx.credits()->set_cold(true);
  sleeping_ = true;
  is_thaw_due_ = false;  // none may, before we are back
  transport_->arm();
  try {
    const bool is_news = services_->has_news();
    if (look_everywhere() || is_news || done()) return get_up();
  } catch (...) {
    get_up();
    throw;
  }
  ++waiters_;
  constexpr std::int64_t kIdleUs = 1'000'000;  // looked at once more, then for ever
  auto limit = sleep_limit_us(timeout_us);
  if (give_back_idle() && (limit < 0 || limit > kIdleUs)) limit = kIdleUs;
  ++own_counts_.sleeps;
  is_standing_in_ = false;
  guard.release();
  transport_->sleep(limit);
  guard.retake();
  if (guard.status() != PH_OK) return;  // a fork's child: nothing here is ours
  is_back();
  --waiters_;
  get_up();
  if (waiters_ != 0) news();  // one of the others takes over the sleeping, also if this throws:
  look_everywhere();
}

void Engine::get_up() {
  sleeping_ = false;
  if (is_armed_) return;  // it is asleep as we were (event_source.hpp)
  thaw();
  transport_->disarm();
}

// A transfer that the kernel may finish where the peer does not come, or ids that the overflow may
// take, must not be slept through.
std::int64_t Engine::sleep_limit_us(std::int64_t timeout_us) {
  constexpr std::int64_t kStallCheckUs = 50;
  constexpr std::int64_t kMeanwhileUs = 200;
  if (meanwhile_ && (timeout_us < 0 || timeout_us > kMeanwhileUs)) timeout_us = kMeanwhileUs;
  if (services_->is_due()) return 0;
  if (const std::int64_t next = services_->next_turn_ns(); next != INT64_MAX) {
    const std::int64_t us = std::max<std::int64_t>(0, (next - transport_->now_ns() + 999) / 1000);
    if (timeout_us < 0 || timeout_us > us) timeout_us = us;
  }
  for (const Peer* peer : busy_) {
    const Request* request = peer->work.head();
    const bool is_stalled =
        (request != nullptr && request->stalled_since_ns != 0) || !peer->gets.waiting.empty();
    if (is_stalled || (peer->dry_since_ns != 0 && !peer->is_dry))
      return timeout_us < 0 ? kStallCheckUs : std::min(timeout_us, kStallCheckUs);
  }
  return timeout_us;
}

ph_status Engine::flush(LaneGuard& guard, Rank rank, std::int64_t timeout_us) {
  services_->before_flush(rank);
  if (rank != PH_ANY_RANK) {
    const auto accepted = fence(rank);
    if (rank < size_ && peers_[rank] != nullptr && peers_[rank]->broken != PH_OK)
      return not_flushed(*peers_[rank]);
    if (accepted != PH_OK || peers_[rank] == nullptr) return accepted;
    Peer& peer = *peers_[rank];
    const auto target = peer.fences_begun;
    const auto done = [&] { return peer.fences_ended >= target || peer.broken != PH_OK; };
    const auto status = wait_until(guard, done, timeout_us);
    return status == PH_OK ? not_flushed(peer) : status;
  }
  std::vector<std::pair<Peer*, std::uint64_t>> targets;
  for (Peer* peer : std::vector<Peer*>(contacted_)) {
    if (peer->broken != PH_OK) continue;
    if (const auto status = fence(peer->rank); status != PH_OK) return status;
    targets.emplace_back(peer, peer->fences_begun);
  }
  const auto done = [&] {
    return std::all_of(targets.begin(), targets.end(), [](const auto& target) {
      return target.first->fences_ended >= target.second || target.first->broken != PH_OK;
    });
  };
  if (const auto status = wait_until(guard, done, timeout_us); status != PH_OK) return status;
  for (const auto& [peer, count] : targets)
    if (peer->broken != PH_ERR_DEPARTED && not_flushed(*peer) != PH_OK) return peer->broken;
  return lost_of_any("flush");
}

// The status of a flush that has ended, with words if its peer is lost.
ph_status Engine::not_flushed(Peer& peer) {
  if (peer.broken == PH_OK) return PH_OK;
  peer.lost_some = false;  // told now
  return fail(peer.broken, peer.rank,
              "flush: rank " + std::to_string(peer.rank) +
                  " is lost: what was under way to it may not have landed" +
                  (peer.why.empty() ? "" : " (" + peer.why + ")"));
}

}  // namespace photon::engine
