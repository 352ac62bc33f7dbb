// Ids that wait for their turn, replies, and how requests begin and end.
#include <algorithm>
#include <cstring>

#include "engine/engine.hpp"
#include "engine/services.hpp"

namespace photon::engine {

// is_beyond: beside the limit, for code that cannot wait for what uses it up.
Request* Engine::new_request(Peer& peer, std::uint32_t flags, bool is_beyond) {
  if (!is_beyond && !events_left()) return nullptr;
  peer.local.make_room(peer.outstanding + 1);  // each will complete without allocating
  Request* request = is_beyond ? requests_.take_for_service() : requests_.take();
  if (request == nullptr) return nullptr;
  own_counts_.most_requests = std::max(own_counts_.most_requests, requests_.operations());
  completions_.promise();
  ++peer.outstanding;
  request->peer = &peer;
  request->flags = flags;
  if (peer.counts != nullptr) {
    count(peer, Count::queued);
    peer.counts->raise(Count::most_outstanding, peer.outstanding);
  }
  return request;
}

// How the operation will be spoken of at home. The caller has reserved a block.
void Engine::name_locally(Request& request, const ph_id& local, ph_request* handle) {
  if (local.size_bytes != 0)
    std::memcpy(&request.local_word, local.data, std::min<std::size_t>(8, local.size_bytes));
  if (handle == nullptr) {
    request.local = hold(local);
    return;
  }
  requests_.keep(request);
  *handle = RequestPool::token(request);  // also if memory runs out on the way: it is accepted
}

// The head of the ids goes when its bytes are done and there is credit
// (docs/visibility-and-order.md).
Engine::Step Engine::step_ids(Peer& peer) {
  Request* request = peer.ids.head();
  if (request == nullptr) return Step::blocked;
  if (!request->id_merged) {
    const bool in_record = request->kind == Request::Kind::packed && !request->data_done;
    if (request->is_mark() || request->in_acks || (!in_record && !request->data_done)) {
      peer.dry_since_ns = 0;  // it is no credit that this one waits for
      return peer.is_dry ? step_ahead(peer) : Step::blocked;
    }
    const bool has_credit = has_ledger(peer);
    if (!has_credit || !send_packed(peer, *request, in_record, true)) {
      // Bytes in its record must land whatever the application does: it stays out of the overflow.
      // And what waits here its owner has not accepted.
      const bool stays_out =
          (in_record && (request->size_bytes != 0 || (request->flags & PH_DELIVERED) != 0)) ||
          ((request->flags & PH_NOTICE_ACCEPTED) != 0 && !peer.overflow_out.is_open());
      LateId late{request->remote, request->local_word, RequestPool::token(*request),
                  !request->local_done || (request->flags & PH_DELIVERED) == 0};
      if (stays_out || !overflow_id(peer, late)) {
        if (has_credit) return Step::blocked;
        count(peer, Count::ledger_stalls);
        const std::int64_t now = transport_->now_ns();
        if (peer.dry_since_ns == 0 && overflow_fits(1)) peer.dry_since_ns = now;
        if (!peer.is_dry && peer.dry_since_ns != 0 && now - peer.dry_since_ns >= kDryNs) {
          peer.is_dry = true;
          peer.ahead = nullptr;  // what was passed over may go ahead now
        }
        return step_ahead(peer);
      }
      request->remote = late.id;  // none, if it was taken over
    }
    request->id_merged = true;
  }
  if (peer.ahead == request) peer.ahead = nullptr;
  peer.ids.pop();
  maybe_free(*request);
  return Step::moved;
}

// The record of a packed put, or the id of any put that has moved its bytes already.
bool Engine::send_packed(Peer& peer, Request& request, bool with_payload, bool with_id) {
  // Who waits for the landing asks; so does an id that must not overtake a refusal of its bytes.
  const bool acked = with_payload && (!with_id || (request.flags & PH_DELIVERED) != 0);
  Outgoing out{};
  out.kind = acked ? wire::Kind::put_acked : wire::Kind::put;
  name(out, request);
  if (with_id) {
    out.id = id_data(request.remote);
    out.id_bytes = request.remote.bytes;
  }
  if (with_payload) {
    out.fixed[0] = request.target.address;
    out.fixed[1] = request.target.key;
    out.payload = payload_blocks_.at(request.payload);
    out.payload_bytes = static_cast<std::uint32_t>(request.size_bytes);
  }
  const bool is_bare = request.size_bytes == 0 && (request.flags & PH_NO_LCE) != 0;
  out.is_sure = is_bare || (request.flags & PH_DELIVERED) != 0;
  if (!send(peer, out)) return false;
  if (with_payload && request.size_bytes != 0) ++peer.staged_sent;
  if (acked) peer.await_ack(request);
  return true;
}

// Ids wait for the peer's application, landings must not: a packed put that somebody waits for
// (PH_DELIVERED, a fence) sends its payload ahead and its id later, and so do all if that
// application has not probed for a while: then their ids go to the overflow. One step along the
// queue.
Engine::Step Engine::step_ahead(Peer& peer) {
  Request* request = peer.ahead == nullptr ? peer.ids.head() : peer.ahead->next_ids;
  if (request == nullptr) return Step::blocked;
  if (request->is_mark() && !request->id_merged) return Step::blocked;
  const bool waited_for = (request->flags & PH_DELIVERED) != 0 || peer.fences != 0 || peer.is_dry;
  const bool waits = request->kind == Request::Kind::packed && !request->data_done &&
                     !request->in_acks && !request->id_merged;
  if (waits && waited_for && !send_packed(peer, *request, true, false)) return Step::blocked;
  peer.ahead = request;
  return Step::moved;
}

// It heads the work; ids before it may still wait for credit.
void Engine::fence_ended(Peer& peer, Request& fence) {
  peer.work.pop();
  peer.queues.end_fence();
  fence.id_merged = true;  // step_ids() drops it
  --peer.fences;
  ++peer.fences_ended;
  mark_busy(peer);
  if (waiters_ != 0) news();
}

// The event that was promised is not used. An error that comes late is told as long as somebody
// can ask.
void Engine::conclude(Request& request, ph_status status) {
  if (!request.local_done) {
    request.local_done = true;
    --request.peer->outstanding;
    completions_.release();
  } else if (status == PH_OK || request.outcome != PH_OK) {
    return;
  }
  request.outcome = status;
  has_concluded_ = true;
  if (waiters_ != 0) news();
}

// An operation that was over for its initiator has failed: its request is told, if that is still
// kept, else its local id as far as it is known. That is beyond the promise, so that none may be
// free, and less.
void Engine::report_late(Peer& peer, std::uint64_t word, std::uint64_t request, ph_status status) {
  if (Request* kept = requests_.find_kept(request); kept != nullptr) return conclude(*kept, status);
  peer.local.make_room(peer.outstanding + 1);  // what was promised to others stays theirs
  push_local(peer, {word, 8}, status);
  completions_.promise();
}

// The operation is over for its initiator. The promised event is used or given back.
void Engine::complete_local(Request& request, ph_status status) {
  if (request.owner != wire::Owner::application) {
    request.local_done = true;
    return services_->ended(request, status);
  }
  Peer& peer = *request.peer;
  if (status != PH_OK) [[unlikely]]
    blame(status, peer.rank);
  if (request.kept) return conclude(request, status);
  if (request.local_done) {
    if (status != PH_OK) report_late(peer, request.local_word, 0, status);
    return;
  }
  request.local_done = true;
  --peer.outstanding;
  if (status == PH_OK && (request.flags & PH_NO_LCE) != 0) {
    completions_.release();
    drop(request.local);
    return;
  }
  push_local(peer, request.local, status);
  request.local = HeldId{};
}

// Its bytes are at their place, or in the ring in front of all that is still to come.
void Engine::landed(Request& request) {
  Peer& peer = *request.peer;
  if (request.in_work) peer.work.pop();
  request.data_done = true;
  if (request.kind == Request::Kind::get && request.has_rce()) {
    peer.ids.push(request);
    mark_busy(peer);
  }
  if (request.tells_landing()) complete_local(request, PH_OK);
  maybe_free(request);
}

// Over with an error: its id, if any, will not be posted.
void Engine::request_failed(Request& request, ph_status status) {
  Peer& peer = *request.peer;
  if (request.in_work) peer.work.pop();  // only a head fails
  unpin_own(request);                    // no fragment is under way
  if (request.serving) {
    request.serving = false;
    auto& under_way = request.posted ? peer.posted_under_way : peer.gets_under_way;
    if (under_way > 0) --under_way;
  }
  request.id_merged = true;
  if (request.message.block != kNoBlock) services_->failed(request);
  if (request.chunked) peer.sent.told_request(RequestPool::token(request));
  if (!request.is_mark()) complete_local(request, status);
  maybe_free(request);
}

// Its peer is lost. While a NIC may touch its memory it is not over: then it fails when the last
// fragment is. But a put of which nothing was left to do may have landed, and been probed, before
// its peer left: how it ended is what the NIC says.
void Engine::abandon(Request& request, ph_status status) {
  if (!request.posted || request.fragments == 0) return request_failed(request, status);
  const bool is_all_asked = request.kind == Request::Kind::posted && !request.in_work &&
                            (request.id_merged || !request.has_rce());
  if (request.in_work) request.peer->work.pop();
  request.id_merged = true;
  if (status != PH_ERR_DEPARTED || !is_all_asked) request.verdict = status;
}

// When nothing of it is under way any more its initiator is told, unless that was before: a put of
// which only the source is waited for holds nothing once it is over, so that who waits for each of
// his puts cannot run out of requests, however slow the target is.
void Engine::maybe_free(Request& request) {
  if (request.in_work || request.in_ids || request.in_acks || request.serving ||
      request.promised_by != wire::Owner::application)
    return;
  if (!request.local_done) complete_local(request, PH_OK);
  if (request.kept) return;
  drop(request.local);
  drop(request.remote);
  if (request.payload != kNoBlock) payload_blocks_.give(request.payload);
  if (request.layout != nullptr) layouts_.give(*request.layout);
  requests_.give(request);
}

ph_status Engine::take(Request& request, ph_request& handle, ph_result& result) {
  const ph_status status = request.outcome;
  result = {status, request.peer->rank, status == PH_OK ? request.size_bytes : 0, 0};
  handle = PH_REQUEST_NONE;
  requests_.release(request);
  maybe_free(request);
  return status;
}

// At the end of the posting call, which may have seen the operation end. Without a handle the
// request may be gone by now.
void Engine::hand_over(Request& request, ph_request* handle) {
  if (handle == nullptr) return;
  if (!request.local_done || request.outcome != PH_OK) return;
  ph_result result;
  static_cast<void>(take(request, *handle, result));
}

// Control records that were owed while there was no room.
// False: the peer asks and never reads; it is cut off before it fills our memory.
bool Engine::answer(Peer& peer, const Reply& reply) {
  if (peer.replies.size() >= kMaxReplies) return false;
  peer.replies.push(reply);
  step_replies(peer);
  if (!peer.replies.empty()) mark_busy(peer);
  return true;
}

Engine::Step Engine::step_replies(Peer& peer) {
  if (peer.replies.empty()) return Step::blocked;
  const Reply& reply = peer.replies.front();
  Outgoing out{};
  out.kind = reply.kind;
  for (int i = 0; i < 3; ++i) out.fixed[i] = reply.words[i];
  const std::uint64_t line = peer.tx.tail();
  if (!send(peer, out)) return Step::blocked;
  if (reply.kind == wire::Kind::withdrawn) peer.imm_lines.withdrawn(reply.words[0], line);
  peer.replies.pop();
  peer.replies.trim();
  return Step::moved;
}

void Engine::end_serve(Peer& peer) noexcept {
  if (peer.serves.front().table != kNoBlock) tables_.give(peer.serves.front().table);
  peer.serves.pop();
  peer.serves.trim();
}

}  // namespace photon::engine
