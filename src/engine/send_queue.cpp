// Moving what is queued to a peer: the head of each of its queues, as far as credit and the
// budget of one turn reach.
//
//   bulk:   chunk -> ... -> last chunk (with the id if it may go) --> done
//             | no room for longer than CMA would need: pieces by CMA -> empty last chunk --> done
//   direct: piece -> ... --> done          get: piece -> ..., or asked --> (get_server.cpp)
//             | the path goes, or CMA refuses: what is left goes as bulk; a get is asked for
#include <algorithm>

#include "base/finally.hpp"
#include "engine/alone.hpp"
#include "engine/get_takeover.hpp"
#include "engine/put_samples.hpp"
#include "engine/services.hpp"

namespace photon::engine {

// True: something moved, and more may be possible at once.
bool Engine::process(Peer& peer) {
  if (peer.broken != PH_OK) return false;
  bool any = false;
  std::uint64_t budget = config_.piece_bytes;
  callers_memory_.forget();
  for (bool moved = true; moved && peer.broken == PH_OK;) {
    moved = step_overflow(peer) == Step::moved;
    if (services_->step(peer)) moved = true;
    if (step_replies(peer) == Step::moved) moved = true;
    if (step_ids(peer) == Step::moved) moved = true;
    if (budget > 0 && GetTakeover(*this).step(peer, budget) == Step::moved) moved = true;
    // Behind the replies: that a part of a gather is refused must not be overtaken by the next
    // part.
    if (budget > 0 && peer.replies.empty() && step_serves(peer, budget) == Step::moved)
      moved = true;
    if (budget > 0 && step_work(peer, budget) == Step::moved) moved = true;
    any = any || moved;
  }
  // Cut short: the thread that sleeps has chosen how long without knowing of the rest.
  if (budget == 0) wake_sleeper();
  return any;
}

// In order of turns: peers share the queue of a NIC, and who got a place in it goes behind the
// others. By index: the list may grow meanwhile.
bool Engine::process_busy() {
  bool any = false;
  std::size_t i = 0;
  for (std::size_t left = busy_.size(); left > 0; --left) {
    Peer& peer = *busy_[i];
    const std::uint64_t posted = posted_count_;
    any = process(peer) || any;
    const auto at = busy_.begin() + static_cast<std::ptrdiff_t>(i);
    if (peer.idle() || peer.broken != PH_OK) {
      peer.busy = false;
      --due_;
      busy_.erase(at);
    } else if (posted_count_ != posted) {
      std::rotate(at, at + 1, busy_.end());
    } else {
      ++i;
    }
  }
  return any;
}

Engine::Step Engine::step_work(Peer& peer, std::uint64_t& budget) {
  Request* request = peer.work.head();
  if (request == nullptr) return Step::blocked;
  if (request->learns && request->first_ns == 0) request->first_ns = transport_->now_ns();
  switch (request->kind) {
    case Request::Kind::bulk: return step_bulk(peer, *request, budget);
    case Request::Kind::direct: return step_reach(peer, *request, budget);
    case Request::Kind::posted: return step_posted(peer, *request, budget);
    case Request::Kind::get: return step_get(peer, *request, budget);
    case Request::Kind::atomic: return step_atomic(peer, *request);
    case Request::Kind::fence:
    case Request::Kind::behind: return step_fence(peer, *request);
    case Request::Kind::body:
      return services_->step_body(peer, *request, budget) ? Step::moved : Step::blocked;
    case Request::Kind::promise:
    case Request::Kind::sample: break;  // stand in no queue of work
    case Request::Kind::packed: return step_packed(peer, *request);
  }
  return Step::blocked;
}

Engine::Step Engine::step_bulk(Peer& peer, Request& request, std::uint64_t& budget) {
  auto bytes = chunk_bytes(request.size_bytes, request.size_bytes - request.done_bytes);
  if (request.is_sampled) bytes = PutSamples(*this).next_chunk(peer, request, bytes);
  // A table of runs counts as bytes: a chunk may be all of a call's work.
  const auto chunk = request.layout == nullptr || bytes == 0
                         ? Layout::Chunk{bytes, bytes, 0}
                         : request.layout->measure(bytes, config_.bulk_chunk);
  // A peer that has not answered yet may refuse: of what the ring cannot hold it gets one chunk.
  if (!peer.has_rx && request.chunked && request.size_bytes > config_.bulk_bytes)
    return Step::blocked;
  const bool has_room = bulk_room(peer, chunk.ring_bytes);
  if (!has_room) count(peer, Count::bulk_stalls);
  if (has_room && !can_stage(request, chunk.data_bytes)) {
    request_failed(request, fail(own_memory_error(request)));
    return Step::moved;
  }
  if (!has_room || !send_chunk(peer, request, chunk)) return stalled(peer, request);
  request.stalled_since_ns = 0;
  budget -= std::min(budget, chunk.ring_bytes);
  if (request.done_bytes == request.size_bytes) bytes_moved(peer, request);
  return Step::moved;
}

// False: no room for the record. The bulk ring has room.
bool Engine::send_chunk(Peer& peer, Request& request, const Layout::Chunk& chunk) {
  const bool last = request.done_bytes + chunk.data_bytes == request.size_bytes;
  const bool merge = last && request.has_rce() && may_post_id(peer, request) && has_ledger(peer);
  // An id that travels alone must not overtake the news that its bytes were refused.
  const bool acked = last && ((request.flags & PH_DELIVERED) != 0 || (request.has_rce() && !merge));
  Outgoing out{};
  out.fixed[2] =
      chunk.ring_bytes | (request.chunked ? 0 : wire::kBulkFirst) | (last ? wire::kBulkLast : 0);
  if (chunk.runs == 0) {
    out.kind = acked ? wire::Kind::bulk_acked : wire::Kind::bulk;
    out.fixed[0] = request.target.address + request.done_bytes;
    out.fixed[1] = request.target.key;
    out.fixed[3] = last ? chunk.ring_bytes : request.size_bytes - request.done_bytes;
  } else {
    out.kind = acked ? wire::Kind::scatter_acked : wire::Kind::scatter;
    out.fixed[0] = rest_of(request).at.address;
    out.fixed[1] = chunk.runs;
  }
  out.id = id_data(request.remote);
  out.id_bytes = merge ? request.remote.bytes : wire::kNoId;
  name(out, request);
  if (!peer.tx.has_room(wire::lines_for(out.kind, out.id_bytes, 0))) return false;
  if (chunk.runs == 0) {
    peer.stage(request.source + request.done_bytes, chunk.ring_bytes, request.size_bytes);
  } else {
    request.layout->pack(chunk, peer.tx_bulk.place(chunk.ring_bytes));
    peer.tx_bulk.advance(chunk.ring_bytes);
    count(peer, Count::staged_bytes, chunk.ring_bytes);
  }
  if (!request.chunked) request.first_line = peer.tx.tail();
  send(peer, out);
  request.done_bytes += chunk.data_bytes;
  request.id_merged = merge;
  request.chunked = true;
  ++peer.staged_sent;
  if (acked) peer.await_ack(request);
  return true;
}

// The target does not take chunks. Once that has lasted a good part of the time that the kernel
// would need for the rest, the kernel does it: staging is faster while both copy, CMA needs nobody.
Engine::Step Engine::stalled(Peer& peer, Request& request) {
  constexpr std::int64_t kBytesPerNs = 30;      // twice what CMA reaches
  constexpr std::int64_t kPatienceNs = 10'000;  // a peer between two probes is there
  const auto left = request.size_bytes - request.done_bytes;
  if (peer.regions == nullptr || left == 0) return Step::blocked;
  const auto rest = rest_of(request);
  const auto reach = transport_->reach(peer.rank, rest.at.address, rest.size_bytes);
  const bool is_call = reach.kind == transport::Reach::Kind::call;
  if (!reach.is_ours_to_copy() || (is_call && peer.puts.copies.is_refused())) return Step::blocked;
  const std::int64_t now = transport_->now_ns();
  if (request.stalled_since_ns == 0) {
    request.stalled_since_ns = now;
    // The thread that sleeps has chosen how long without knowing of this.
    wake_sleeper();
  }
  if (now - request.stalled_since_ns <
      std::max(kPatienceNs, static_cast<std::int64_t>(left) / kBytesPerNs))
    return Step::blocked;
  Allowance allowed{config_.piece_bytes};
  const auto status = copy_next(peer, request, allowed);
  if (status == PH_AGAIN) return Step::blocked;
  const bool is_own = status == PH_ERR_ARGUMENT;
  if (status != PH_OK && !is_own &&
      check_again(peer, rest_of(request).at, 1, PH_ACCESS_WRITE) == PH_OK) {
    peer.puts.copies.refused();  // the kernel would not: the peer has to, when it comes
    return Step::blocked;
  }
  if (status != PH_OK) {
    if (is_own && request.layout == nullptr) fail(own_memory_error(request));
    request_failed(request, status);
    return Step::moved;
  }
  request.is_sampled = false;  // both have copied it
  if (request.done_bytes < request.size_bytes)
    return Step::blocked;  // one piece a turn: the peer may be back
  all_copied(peer, request);
  return Step::moved;  // its end and its id go at once: who has the local id may never call again
}

// The kernel has copied the rest. Chunks before it may not have landed, or may be refused yet: an
// empty last one ends the operation in their order, as soon as there is a line for it.
void Engine::all_copied(Peer& peer, Request& request) {
  PutSamples(*this).ended_by_kernel(peer, request);
  if (!request.chunked) return bytes_moved(peer, request);
  request.stalled_since_ns = 0;
}

// All bytes have left the source, or have arrived where we could reach.
void Engine::bytes_moved(Peer& peer, Request& request) {
  if (request.kind == Request::Kind::direct) PutSamples(*this).ended_by_kernel(peer, request);
  if (!request.in_acks) return landed(request);
  peer.work.pop();
}

// Direct put, and get from memory we can touch: one piece.
Engine::Step Engine::step_reach(Peer& peer, Request& request, std::uint64_t& budget) {
  Allowance allowed{std::min(config_.piece_bytes, budget)};
  const auto status = copy_next(peer, request, allowed);
  const bool is_own = status == PH_ERR_ARGUMENT;
  const bool is_get = request.kind == Request::Kind::get;
  if (status == PH_AGAIN || (status != PH_OK && !is_own && request.learns && !is_get))
    return not_by_us(peer, request, status);
  if (status != PH_OK) {
    if (is_own && request.layout == nullptr) fail(own_memory_error(request));
    request_failed(request, status);
    return Step::moved;
  }
  budget -= std::min(budget, allowed.spent);
  if (request.done_bytes < request.size_bytes) return Step::moved;
  if (is_get) {
    GetTakeover(*this).took(peer, request, CopyChoice::Way::kernel);
    count(peer, Count::get_direct);
    landed(request);
  } else {
    bytes_moved(peer, request);
  }
  return Step::moved;
}

// The path went, or the kernel would not: the peer takes part in what is left, and says what became
// of it, or its end does. One that is hidden would not read it.
Engine::Step Engine::not_by_us(Peer& peer, Request& request, ph_status why) {
  if (peer.credits->is_hidden()) {
    request_failed(request, check_again(peer, rest_of(request).at, 1, PH_ACCESS_WRITE));
    return Step::moved;
  }
  if (request.kind == Request::Kind::get) return Step::moved;  // which way is looked at once more
  if ((request.flags & PH_ALONE) != 0) {
    if (Alone(*this).has_lost_way(peer, request)) Alone(*this).give_up(request);
    return Step::moved;
  }
  if (why != PH_AGAIN && check_again(peer, rest_of(request).at, 1, PH_ACCESS_WRITE) == PH_OK)
    peer.puts.copies.refused();  // by the kernel, then: the key is as good as it was
  request.learns = false;
  request.kind = Request::Kind::bulk;
  return Step::moved;
}

Engine::Step Engine::step_get(Peer& peer, Request& request, std::uint64_t& budget) {
  const base::Finally heard([this]() noexcept { is_quiet_ = false; });
  is_quiet_ = request.owner != wire::Owner::application;
  if (request.size_bytes == 0) {
    landed(request);
    return Step::moved;
  }
  if (request.posted) return step_posted(peer, request, budget);
  if (request.layout != nullptr) return step_get_layout(peer, request, budget);
  const auto way = transport_->reach(peer.rank, request.target.address, request.size_bytes);
  if (way.kind == transport::Reach::Kind::posted && !request.no_nic)
    return step_posted(peer, request, budget);
  GetTakeover both(*this);
  request.asked = request.asked && way.kind == transport::Reach::Kind::call &&
                  request.done_bytes == 0 && both.may_ask(peer);
  if (peer.regions != nullptr && way.is_ours_to_copy() && !request.asked)
    return step_reach(peer, request, budget);
  if ((request.flags & PH_ALONE) != 0) {
    Alone(*this).give_up(request);
    return Step::moved;
  }
  if (peer.gets_unanswered() >= kMaxGets) return Step::blocked;
  Outgoing out{};
  out.kind = wire::Kind::get;
  out.fixed[0] = request.target.address;
  out.fixed[1] = request.target.key;
  out.fixed[2] = request.size_bytes;
  out.fixed[3] = RequestPool::token(request);
  if (!send(peer, out)) return Step::blocked;
  count(peer, Count::get_served);
  ++peer.gets_under_way;
  request.done_bytes = 0;  // what was copied before the path went comes once more
  request.copied_bytes = 0;
  request.serving = true;
  peer.work.pop();
  if (request.asked) both.asked(peer, request);
  return Step::moved;
}

// Which way is looked at once, before the first byte; should the path go, its owner is asked for
// the rest.
Engine::Step Engine::step_get_layout(Peer& peer, Request& request, std::uint64_t& budget) {
  Layout& layout = *request.layout;
  if (request.serving) return step_gather(peer, request);
  if (layout.is_ours) {
    const auto rest = rest_of(request);
    layout.is_ours =
        transport_->reach(peer.rank, rest.at.address, rest.size_bytes).is_ours_to_copy();
  } else if (request.done_bytes == 0) {
    const auto way = way_of(peer, layout);
    if (way == transport::Reach::Kind::posted && !request.no_nic)
      return step_posted(peer, request, budget);
    layout.is_ours = peer.regions != nullptr &&
                     (way == transport::Reach::Kind::mapped || way == transport::Reach::Kind::call);
  }
  return layout.is_ours ? step_reach(peer, request, budget) : step_gather(peer, request);
}

// A packed put without an id.
Engine::Step Engine::step_packed(Peer& peer, Request& request) {
  const bool acked = (request.flags & PH_DELIVERED) != 0;
  Outgoing out{};
  out.kind = acked ? wire::Kind::put_acked : wire::Kind::put;
  out.fixed[0] = request.target.address;
  out.fixed[1] = request.target.key;
  out.payload = payload_blocks_.at(request.payload);
  out.payload_bytes = static_cast<std::uint32_t>(request.size_bytes);
  name(out, request);
  if (!send(peer, out)) return Step::blocked;
  if (request.size_bytes != 0) ++peer.staged_sent;
  if (acked) peer.await_ack(request);
  peer.work.pop();
  maybe_free(request);
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

}  // namespace photon::engine
