// Leaving: everything accepted goes out, then a bye, then no peer may copy here.
//
//   running -- all_sent -- verdicts in --> bye said -- left --> closed  (each step in its time)
//   running -- waits for other lanes of its context, serve_leaving() --> finalize(), as above
#include <algorithm>

#include "engine/engine.hpp"
#include "engine/event_source.hpp"
#include "engine/peer_view.hpp"
#include "engine/services.hpp"

namespace photon::engine {

namespace {

// Peers that got puts whose keys only they can check, and have not answered for all of them.
std::vector<Peer*> unjudged(const std::vector<Peer*>& contacted) {
  std::vector<Peer*> peers;
  for (Peer* peer : contacted)
    if (peer->broken == PH_OK && peer->took_unchecked && peer->staged() != peer->staged_landed)
      peers.push_back(peer);
  return peers;
}

// It gave no verdict, and what was sent to it may still be lost.
bool is_unsure(const Peer& peer, const transport::Transport& transport) noexcept {
  return peer.broken == PH_OK && peer.fences_ended != peer.fences_begun &&
         !transport.arrives(peer.rank);
}
std::string no_verdict(Rank rank, const base::Config& config) {
  return "finalize: rank " + std::to_string(rank) +
         " has not said that it has what was sent to it, within " +
         std::to_string(config.finalize_timeout_ms) + " ms (PHOTON_FINALIZE_TIMEOUT_MS)";
}

// Operations alone count: a mark that is not answered (put_samples.hpp) says nothing of its put.
bool awaits_ack(const Peer& peer) noexcept {
  const Request* one = peer.acks.head();
  while (one != nullptr && one->kind == Request::Kind::sample) one = one->next_acks;
  return one != nullptr;
}

bool all_sent_to(const Peer& peer) noexcept {
  if (peer.posted_under_way != 0) return false;  // NICs touch memory, whatever became of the peer
  return peer.broken != PH_OK || (peer.idle() && !awaits_ack(peer) && peer.gets_under_way == 0);
}

// A peer whose next completion is an error that its caller should have seen; null: there is none.
// That a peer left before it took everything is no error at the end of a job. Discards completions.
Peer* first_failed(const std::vector<Peer*>& contacted) {
  for (Peer* peer : contacted)
    for (; !peer->local.empty(); peer->local.pop())
      if (const auto status = peer->local.front().status;
          status != PH_OK && status != PH_ERR_DEPARTED)
        return peer;
  return nullptr;
}

}  // namespace

ph_status Engine::finalize(LaneGuard& guard, const std::function<void()>& meanwhile) {
  meanwhile_ = meanwhile;
  completions_.end_run();
  const auto timeout_us = static_cast<std::int64_t>(config_.finalize_timeout_ms) * 1000;
  dismiss_waiters(guard);
  // Meet whoever has contacted us and was not noticed yet: it is owed a bye.
  transport_->arm();
  look_everywhere();
  transport_->disarm();
  // Completions left unprobed are discarded from here on.
  ph_status status = wait_until_sent(guard, timeout_us);
  if (guard.status() != PH_OK) return guard.status();
  if (status == PH_TIMEOUT) {
    std::string who;
    for (const Peer* peer : contacted_) {
      const bool is_met = peer->broken != PH_OK || peer->has_rx;
      if (!is_met || !all_sent_to(*peer))
        who += (who.empty() ? "" : ", ") + std::to_string(peer->rank);
    }
    fail(PH_TIMEOUT, PH_ANY_RANK,
         "finalize: " +
             (who.empty() ? "what was sent has not left this process"
                          : "ranks " + who + " did not take what was sent to them") +
             " within " + std::to_string(config_.finalize_timeout_ms) +
             " ms without progress (PHOTON_FINALIZE_TIMEOUT_MS)");
  }
  // A target that gives no verdict in time is no error if the puts lie in its ring.
  const auto judges = status == PH_OK ? unjudged(contacted_) : std::vector<Peer*>{};
  for (const Peer* peer : judges) static_cast<void>(fence(peer->rank));
  const auto judged = [&judges] {
    return std::all_of(judges.begin(), judges.end(), [](const Peer* peer) {
      return peer->broken != PH_OK || peer->fences_ended == peer->fences_begun;
    });
  };
  if (!judges.empty()) static_cast<void>(wait_until(guard, judged, timeout_us));
  if (guard.status() != PH_OK) return guard.status();
  for (const Peer* peer : judges)
    if (status == PH_OK && is_unsure(*peer, *transport_))
      status = fail(PH_TIMEOUT, peer->rank, no_verdict(peer->rank, config_));
  const auto said = wait_until(
      guard,
      [this] {
        say_bye();
        for (const Peer* peer : contacted_)
          if (peer->broken == PH_OK && !peer->said_bye) return false;
        return transport_->drained();
      },
      status == PH_OK ? timeout_us : 0);
  if (guard.status() != PH_OK) return guard.status();
  if (status == PH_OK && said != PH_OK) status = said;
  // The transport or the bootstrap tells those who have contacted us since, or cannot take our bye,
  // that we have left the job, or this lane.
  if (boot_->leave())
    static_cast<void>(wait_until(
        guard, [this] { return transport_->drained(); }, status == PH_OK ? timeout_us : 0));
  if (guard.status() != PH_OK) return guard.status();
  if (const auto taken = take_back_all(); status == PH_OK) status = taken;
  const auto unheard = unheard_error();
  return status == PH_OK ? unheard : status;
}

// Of an operation whose caller should have probed or taken its error; PH_OK: there is none.
ph_status Engine::unheard_error() {
  drop_results();
  ph_status status = unheard_;
  Rank rank = unheard_rank_;
  if (const Peer* peer = first_failed(contacted_); peer != nullptr && status == PH_OK) {
    status = static_cast<ph_status>(peer->local.front().status);
    rank = peer->rank;
  }
  if (status == PH_OK) return lost_of_any("finalize");
  const bool known = last_error_.rank == rank && last_error_.status == status;
  return fail(status, rank,
              "finalize: an operation to rank " + std::to_string(rank) +
                  " failed and its error was never probed: " +
                  (known ? last_error_.what : ph_status_text(status)));
}

// From here on no peer may copy in our memory; by this lane, if it is not the context's own.
ph_status Engine::take_back_all() {
  if (is_lane_)
    transport_->hide();
  else
    memory_->regions.revoke_all();
  sources_.clear();
  PeerView(*this).unmap_all();
  transport_->quiesce();
  if (!wait_for_copies(kEverySlot))
    return fail(PH_TIMEOUT, PH_ANY_RANK,
                "finalize: a peer that does not run holds a copy open; keep the memory");
  return PH_OK;
}

void Engine::tell_closed() {
  is_leaving_ = true;
  if (is_armed_) EventSource(*this).disarm();
  if (waiters_ != 0) news();
}

// The lane is closed: threads that sleep in wait() must be out before anything is torn down.
void Engine::dismiss_waiters(LaneGuard& guard) {
  is_leaving_ = true;
  for (unsigned spins = 0; waiters_ != 0 || services_->is_run(); ++spins) {
    news();
    guard.release();
    transport::Policy::pause(spins);
    guard.retake();
  }
}

// The time counts from the last thing of ours that moved: who still takes what was sent is not
// given up, who only asks us is.
ph_status Engine::wait_until_sent(LaneGuard& guard, std::int64_t timeout_us) {
  const auto motion = [this] {
    // Nobody posts any more, so their number only falls; an id that is late was one of them.
    std::uint64_t sum = 2 * ~requests_.used();
    for (const Peer* peer : contacted_) {
      sum -= peer->late.size();
      if (const Request* request = peer->work.head()) sum += request->done_bytes;
    }
    requests_.for_each_serving(
        [&sum](const Request& request) { sum += request.done_bytes - request.fragments; });
    return sum;
  };
  for (;;) {
    const std::uint64_t before = motion();
    const auto status = wait_until(
        guard, [this] { return all_sent(); }, timeout_us);
    if (status != PH_TIMEOUT || motion() == before) return status;
  }
}

// Nobody here will probe them any more. Who waits for room in our ledger, be it ourselves or a peer
// that finalizes as well, must not wait in vain.
void Engine::drop_remote_ids() {
  for (Peer* peer : contacted_) {
    while (peer->has_remote()) {
      const Event& event = peer->unexpected.front();
      if (event.id_bytes > 8) id_blocks_.give(static_cast<std::uint32_t>(event.id));
      peer->unexpected.pop();
      id_taken(*peer);
      settle_unexpected(*peer);
      refill_or_lose(*peer);
    }
    if (peer->broken == PH_OK && peer->has_rx) publish_credits(*peer);
  }
}

// Nobody here will take them any more. What is over must not hold what fences need, nor look as if
// it were under way; the first error is kept for unheard_error().
void Engine::drop_results() {
  requests_.for_each_kept([this](Request& request) {
    if (!request.local_done) return;
    if (unheard_ == PH_OK && request.outcome != PH_ERR_DEPARTED) {
      unheard_ = request.outcome;
      unheard_rank_ = request.peer->rank;
    }
    requests_.release(request);
    maybe_free(request);
  });
}

// What peers wait for our caller to take: he has left.
void Engine::take_nothing() {
  drop_remote_ids();
  drop_results();
  services_->close();
}

// Threads of this lane that were inside the user's code when it was closed may still be there: what
// that code looks at is not closed under it.
void Engine::serve_leaving() {
  progress(nullptr);
  if (!services_->is_run()) take_nothing();
}

bool Engine::all_sent() {
  take_nothing();
  for (const Peer* peer : contacted_)
    if (!all_sent_to(*peer)) return false;
  return services_->is_idle() && transport_->drained();
}

void Engine::say_bye() {
  transport_->leave();
  for (Peer* peer : contacted_) {
    if (peer->broken != PH_OK || peer->said_bye) continue;
    Outgoing out{};
    out.kind = wire::Kind::bye;
    peer->said_bye = send(*peer, out);
    Services::allow(*peer);
  }
}

Engine::~Engine() {
  if (config_.stats != 0) print_counters();
  services_.reset();            // before what they use
  PeerView(*this).unmap_all();  // while there are links
  transport_.reset();
}

}  // namespace photon::engine
