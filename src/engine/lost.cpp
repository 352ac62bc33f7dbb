// Operations that had gone to a peer that is lost, and are not known to have arrived: each is told
// by an error completion, and where no note was kept ph_flush() and ph_finalize() say that there
// were some (docs/departed-and-dead.md).
#include <new>

#include "engine/engine.hpp"
#include "engine/service_port.hpp"

namespace photon::engine {

namespace {

// A record that is, or ends, an operation of the caller's which is over for us. The others are
// answered: who waits for the answer is told otherwise.
bool ends_operation(const LineProducer& ring, std::uint64_t line, const wire::Header& header) {
  switch (header.kind) {
    case wire::Kind::put:
    case wire::Kind::counted:
    case wire::Kind::message:
    case wire::Kind::jump: return true;
    case wire::Kind::body:
    case wire::Kind::bulk:
    case wire::Kind::scatter: return (ring.word(line, wire::kBulkSizeWord) & wire::kBulkLast) != 0;
    default: return false;
  }
}

bool has_chunk(const Request& request, std::uint64_t line) noexcept {
  return request.kind != Request::Kind::get && request.chunked && request.first_line <= line;
}

SentPut note_of(const Request& request) noexcept {
  return {0, request.local_word, request.target.address, request.size_bytes,
          RequestPool::token(request)};
}

}  // namespace

// An operation's chunks follow each other in the bulk ring, and no other's come between them.
SentPut put_of_chunk(const Peer& peer, std::uint64_t line) noexcept {
  const Request* const head = peer.work.head();
  if (head != nullptr && has_chunk(*head, line)) return note_of(*head);
  for (const Request* one = peer.acks.head(); one != nullptr; one = one->next_acks)
    if (has_chunk(*one, line) && line < one->line) return note_of(*one);
  return {};
}

// Before anything of the peer's is given up. One that left says so itself: what it had not read is
// documented to be lost.
void Engine::tell_lost(Peer& peer) {
  if (peer.broken == PH_ERR_DEPARTED || peer.link == nullptr) return;
  settle(peer);
  const std::uint64_t end = peer.tx.tail();
  const std::uint64_t given = peer.credits->lines_given();
  if (given <= end) peer.sent.read_to(given);
  std::uint64_t line = peer.sent.read();
  const bool may_live = peer.may_have_lost();
  // From a jump on its ids stand in the overflow. And what it has read it may have refused: that
  // word can be lost with it.
  const bool is_unjudged = peer.took_unchecked && peer.staged() != peer.staged_landed;
  peer.lost_some = may_live && (peer.outstanding != 0 || !overflow_drained(peer) || is_unjudged);
  try {
    while (line < end) {
      const auto header = wire::decode(peer.tx.header(line));
      if (!header) return;  // the ring is shared: a peer may have written there
      if (ends_operation(peer.tx, line, *header)) {
        peer.lost_some = may_live;
        const SentPut* const put = peer.sent.find(line);
        if (put != nullptr && !put->is_told) told_late(peer, *put, peer.broken);
      }
      line += header->lines;
    }
  } catch (const std::bad_alloc&) {
    PHOTON_LOG(log_, warn, "rank %u: no memory to tell of all that was lost with it", peer.rank);
  }
}

// The local completion of a put was given long ago, if one was wanted.
void Engine::told_late(Peer& peer, const SentPut& put, ph_status status) {
  Request* const request = requests_.find_used(put.request);
  if (request == nullptr || request->local_done)
    return report_late(peer, put.local_id, put.request, status);
  // It will say so itself; but one that has gone and only stands behind others in the ids will not.
  if (request->id_merged && !request->in_work && !request->in_acks && !request->serving)
    complete_local(*request, status);
}

// With one of its chunks: the others are not sent any more, and those that were are not told of
// again. False: nobody can have judged it, for its bytes went another way.
bool Engine::refused_early(Peer& peer, std::uint64_t line, const SentPut& put, ph_status status) {
  Request* const request = requests_.find_used(put.request);
  const bool is_going =
      request != nullptr && request->in_work && request == peer.work.head() && request->chunked;
  if (is_going) {
    mark_busy(peer);
    request_failed(*request, status);
    return true;
  }
  if (request != nullptr && request->in_acks) return true;  // its last chunk's answer says so
  if (request != nullptr && (request->in_work || request->serving)) return false;
  if (request != nullptr && !request->local_done) {
    complete_local(*request, status);
    request->id_merged = true;  // its id waits for credit, and is not sent any more
  } else {
    told_late(peer, put, status);
  }
  peer.sent.told(line);
  if (put.request != PH_REQUEST_NONE) peer.sent.told_request(put.request);
  return true;
}

// Whether nobody can send anything any more, and not because all have left in order.
ph_status Engine::all_lost() {
  const std::size_t others = contacted_.size() - (peers_[self_] != nullptr ? 1 : 0);
  if (size_ == 1 || others + 1 < size_) return PH_OK;
  ph_status status = PH_OK;
  Rank lost = PH_ANY_RANK;
  for (const Peer* peer : contacted_) {
    if (peer->posted_under_way != 0) return PH_OK;
    if (peer->rank == self_ && peer->idle() && peer->outstanding == 0) continue;
    if (peer->broken == PH_OK) return PH_OK;
    if (peer->broken == PH_ERR_DEPARTED) continue;
    status = peer->broken;
    lost = peer->rank;
  }
  if (status == PH_OK) return PH_OK;
  return fail(status, lost,
              "wait: all other ranks are lost or have left, rank " + std::to_string(lost) +
                  " is one of those that are lost");
}

// What its ring held the engine tells of; what had not come so far its service knows.
void ServicePort::note_lost(Rank rank) noexcept {
  Peer* const peer = rank < engine_.size_ ? engine_.peers_[rank].get() : nullptr;
  if (peer == nullptr || peer->broken == PH_OK) return;
  peer->lost_some = peer->lost_some || peer->may_have_lost();
}

// The first lost peer of whose lost operations nobody has been told in general; PH_OK: none. Told
// now, and then no more.
ph_status Engine::lost_of_any(const char* call) {
  for (Peer* peer : contacted_) {
    if (!peer->lost_some) continue;
    peer->lost_some = false;
    return fail(peer->broken, peer->rank,
                std::string(call) + ": rank " + std::to_string(peer->rank) +
                    " is lost, and what had gone to it may not have arrived" +
                    (peer->why.empty() ? "" : " (" + peer->why + ")"));
  }
  return PH_OK;
}

}  // namespace photon::engine
