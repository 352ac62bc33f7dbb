// Ids that wait for their turn, fences, replies, and how requests end.
#include <algorithm>

#include "engine/engine.hpp"
#include "engine/services.hpp"

namespace photon::engine {

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

// A fence asks, and a finish goes, when everything before it has been sent: it heads the work, and
// of the ids before it no bytes are left behind.
Engine::Step Engine::step_fence(Peer& peer, Request& request) {
  // Gets that the owner serves left the work when it was asked; those after us have not.
  if (request.asked || peer.gets_under_way != 0 || peer.posted_under_way != 0) return Step::blocked;
  while (step_ahead(peer) == Step::moved) {
  }
  const Request* next = peer.ahead == nullptr ? peer.ids.head() : peer.ahead->next_ids;
  if (next != &request) return Step::blocked;
  if (request.kind == Request::Kind::behind)
    return services_->step_behind(peer, request) ? Step::moved : Step::blocked;
  if (!peer.queues.may_end_fence()) return Step::blocked;
  if (peer.acks.empty() && peer.staged() == peer.staged_landed) {
    fence_ended(peer, request);
    return Step::moved;
  }
  Outgoing out{};
  out.kind = wire::Kind::put_acked;
  if (!send(peer, out)) return Step::blocked;
  request.asked = true;
  peer.await_ack(request);
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
  unpin_own(request);                    // no piece is under way
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
  if (reply.kind == wire::Kind::withdrawn) peer.named.withdrawn(reply.words[0], line);
  peer.replies.pop();
  peer.replies.trim();
  return Step::moved;
}

}  // namespace photon::engine
