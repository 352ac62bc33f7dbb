// Taking completions, and the turn of progress that every probe makes.
#include <algorithm>
#include <cstring>
#include <string>

#include "engine/event_source.hpp"
#include "engine/fast_path.hpp"
#include "engine/services.hpp"

namespace photon::engine {

// The rest of a probe that try_probe() refused for an atomic that somebody asks for, or for
// messages of services, and that would find nothing else. No: probe() has to go on. (Apart: within
// try_probe() it costs all others.)
Engine::Served Engine::serve_asked(const CompletionSink& sink) noexcept {
  const ph_query& query = sink.query;
  if (((turn_ + 1) & look_mask_) == 0 || due_ != 0 || config_.max_cid_size > 8 ||
      doorbell_->get() != doorbell_seen_ || sink.count != 0 || sink.full())
    return Served::no;
  if (query.kinds - 1U > PH_EITHER - 1U || (query.peer >= size_ && query.peer != PH_ANY_RANK) ||
      !local_ready_.empty() || !unexpected_ready_.empty())
    return Served::no;
  const std::size_t hot = hot_.size();
  for (std::size_t i = 0; i < hot; ++i) {
    const std::size_t at = hot == 1 ? 0 : (services_->next_quick_ + i) % hot;
    Peer* const peer = hot_[at];
    const std::uint64_t word = peer->rx.look();
    if (peer->rx.state_of(word) != LineConsumer::State::record) continue;
    if (take_asked(*peer, word) || services_->take_lines(*peer, word)) {
      ++turn_;
      services_->next_quick_ = static_cast<std::uint32_t>(at + 1);
      if (peer->broken == PH_OK) has_met(*peer);
      return user_code_ != 0 ? Served::run : Served::yes;
    }
  }
  return Served::no;
}

// An id that waits, for who takes one by one, if that is all there is to do: what comes behind it
// is ready, too, or nothing does. False: nothing was taken.
bool Engine::take_unexpected(SingleSink& sink) noexcept {
  if (unexpected_ready_.size() != 1 || (turn_ + 1) % kTurnsBetweenLooks == 0 ||
      ((sink.query.kinds & PH_LOCAL) != 0 && !local_ready_.empty()))
    return false;
  Peer& peer = *unexpected_ready_[0];
  if (!sink.wants(PH_REMOTE, peer.rank) || peer.broken != PH_OK) return false;
  const bool is_last = peer.unexpected.size() == 1;
  if (is_last ? peer.overflow_in.is_reading()
              : peer.unexpected.at(peer.unexpected.begin() + 1).status != PH_OK)
    return false;
  ++turn_;
  news_came();
  sink.put(PH_REMOTE, peer.rank, peer.unexpected.front(), peer.outstanding);
  peer.unexpected.pop();
  id_taken(peer);
  if (is_last) {
    peer.unexpected_ready = false;
    unexpected_ready_.clear();
  }
  if (peer.owes_credit()) publish_credits(peer);
  return true;
}

ph_status Engine::check_query(const char* call, const ph_query& query) {
  if (query.peer != PH_ANY_RANK && query.peer >= size_)
    return fail(PH_ERR_RANK, query.peer,
                std::string(call) + ": no rank " + std::to_string(query.peer) + " in a job of " +
                    std::to_string(size_));
  if (query.kinds == 0 || (query.kinds & ~std::uint32_t{PH_EITHER}) != 0)
    return fail(PH_ERR_ARGUMENT, query.peer,
                std::string(call) + ": kinds must be PH_LOCAL, PH_REMOTE or PH_EITHER");
  return PH_OK;
}

ph_status Engine::probe(CompletionSink& sink) {
  if (const auto status = check_query("probe", sink.query); status != PH_OK) return status;
  if (config_.max_cid_size > 8 && sink.query.id_buffer == nullptr && sink.capacity != 0)
    return fail(PH_ERR_ARGUMENT, self_,
                "probe: ids may be longer than 8 bytes (max_cid_size), so the query needs an "
                "id_buffer");
  sink.id_stride = config_.max_cid_size;
  if (sink.full()) {  // asked for nothing, or filled on the fast path: the peers are served
    empty_turns_ = 0;
    take_turns(sink);
    progress(nullptr);
    return PH_OK;
  }
  // A caller whose every probe is filled by one kind must still meet the other: they take turns.
  if (!remotes_first(sink.query)) take_events(sink, PH_LOCAL);
  take_events(sink, PH_REMOTE);
  progress(sink.full() ? nullptr : &sink);  // peers are served whatever we take
  take_events(sink, PH_LOCAL);
  take_events(sink, PH_REMOTE);  // that waited for the last of their fragments
  take_turns(sink);
  if (sink.count != 0)
    news_came();
  else
    ++empty_turns_;
  return PH_OK;
}

ph_status Engine::outstanding(Rank rank, std::uint64_t& count) {
  if (rank >= size_ && rank != PH_ANY_RANK)
    return fail(PH_ERR_RANK, rank, "outstanding: no rank " + std::to_string(rank));
  for (std::size_t i = 0; i < contacted_.size(); ++i) {
    const Peer& peer = *contacted_[i];
    if (rank == PH_ANY_RANK || peer.rank == rank) count += peer.outstanding + peer.local.size();
  }
  return PH_OK;
}

// Whose turn it is, where a query asks for both kinds: of each peer, and of all together.
bool Engine::remotes_first(const ph_query& query) const noexcept {
  if (query.kinds != PH_EITHER) return false;
  if (query.peer == PH_ANY_RANK) return remotes_first_;
  return peers_[query.peer] != nullptr && peers_[query.peer]->remotes_first;
}

// Local ones that filled a probe alone make room in the next.
void Engine::take_turns(const CompletionSink& sink) noexcept {
  const ph_query& query = sink.query;
  if (query.kinds != PH_EITHER || sink.capacity == 0) return;
  const bool next =
      sink.full() && std::none_of(sink.out, sink.out + sink.count,
                                  [](const ph_completion& one) { return one.kind == PH_REMOTE; });
  if (query.peer == PH_ANY_RANK)
    remotes_first_ = next;
  else if (peers_[query.peer] != nullptr)
    peers_[query.peer]->remotes_first = next;
}

// One turn: hot rings, what queues, and now and then the transport. True: something moved.
bool Engine::progress(CompletionSink* sink) {
  ++turn_;
  bool moved = false;
  for (std::size_t i = 0; i < hot_.size(); ++i) {
    Peer* peer = hot_[i];
    // Who fills the sink must not keep the others waiting: their ids are queued as unexpected.
    if (receive(*peer, sink != nullptr && sink->full() ? nullptr : sink)) moved = true;
  }
  const bool worked = due_ != 0 && work_due();
  const std::uint64_t lane_doorbell = doorbell_->get();
  const bool due = (turn_ & look_mask_) == 0 || lane_doorbell != doorbell_seen_;
  doorbell_seen_ = lane_doorbell;
  if (moved && !due) {
    empty_polls_ = 0;
    return true;
  }
  if (++empty_polls_ < poll_interval_ && !due) return worked;
  empty_polls_ = 0;
  activity_ = false;
  if (is_armed_) EventSource(*this).disarm();
  if (is_thaw_due_) thaw();
  transport_->poll(*this);
  keep_warm();
  ask_interval();
  if (due) {
    cool_idle();
    count_threads();
    services_->look_at_clock();
  }
  if (!activity_) return moved || worked;
  for (std::size_t i = 0; i < hot_.size(); ++i)
    if (hot_[i]->last_hit == turn_) receive(*hot_[i], sink);
  if (due_ != 0) work_due();
  return true;
}

bool Engine::work_due() {
  bool any = process_busy();
  if (services_->has_looks() && services_->look()) any = true;
  return (services_->is_due() && services_->turn()) || any;
}

// In whose turn it is: this one looks and serves.
void EventSource::disarm() {
  Engine& engine = engine_;
  engine.is_armed_ = false;
  --engine.waiters_;
  const unsigned ready = engine.events_->ready();
  const transport::Sleepers sleepers = engine.transport_->sleepers();
  constexpr unsigned kAll = (1U << EventDescriptor::kEach) - 1;
  for (std::size_t i = 0; i < sleepers.size(); ++i)
    if (const unsigned own = ready >> (i * EventDescriptor::kEach) & kAll; own != 0)
      sleepers[i]->slept(own);
  if (sleepers[1] != nullptr) engine.transport_->slept(0);  // of which they are the children
  if (!engine.sleeping_) {
    engine.thaw();
    engine.transport_->disarm();
  }
  if (engine.waiters_ == 0) engine.events_->word->disarm();
  engine.events_->ring();
  // What we have drained may have been another thread's wake-up; and the progress thread is back.
  if (engine.waiters_ != 0 || engine.progress_thread_ != nullptr) engine.news();
}

// Now and then: rings without traffic for long go cold, but the few that were hot last.
void Engine::cool_idle() {
  constexpr std::uint64_t kPatience = 4096;  // turns
  constexpr std::uint64_t kTurnsBetweenCleanings = 65536;
  if (stand_in_sleeps_) transport_->wake();  // the caller is back: no ring need be cold
  if (turn_ % kTurnsBetweenCleanings == 0) static_cast<void>(give_back_idle());
  while (hot_.size() > kHotKept) {
    Peer* oldest = *std::min_element(hot_.begin(), hot_.end(),
                                     [](Peer* a, Peer* b) { return a->last_hit < b->last_hit; });
    if (turn_ - oldest->last_hit < kPatience) return;
    cool(*oldest);
  }
}

void Engine::take_events(CompletionSink& sink, std::uint32_t kind) {
  auto& ready = kind == PH_LOCAL ? local_ready_ : unexpected_ready_;
  if (ready.empty() || sink.full() || (sink.query.kinds & kind) == 0) return;
  for (std::size_t i = 0; i < ready.size() && !sink.full();) {
    Peer& peer = *ready[i];
    if (sink.wants(kind, peer.rank)) take_from(peer, kind, sink);
    if (kind == PH_LOCAL ? !peer.local.empty() : peer.has_remote()) {
      ++i;
      continue;
    }
    (kind == PH_LOCAL ? peer.local_ready : peer.unexpected_ready) = false;
    ready.erase(i);
  }
  // Who was not served fully goes behind the others.
  if (ready.size() > 1 && sink.full()) ready.rotate();
}

void Engine::take_from(Peer& peer, std::uint32_t kind, CompletionSink& sink) {
  auto& queue = kind == PH_LOCAL ? peer.local : peer.unexpected;
  if (kind == PH_LOCAL) completions_.end_run();
  // An id that waits for its bytes holds up those behind it.
  while ((kind == PH_LOCAL ? !queue.empty() : peer.has_remote()) && !sink.full()) {
    Event event = queue.front();
    std::byte* room = nullptr;
    if (event.id_bytes > 8) {
      room = sink.id_room();
      const auto block = static_cast<std::uint32_t>(event.id);
      std::memcpy(room, id_blocks_.at(block), event.id_bytes);
      std::memcpy(&event.id, room, sizeof event.id);
      id_blocks_.give(block);
    }
    sink.put(kind, peer.rank, event, peer.outstanding, room);
    queue.pop();
    if (kind == PH_LOCAL) {
      completions_.release();
    } else {
      id_taken(peer);
      settle_unexpected(peer);
      refill_or_lose(peer);
    }
  }
  if (kind == PH_REMOTE && peer.broken == PH_OK) publish_credits(peer);
}

// Before sleeping: every ring, hot or not, and the transport. True: there was something.
bool Engine::look_everywhere() {
  bool found = false;
  for (std::size_t i = 0; i < contacted_.size(); ++i) {
    Peer& peer = *contacted_[i];
    if (peer.has_rx && peer.broken == PH_OK && receive(peer, nullptr)) {
      heat(peer);
      found = true;
    }
  }
  activity_ = false;
  transport_->poll(*this);
  ask_interval();
  services_->look_at_clock();
  return work_due() || found || activity_;
}

}  // namespace photon::engine
