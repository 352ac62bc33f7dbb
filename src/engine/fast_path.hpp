// What is posted and met most often, without a call and without an allocation: puts of one line on
// a credit grant, notifications, and probes that meet them. Every function either does the whole
// job or says that the general way has to.
#pragma once

#include <algorithm>
#include <cstring>

#include "engine/eager_chunks.hpp"
#include "engine/services.hpp"

namespace photon::engine {

template <class AnySink>
inline constexpr bool kIsOne = std::is_same_v<AnySink, SingleSink&>;

inline constexpr std::uint64_t kTag = 0xffff;  // of a header's word
inline constexpr std::uint64_t kFetched = wire::encode(wire::Kind::fetched, wire::kNoId, 0);

// Of 4 or 8 bytes, its bits from bit 0: without a call.
inline void put_word(void* to, std::uint64_t bits, std::uint64_t bytes) noexcept {
  if (bytes == 8) {
    std::memcpy(to, &bits, 8);
  } else {
    const auto low = static_cast<std::uint32_t>(bits);
    std::memcpy(to, &low, 4);
  }
}

// A put of at most one line with 8-byte ids, on a credit grant. Nothing in it calls or allocates,
// so that it needs no stack: every store here waits behind the lines on their way to the peer.
[[gnu::always_inline]] inline Engine::Fast Engine::try_put_u64(Rank rank, ph_const_block source,
                                                               ph_target target,
                                                               ph_u64_ids ids) noexcept {
  if (rank >= size_ || source.size_bytes > kLineRoom) [[unlikely]]
    return Fast::no;
  Peer* peer = peers_[rank].get();
  if (peer == nullptr || !peer->has_grant() || peer->local.full()) [[unlikely]]
    return Fast::no;
  if (source.size_bytes != 0 &&
      (source.data == nullptr || !is_granted({peer->regions, config_.max_regions}, target,
                                             source.size_bytes, PH_ACCESS_WRITE))) [[unlikely]]
    return Fast::no;
  transport::Policy::light_barrier();  // registers: what was looked at above is not kept for below
  peer->claim_if_due();
  transport::Line& line = peer->tx.line(0);
  if (source.size_bytes != 0) [[likely]] {
    line.words[0].set(target.address);
    line.words[1].set(target.key);
    copy_small(&line.words[3], static_cast<const std::byte*>(source.data), source.size_bytes);
  }
  line.words[2].set(ids.remote);
  peer->tx.publish_line(
      line, wire::encode(wire::Kind::put, 8, 0) | std::uint64_t{source.size_bytes} << 48);
  return done_u64(*peer, ids.local);
}

// After the record of a put on a credit grant: its source may be reused.
[[gnu::always_inline]] inline Engine::Fast Engine::done_u64(Peer& peer,
                                                            std::uint64_t local) noexcept {
  peer.local.push_unchecked({local, 8, PH_OK});
  if (!peer.local_ready) [[likely]] {
    peer.local_ready = true;
    local_ready_.push(&peer);
  }
  return told(peer);
}

// After a record of the fast path.
[[gnu::always_inline]] inline Engine::Fast Engine::told(const Peer& peer) const noexcept {
  transport::Policy::light_barrier();  // [asleep]
  if (static_cast<unsigned>(peer.always_kicks) | waiters_ |
      static_cast<unsigned>(peer.credits->is_cold())) [[unlikely]]
    return Fast::tell;
  return Fast::done;
}

[[gnu::always_inline]] inline Engine::Fast Engine::try_notify(Rank rank,
                                                              std::uint64_t remote) noexcept {
  if (rank >= size_) [[unlikely]]
    return Fast::no;
  Peer* peer = peers_[rank].get();
  if (peer == nullptr || !peer->has_grant()) [[unlikely]]
    return Fast::no;
  peer->claim_if_due();
  transport::Line& line = peer->tx.line(0);
  line.words[2].set(remote);
  peer->tx.publish_line(line, wire::encode(wire::Kind::put, 8, 0));
  completions_.release();  // the credit grant has taken one for each of its lines
  return told(*peer);
}

// A put of one line with an 8-byte id and at most kLineRoom bytes, whatever its tag.
constexpr bool is_small_put(std::uint64_t header) noexcept {
  constexpr std::uint64_t kAllButTagAndSize = 0x0000'ffff'ffff'0000;
  return (header & kAllButTagAndSize) == wire::encode(wire::Kind::put, 8, 0) && header >> 48 <= 32;
}

// (A CompletionSink or a SingleSink, which is still empty where a function is false.)
// The record most often met, for a prober who waits for just that; false: go the general way.
[[gnu::always_inline]] inline bool Engine::take_small(Peer& peer, std::uint64_t header,
                                                      auto& sink) noexcept {
  if (!is_small_put(header)) [[unlikely]]
    return false;
  const transport::Line& line = peer.rx.line(0);
  if (const std::uint64_t bytes = header >> 48; bytes != 0) {
    const ph_target target{line.words[0].get(), line.words[1].get()};
    if (!is_granted(regions_, target, bytes, PH_ACCESS_WRITE)) [[unlikely]]
      return false;
    copy_small(reinterpret_cast<void*>(target.address), &line.words[3], bytes);
  }
  sink.put(PH_REMOTE, peer.rank, {line.words[2].get(), 8, PH_OK}, peer.outstanding);
  ++peer.probed;
  peer.rx.pop(1);
  return true;
}

// The same, and a put of one chunk, which takes a call.
[[gnu::always_inline]] inline bool Engine::take_by_fast_path(Peer& peer, std::uint64_t header,
                                                             auto& sink) noexcept {
  return take_small(peer, header, sink) || EagerChunks::take(*this, peer, header, sink);
}

// Local completions of the one peer that has any; false: there are more, or not all was taken.
[[gnu::always_inline]] inline bool Engine::take_local(CompletionSink& sink) noexcept {
  Peer* peer = local_ready_[0];
  if (local_ready_.size() != 1 || !sink.wants(PH_LOCAL, peer->rank)) [[unlikely]]
    return false;
  completions_.end_run();
  while (!peer->local.empty()) {
    if (sink.full()) return false;
    const Event event = peer->local.front();  // in this order it takes the fewest instructions
    peer->local.pop();
    completions_.release();
    sink.put(PH_LOCAL, peer->rank, event, peer->outstanding);
  }
  peer->local_ready = false;
  local_ready_.clear();
  return true;
}

// One of those that may be taken one after the other. False: nothing was taken.
[[gnu::always_inline]] inline bool Engine::pop_local(SingleSink& sink) noexcept {
  Peer* peer = completions_.run().next();
  if (peer == nullptr || (sink.query.kinds & ~std::uint32_t{PH_REMOTE}) != PH_LOCAL ||
      !sink.wants(PH_LOCAL, peer->rank)) [[unlikely]]
    return false;
  sink.put(PH_LOCAL, peer->rank, peer->local.front(), peer->outstanding);
  peer->local.pop();
  return true;
}

// Who takes LOCAL completions one by one looks up every kLocalsInARow of them. False: there is
// something to do in a general turn, and REMOTE ones have theirs, as between two probes of many.
inline bool Engine::may_go_on_with_locals() noexcept {
  locals_in_a_row_ = 0;
  empty_polls_ += kLocalsInARow;  // these were turns, too: the transport may be due
  if (empty_polls_ >= poll_interval_ || hot_.size() != 1) return false;
  const LineConsumer& rx = hot_[0]->rx;
  return rx.state_of(rx.look()) == LineConsumer::State::empty;
}

// The same for who takes one by one, and how many more pop_local() may hand out. The last of a
// queue is left to this.
[[gnu::always_inline]] inline bool Engine::take_local(SingleSink& sink) noexcept {
  if (locals_in_a_row_ >= kLocalsInARow && !may_go_on_with_locals()) [[unlikely]]
    return false;
  if (local_ready_.size() != 1) [[unlikely]]
    return false;
  Peer* peer = local_ready_[0];
  if (!sink.wants(PH_LOCAL, peer->rank) || peer->local.empty()) [[unlikely]]
    return false;
  ++turn_;
  completions_.end_run();
  sink.put(PH_LOCAL, peer->rank, peer->local.front(), peer->outstanding);
  peer->local.pop();
  completions_.release();
  if (peer->local.empty()) {
    peer->local_ready = false;
    local_ready_.clear();
    ++locals_in_a_row_;
    return true;
  }
  const auto more = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(peer->local.size() - 1, kLocalsInARow - 1 - locals_in_a_row_));
  completions_.begin_run(*peer, more);
  locals_in_a_row_ += 1 + more;
  return true;
}

// The next record of a stream, while the only hot peer sends one small put after the other: what
// try_probe() asks before each of them it has asked lately, and asks again in kTurnsBetweenLooks
// turns. False: nothing was taken, go the general way.
[[gnu::always_inline]] inline bool Engine::take_streamed(SingleSink& sink) noexcept {
  const std::uint32_t kinds = sink.query.kinds;
  if (turn_ >= stream_until_ || hot_.size() != 1 || kinds > PH_EITHER ||
      ((kinds & PH_LOCAL) != 0 && !local_ready_.empty())) [[unlikely]]
    return false;
  Peer& peer = *hot_[0];
  if (!sink.wants(PH_REMOTE, peer.rank) || !peer.unexpected.empty()) [[unlikely]]
    return false;
  const std::uint64_t word = peer.rx.look();
  if (peer.rx.state_of(word) != LineConsumer::State::record || !take_by_fast_path(peer, word, sink))
      [[unlikely]] {
    stream_until_ = 0;
    return false;
  }
  // What the peer may not have written yet is left to it, but not where it is far ahead: then
  // several of its lines come at a time, however much the caller does between two probes.
  peer.rx.expect(turn_ - row_began_ >= kLongRow ? kRowThere : 0);
  ++turn_;
  peer.last_hit = turn_;
  if (peer.owes_credit()) [[unlikely]]
    publish_credits(peer);
  return true;
}

// pop_local() of a plain word. False: nothing was taken.
[[gnu::always_inline]] inline bool Engine::pop_local(Rank rank, std::uint64_t& id) noexcept {
  Peer* peer = completions_.run().next();
  if (peer == nullptr || (rank != peer->rank && rank != PH_ANY_RANK)) [[unlikely]]
    return false;
  const Event& event = peer->local.front();
  if (event.id_bytes != 8 || event.status != PH_OK) [[unlikely]]
    return false;
  id = event.id;
  peer->local.pop();
  return true;
}

// What the ring of one hot peer holds; `word` is its first, and says that something does.
// False: go the general way.
[[gnu::always_inline]] inline bool Engine::take_hot(Peer& peer, std::uint64_t word,
                                                    auto& sink) noexcept {
  using State = LineConsumer::State;
  if (sink.full() || !sink.wants(PH_REMOTE, peer.rank) || !peer.unexpected.empty()) [[unlikely]]
    return false;
  // Behind the only record of an exchange lies a line that the peer may be fetching to write: to
  // look at it would hold up the answer. After a record in the last turn there will be more.
  const bool streaming = peer.last_hit + 1 == turn_;
  if (peer.rx.state_of(word) != State::record) [[unlikely]]
    return false;
  // In an exchange the answer's line comes while it is made; the copy of a chunk would wait for it.
  if (is_small_put(word)) [[likely]] {
    if (!streaming) peer.claim_answer();
    if (!take_small(peer, word, sink)) return false;
  } else if (!EagerChunks::take(*this, peer, word, sink)) {
    if (!streaming) peer.claim_answer();
    return false;
  }
  if constexpr (kIsOne<decltype(sink)>) {
    locals_in_a_row_ = static_cast<std::uint32_t>(completions_.run().left());  // a new row begins
    if (streaming) [[unlikely]] {
      if (stream_until_ == 0 || turn_ > stream_until_ + 2) row_began_ = turn_;
      peer.rx.expect(turn_ - row_began_ >= kLongRow ? kRowThere : 0);
      stream_until_ = turn_ | (kTurnsBetweenLooks - 1);
    }
  }
  for (unsigned taken = 1; streaming && !sink.full(); ++taken) [[unlikely]] {
    word = peer.rx.look();
    const auto state = peer.rx.state_of(word);
    if (state == State::empty) break;
    if (taken >= kRowThere) peer.rx.expect(kRowThere);
    if (state != State::record || !take_by_fast_path(peer, word, sink)) return false;
  }
  has_met(peer);
  return true;
}

// Records of this peer's were met in this turn.
[[gnu::always_inline]] inline void Engine::has_met(Peer& peer) noexcept {
  peer.reply_backoff.met(peer.last_hit, turn_);
  peer.prefetch.met(peer.tx.tail());
  peer.last_hit = turn_;
  empty_polls_ = 0;
  news_came();
  if (peer.owes_credit()) [[unlikely]]
    publish_credits(peer);
}

// The pause to make before the second look, if this is a wait for the answer of one peer while the
// other hot ones are silent.
[[gnu::always_inline]] inline unsigned Engine::pause_for_answer() noexcept {
  if (hot_.size() > kHotKept || oversubscribed_ || poll_interval_ == 1) return 0;
  Peer* asked = nullptr;
  bool alone = true;
  for (Peer* peer : hot_) {
    if (peer->tx.tail() == peer->reply_backoff.asked()) {
      alone = alone && turn_ - peer->last_hit >= ReplyBackoff::kTurnsOfSilence;
    } else if (asked == nullptr) {
      asked = peer;
    } else {
      alone = false;
      peer->reply_backoff.pass(peer->tx.tail());
    }
  }
  if (asked == nullptr) return 0;
  if (alone) return asked->reply_backoff.ask(asked->tx.tail(), turn_, asked->last_hit);
  asked->reply_backoff.pass(asked->tx.tail());
  return 0;
}

[[gnu::always_inline]] inline bool Engine::try_probe(const ph_query& query, auto& sink) noexcept {
  // One branch each here and in told(): after a silence the processor guesses every one anew.
  const unsigned is_usual = unsigned{((turn_ + 1) & look_mask_) != 0} & unsigned{due_ == 0} &
                            unsigned{config_.max_cid_size <= 8} &
                            unsigned{doorbell_->get() == doorbell_seen_};
  if (is_usual == 0 && !on_doorbell()) [[unlikely]]
    return false;
  if (query.kinds - 1U > PH_EITHER - 1U || (query.peer >= size_ && query.peer != PH_ANY_RANK))
      [[unlikely]]
    return false;
  if ((query.kinds & PH_REMOTE) != 0 && !unexpected_ready_.empty()) [[unlikely]] {
    if constexpr (kIsOne<decltype(sink)>)
      return take_unexpected(sink);
    else
      return false;
  }
  if ((query.kinds & PH_LOCAL) != 0 && !local_ready_.empty()) {
    if (!take_local(sink)) return false;
    if constexpr (kIsOne<decltype(sink)>) return true;
  }
  if constexpr (kIsOne<decltype(sink)>) {
    // Who takes one by one must not meet the first of them only.
    if ((turn_ + 1) % kTurnsBetweenLooks == 0 && hot_.size() > 1) [[unlikely]]
      return false;
  }
  ++turn_;
  for (unsigned looks = 0; looks < kLooks; ++looks) {
    for (Peer* peer : hot_) {
      const std::uint64_t word = peer->rx.look();
      if (peer->rx.state_of(word) == LineConsumer::State::empty) [[unlikely]]
        continue;  // of all cases the one that does not mind to be slow
      if (!take_hot(*peer, word, sink)) [[unlikely]] {
        --turn_;  // progress() goes on with this turn
        return false;
      }
      if constexpr (kIsOne<decltype(sink)>) return true;
      if (sink.full() && turn_ % kTurnsBetweenLooks != 0) return true;  // else look at the others
    }
    if constexpr (!kIsOne<decltype(sink)>) {
      if (sink.count != 0) return true;
    }
    if (looks == 0 && (query.kinds & PH_REMOTE) != 0) transport::Policy::idle(pause_for_answer());
  }
  ++empty_turns_;
  return ++empty_polls_ < poll_interval_ && !should_yield();
}

}  // namespace photon::engine
