// Atomics, both sides (docs/memory-model.md, Atomics).
//
//   initiator: now, on mapped memory --> done
//              queued --> head of the work: on mapped memory --> done
//                                           asked (in acks) -- fetched --> done, or refused
//   target:    atomic --> carried out --> fetched, and the id
//
// Invariant: no atomic goes the short way while an answer to an earlier one is owed, so that one
// rank's are carried out in posting order.
#include <algorithm>
#include <cstring>
#include <string>

#include "engine/engine.hpp"
#include "engine/record_io.hpp"

namespace photon::engine {

namespace {

constexpr std::uint32_t kAtomicFlags = PH_NO_LCE | PH_NO_RCE | PH_ORDER_NONE;
constexpr std::uint64_t kFetches = 1u << 16;  // in the record's third word

sync::WordChange change_of(const ph_atomic_args& args) noexcept {
  return {static_cast<sync::WordVerb>(args.op), static_cast<sync::WordType>(args.type),
          args.operand.uint64, args.compare.uint64};
}

std::uint32_t access_for(bool fetches) noexcept {
  return fetches ? std::uint32_t{PH_ACCESS_ALL} : std::uint32_t{PH_ACCESS_WRITE};
}

}  // namespace

ph_status Engine::check_atomic(Rank rank, const ph_atomic_args& args) {
  if ((args.flags & ~kAtomicFlags) != 0)
    return fail(PH_ERR_ARGUMENT, rank, "atomic: unknown flags " + std::to_string(args.flags));
  if (!sync::is_word_change(args.op, args.type))
    return fail(PH_ERR_ARGUMENT, rank,
                "atomic: no operation " + std::to_string(args.op) + " on type " +
                    std::to_string(args.type));
  if (args.target.address % sync::word_bytes(static_cast<sync::WordType>(args.type)) != 0)
    return fail(PH_ERR_ARGUMENT, rank,
                "atomic: address " + std::to_string(args.target.address) +
                    " is not aligned to the word's size");
  if (const auto status = check_request("atomic", rank, args.request, args.flags); status != PH_OK)
    return status;
  return check_ids("atomic", rank, args.local, args.remote);
}

ph_status Engine::atomic(Rank rank, const ph_atomic_args& args) {
  if (const auto status = check_atomic(rank, args); status != PH_OK) return status;
  Peer* peer = nullptr;
  if (const auto status = contact(rank, peer); status != PH_OK) return status;
  const sync::WordChange change = change_of(args);
  const std::uint64_t bytes = sync::word_bytes(change.type);
  const auto access = access_for(args.fetched != nullptr);
  if (const auto status = check_target(*peer, args.target, bytes, access); status != PH_OK)
    return status;
  const bool has_event = (args.flags & PH_NO_LCE) == 0 && args.request == nullptr;
  if (has_event && !events_left()) return again();
  if (atomic_now(*peer, args)) {
    if (args.request != nullptr) *args.request = PH_REQUEST_NONE;
    return PH_OK;
  }
  id_blocks_.reserve(2);  // whatever may fail fails before anything is taken
  Request* request = new_request(*peer, args.flags);
  if (request == nullptr) return again();
  request->kind = Request::Kind::atomic;
  request->destination = static_cast<std::byte*>(args.fetched);
  request->size_bytes = bytes;
  request->target = args.target;
  request->change = change;
  name_locally(*request, args.local, args.request);
  if (request->has_rce()) request->remote = hold(args.remote);
  peer->work.push(*request);
  if (request->has_rce()) peer->ids.push(*request);
  mark_busy(*peer);
  process(*peer);
  hand_over(*request, args.request);
  return PH_OK;
}

// Nothing is before it, and the word is in memory that we have mapped: no request is needed.
// False: it has to queue, and nothing was done.
bool Engine::atomic_now(Peer& peer, const ph_atomic_args& args) {
  const bool has_id = (args.flags & PH_NO_RCE) == 0;
  if (peer.fences != 0 || !peer.work.empty() || peer.atomics_asked != 0) return false;
  if (has_id && !peer.ids.empty() && (args.flags & PH_ORDER_NONE) == 0) return false;
  if (has_id && !has_ledger(peer)) return false;
  Outgoing out{};
  out.id = args.remote.data;
  out.id_bytes = args.remote.size_bytes;
  if (has_id && !peer.tx.has_room(wire::lines_for(out.kind, out.id_bytes, 0))) return false;
  id_blocks_.reserve(1);  // whatever may fail fails before anything is done
  peer.local.make_room(peer.outstanding + 1);
  std::uint64_t before = 0;
  const MappedWord word{args.target, change_of(args), access_for(args.fetched != nullptr)};
  if (change_mapped(peer, word, before) != PH_OK) return false;
  if (args.fetched != nullptr)
    std::memcpy(args.fetched, &before, sync::word_bytes(static_cast<sync::WordType>(args.type)));
  if (has_id) static_cast<void>(send(peer, out));
  if ((args.flags & PH_NO_LCE) == 0 && args.request == nullptr) {
    --events_free_;
    push_local(peer, hold(args.local), PH_OK);
  }
  return true;
}

// By ourselves, under an intent (sync/intent.hpp). PH_AGAIN: we have not mapped that memory.
ph_status Engine::change_mapped(Peer& peer, const MappedWord& word, std::uint64_t& before) {
  const std::uint64_t bytes = sync::word_bytes(word.change.type);
  const auto reach = transport_->reach(peer.rank, word.at.address, bytes);
  if (reach.kind != transport::Reach::Kind::mapped || peer.regions == nullptr) return PH_AGAIN;
  peer.link->tx_intent->enter(word.at.key & (config_.max_regions - 1), peer.fenced);
  const ph_status status = check_target(peer, word.at, bytes, word.access);
  if (status == PH_OK) before = sync::change_word(reach.local, word.change);
  peer.link->tx_intent->leave();
  return status;
}

Engine::Step Engine::step_atomic(Peer& peer, Request& request) {
  std::uint64_t before = 0;
  const MappedWord word{request.target, request.change, access_for(request.destination != nullptr)};
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
  out.fixed[2] = static_cast<std::uint64_t>(request.change.verb) |
                 static_cast<std::uint64_t>(request.change.type) << 8 |
                 (request.destination != nullptr ? kFetches : 0);
  out.fixed[3] = request.change.operand;
  out.fixed[4] = request.change.compare;
  out.id = id_data(request.remote);
  out.id_bytes = merge ? request.remote.bytes : wire::kNoId;
  if (!send(peer, out)) return Step::blocked;
  peer.work.pop();
  request.id_merged = merge;
  request.staged_mark = ++peer.staged_sent;
  ++peer.atomics_asked;
  peer.acks.push(request);
  return Step::moved;
}

// It was carried out, and left its queues.
void Engine::atomic_done(Request& request, std::uint64_t before) {
  if (request.destination != nullptr) std::memcpy(request.destination, &before, request.size_bytes);
  request.data_done = true;
  complete_local(request, PH_OK);
  maybe_free(request);
}

// False: malformed. An initiator checks operation and alignment before it asks.
bool Engine::take_atomic(Peer& peer, const wire::Header& header, Taker* taker) {
  RecordReader reader(peer.rx);
  const ph_target target{reader.word(), reader.word()};
  const std::uint64_t what = reader.word();
  sync::WordChange change{static_cast<sync::WordVerb>(what & 0xff),
                          static_cast<sync::WordType>(what >> 8 & 0xff), reader.word(),
                          reader.word()};
  if ((what & ~(kFetches | 0xffff)) != 0 || !sync::is_word_change(what & 0xff, what >> 8 & 0xff))
    return false;
  const std::uint64_t bytes = sync::word_bytes(change.type);
  if (target.address % bytes != 0) return false;
  const ph_status status =
      check_access(regions_.table(), target, bytes, access_for((what & kFetches) != 0));
  std::uint64_t before = 0;
  if (status == PH_OK) before = sync::change_word(reinterpret_cast<void*>(target.address), change);
  const bool is_told = (what & kFetches) != 0 && status == PH_OK;
  const Reply reply{wire::Kind::fetched,
                    {static_cast<std::uint64_t>(status), is_told ? before : 0}};
  if (!answer(peer, reply)) return false;
  if (!header.has_id()) return true;
  if (status == PH_OK) return deliver(peer, reader, header.id_bytes, taker);
  ++peer.probed;  // its ledger slot is free again
  return true;
}

bool Engine::take_fetched(Peer& peer) {
  RecordReader reader(peer.rx);
  const auto status = static_cast<ph_status>(static_cast<std::int64_t>(reader.word()));
  const std::uint64_t before = reader.word();
  Request* request = peer.acks.head();
  if (request == nullptr || request->kind != Request::Kind::atomic || status > PH_OK ||
      status < PH_ERR_NOT_FOUND)
    return false;
  peer.acks.pop();
  --peer.atomics_asked;
  peer.staged_landed = std::max(peer.staged_landed, request->staged_mark);
  mark_busy(peer);
  if (status == PH_OK) {
    atomic_done(*request, before);
    return true;
  }
  fail(status, peer.rank,
       "atomic at address " + std::to_string(request->target.address) +
           ": its owner refused: " + ph_status_text(status));
  request_failed(*request, status);
  return true;
}

}  // namespace photon::engine
