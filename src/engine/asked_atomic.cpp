// Atomics that were queued, at their initiator, and those that a peer asks for
// (docs/data-paths.md, Atomics).
//
//   initiator: head of the work: on mapped memory --> done
//                                asked (in acks) -- fetched --> done, or refused
//   target:    atomic --> carried out --> fetched, and the id
#include "engine/parts/asked_atomic.hpp"

#include <algorithm>
#include <string>

#include "base/hex.hpp"
#include "engine/fast_path.hpp"
#include "wire/status.hpp"

namespace photon::engine {

// PH_AGAIN: we have not mapped that memory. What has gone does not come back, so the second check
// finds what the first did, with words.
ph_status Engine::change_mapped(Peer& peer, MappedWord& word, std::uint64_t& before) {
  const std::uint64_t bytes = sync::word_bytes(word.change.type);
  const auto reach = transport_->reach(peer.rank, word.at.address, bytes);
  if (reach.kind != transport::Reach::Kind::mapped || peer.regions == nullptr) return PH_AGAIN;
  word.local = reach.local;
  if (change_here(peer, {peer.regions, config_.max_regions}, word, before)) return PH_OK;
  const ph_status status = check_again(peer, word.at, bytes, word.access);
  return status == PH_OK ? PH_AGAIN : status;
}

Engine::Step Engine::step_atomic(Peer& peer, Request& request) {
  std::uint64_t before = 0;
  MappedWord word{request.target, request.change, access_for(request.destination != nullptr),
                  nullptr};
  const ph_status status = peer.atomics_asked != 0 ? PH_AGAIN : change_mapped(peer, word, before);
  if (status == PH_OK) {
    peer.work.pop();
    atomic_done(request, before);
    return Step::moved;
  }
  if (status != PH_AGAIN) {
    request_failed(request, status);
    return Step::moved;
  }
  const bool merge = request.has_rce() && may_post_id(peer, request) && has_ledger(peer);
  Outgoing out{};
  out.kind = wire::Kind::atomic;
  out.fixed[0] = request.target.address;
  out.fixed[1] = request.target.key;
  out.fixed[2] = wire_form(request.change, request.destination != nullptr);
  out.fixed[3] = request.change.operand;
  out.fixed[4] = request.change.compare;
  out.id = id_data(request.remote);
  out.id_bytes = merge ? request.remote.bytes : wire::kNoId;
  if (!send(peer, out)) return Step::blocked;
  peer.work.pop();
  request.id_merged = merge;
  ++peer.staged_sent;
  request.staged_mark = peer.staged();
  ++peer.atomics_asked;
  peer.acks.push(request);
  return Step::moved;
}

// It was carried out, and left its queues.
void Engine::atomic_done(Request& request, std::uint64_t before) {
  if (request.destination != nullptr) put_word(request.destination, before, request.size_bytes);
  landed(request);
}

// False: malformed.
bool Engine::take_atomic(Peer& peer, const wire::Header& header, CompletionSink* sink) {
  const AskedAtomic asked = read_asked(peer.rx.line(0));
  if (!asked.is_good()) return false;
  const ph_status status =
      check_access(regions_, asked.target, asked.bytes(), access_for(asked.fetches()));
  std::uint64_t before = 0;
  if (status == PH_OK)
    before = sync::change_word(reinterpret_cast<void*>(asked.target.address), asked.change);
  const bool is_told = asked.fetches() && status == PH_OK;
  const Reply reply{wire::Kind::fetched,
                    {static_cast<std::uint64_t>(status), is_told ? before : 0}};
  if (!answer(peer, reply)) return false;
  if (!header.has_id()) return true;
  RecordReader reader(peer.rx);
  reader.skip(wire::fixed_words(wire::Kind::atomic));
  if (status == PH_OK) return deliver(peer, reader, header, sink);
  id_dropped(peer, header);
  return true;
}

// The whole of that for the record of the peer's ring whose word this is, if it has no id and can
// be granted and answered at once. False: not, and nothing was done.
bool Engine::take_asked(Peer& peer, std::uint64_t word) noexcept {
  if ((word & ~kTag) != kAskedAtomic || !peer.replies.empty() || !peer.tx.has_room(1)) return false;
  const AskedAtomic asked = read_asked(peer.rx.line(0));
  if (!asked.is_good() ||
      check_access(regions_, asked.target, asked.bytes(), access_for(asked.fetches())) != PH_OK)
    return false;
  const std::uint64_t before =
      sync::change_word(reinterpret_cast<void*>(asked.target.address), asked.change);
  if (peer.has_grant() && peer.counts == nullptr) {
    ++peer.grant_begin;  // a line of it that is no put; it would be counted as one
    completions_.release();
  } else {
    settle(peer);
  }
  transport::Line& line = peer.tx.line(0);
  line.words[0].set(static_cast<std::uint64_t>(PH_OK));
  line.words[1].set(asked.fetches() ? before : 0);
  peer.tx.publish(kFetched, 1);
  if (told(peer) == Fast::tell) kick_peer(peer);
  peer.rx.pop(1);
  return true;
}

bool Engine::take_fetched(Peer& peer) {
  RecordReader reader(peer.rx);
  const auto told = reader.word();
  return wire::is_end(told) && is_fetched(peer, wire::to_status(told), reader.word());
}

// False: malformed, and nothing was done.
bool Engine::is_fetched(Peer& peer, ph_status status, std::uint64_t before) {
  Request* request = peer.acks.head();
  if (request == nullptr || request->kind != Request::Kind::atomic) return false;
  peer.acks.pop();
  --peer.atomics_asked;
  peer.staged_landed = std::max(peer.staged_landed, request->staged_mark);
  if (!peer.idle()) mark_busy(peer);
  if (status == PH_OK) {
    atomic_done(*request, before);
    return true;
  }
  fail(status, peer.rank,
       "atomic at " + base::hex(request->target.address) +
           ": its owner refused: " + ph_status_text(status));
  request_failed(*request, status);
  return true;
}

}  // namespace photon::engine
