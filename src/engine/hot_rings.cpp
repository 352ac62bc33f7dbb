// Hot rings and cold ones: which rings every probe looks at, and how the peers of all others are
// heard.
//
//   cold -- its peer has rung, and a record is there --> hot, and the peer still rings
//   hot, and the peer still rings -- a turn that finds nothing, or a few others --> hot
//   hot (either) -- silent for long while more than kHotKept are hot --> cold
//
// The peer rings while CreditWords::cold says so: where it need not, that costs it a doorbell.
// Before a sleep all of them have to (sync/sleep_gate.hpp).
#include <algorithm>

#include "engine/fast_path.hpp"

namespace photon::engine {

// Hot rings are looked at in every probe; all others ring a doorbell.
void Engine::heat(Peer& peer) {
  peer.last_hit = turn_;
  if (peer.hot || !peer.has_rx || peer.broken != PH_OK) return;
  peer.hot = true;
  hot_.push_back(&peer);
  // While another thread sleeps, senders have to ring: what it declared cold stays so, and it looks
  // itself at a ring that is new.
  const bool is_cold = peer.rx.credits()->is_cold();
  if (!sleeping_ && !is_armed_)
    is_thaw_due_ = is_thaw_due_ || is_cold;
  else if (!is_cold)
    wake_sleeper();
}

// The peers of hot rings need not ring any more. They are told a little later than they were heard:
// their processors hold the word, and a store to it would stand before the answer that comes next.
void EngineState::thaw() noexcept {
  is_thaw_due_ = false;
  for (Peer* peer : hot_)
    if (peer->rx.credits()->is_cold()) peer->rx.credits()->set_cold(false);
}

void EngineState::wake_sleeper() noexcept {
  if (sleeping_) transport_->wake();
  if (is_armed_) events_->ring();
}

// Tell the threads of this rank that wait. Called with the lane held.
void Engine::news() {
  {
    std::lock_guard lock(news_mutex_);
    ++news_count_;
  }
  news_.notify_all();
  wake_sleeper();
}

// What the next record to a peer touches first stays in this processor's caches: that of one peer
// in turn, and of those that are most likely the next, if they are few.
void EngineState::keep_warm() noexcept {
  if (doorbell_ == &no_doorbell_ || contacted_.empty()) return;
  if (++next_warm_ >= contacted_.size()) next_warm_ = 0;
  contacted_[next_warm_]->expect_post();
  if (hot_.size() > kHotKept) return;
  for (const Peer* peer : hot_) peer->expect_post();
}

// The peer that kicked us last, if its ring holds a record and is not looked at anyway: without the
// detour by the transport, whose look at all doorbells comes next. A peer may have written
// anything.
Peer* EngineState::who_kicked() noexcept {
  const std::uint64_t lane_doorbell = doorbell_->get();
  const std::uint64_t rank = lane_doorbell >> transport::kDoorbellRankShift;
  Peer* peer = rank < size_ ? peers_[rank].get() : nullptr;
  if (peer == nullptr || peer->hot || peer->broken != PH_OK || !peer->has_rx) return nullptr;
  // As take_hot() does, but while the record is still on its way. A lane's doorbell for credit
  // claims a line that we are about to write, too.
  if (peer->claims_answers && peer->has_grant()) peer->tx.claim(1);
  if (peer->rx.peek() != LineConsumer::State::record) return nullptr;
  doorbell_seen_ = lane_doorbell;
  return peer;
}

void Engine::cool(Peer& peer) {
  if (!peer.hot) return;
  peer.hot = false;
  peer.rx.credits()->set_cold(true);
  std::erase(hot_, &peer);
}

// A probe that is unusual for nothing but a lane's doorbell goes on if that names a ring it would
// not have looked at. Others may have rung before: the transport is polled soon.
bool Engine::on_doorbell() noexcept {
  if (((turn_ + 1) & look_mask_) == 0 || due_ != 0 || config_.max_cid_size > 8) return false;
  Peer* rang = who_kicked();
  if (rang == nullptr) return false;
  const std::uint64_t last_hit = rang->last_hit;
  heat(*rang);
  rang->last_hit = last_hit;  // met in this turn, and not as the next of a stream
  look_soon();
  return true;
}

}  // namespace photon::engine
