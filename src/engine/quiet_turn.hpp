// The turn of who waits and has nothing else to do. Apart from fast_path.hpp, since no probe
// makes it.
#pragma once

#include "engine/fast_path.hpp"
#include "engine/services.hpp"

namespace photon::engine {

// The whole of take_fetched() for the record of the peer's ring whose word this is, if it says that
// all went well to who keeps the request. False: nothing was done.
[[gnu::always_inline]] inline bool Engine::take_good_fetched(Peer& peer,
                                                             std::uint64_t word) noexcept {
  const transport::Line& line = peer.rx.line(0);
  Request* request = peer.acks.head();
  if ((word & ~kTag) != kFetched || line.words[0].get() != static_cast<std::uint64_t>(PH_OK) ||
      request == nullptr || request->kind != Request::Kind::atomic || !request->kept ||
      request->local_done || !peer.idle()) [[unlikely]]
    return false;
  if (request->destination != nullptr)
    put_word(request->destination, line.words[1].get(), request->size_bytes);
  peer.rx.pop(1);
  peer.acks.pop();
  --peer.atomics_asked;
  peer.staged_landed = std::max(peer.staged_landed, request->staged_mark);
  request->data_done = request->local_done = true;  // its outcome is PH_OK
  --peer.outstanding;
  completions_.release();
  if (waiters_ != 0) [[unlikely]]
    news();
  return true;
}

// progress() for who waits, where it is sure to find nothing, or no more than the answer to an
// atomic; false: it was not, and nothing was done.
[[gnu::always_inline]] inline bool Engine::quiet_turn() noexcept {
  if (((turn_ + 1) & look_mask_) == 0 || due_ != 0 || doorbell_->get() != doorbell_seen_ ||
      empty_polls_ + 1 >= poll_interval_) [[unlikely]]
    return false;
  ++turn_;
  for (unsigned looks = 0; looks < kLooks; ++looks) {
    const std::size_t hot = hot_.size();
    for (std::size_t i = 0; i < hot; ++i) {
      const std::size_t at = hot == 1 ? 0 : (services_->next_quick_ + i) % hot;
      Peer* const peer = hot_[at];
      const std::uint64_t word = peer->rx.look();
      const auto state = peer->rx.state_of(word);
      if (state == LineConsumer::State::empty) [[likely]]
        continue;
      if (state == LineConsumer::State::record &&
          (take_good_fetched(*peer, word) || services_->take_lines(*peer, word))) {
        services_->next_quick_ = static_cast<std::uint32_t>(at + 1);
        if (peer->broken == PH_OK) has_met(*peer);
        return true;
      }
      --turn_;
      return false;
    }
    if (looks == 0) transport::Policy::idle(pause_for_answer());
  }
  ++empty_polls_;
  return true;
}

}  // namespace photon::engine
