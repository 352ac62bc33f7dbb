// Posting gets and fences.
#include <cstring>

#include "engine/alone.hpp"
#include "engine/get_takeover.hpp"

namespace photon::engine {

namespace {

constexpr std::uint32_t kGetFlags =
    PH_NO_LCE | PH_NO_RCE | PH_NOTICE_ACCEPTED | PH_ORDER_NONE | PH_ALONE;

// The get would change the id, which is read after it.
bool lies_in_destination(const ph_id& id, const ph_get_args& args) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(args.destination);
  const auto data = reinterpret_cast<std::uintptr_t>(id.data);
  return id.size_bytes != 0 && data < begin + args.size_bytes && begin < data + id.size_bytes;
}

}  // namespace

ph_status Engine::check_get(Rank rank, const ph_get_args& args) {
  if ((args.flags & ~kGetFlags) != 0)
    return fail(PH_ERR_ARGUMENT, rank, "get: unknown flags " + std::to_string(args.flags));
  if (const auto status = check_request("get", rank, args.request, args.flags); status != PH_OK)
    return status;
  if (args.size_bytes != 0 && args.destination == nullptr)
    return fail(PH_ERR_ARGUMENT, rank,
                "get of " + std::to_string(args.size_bytes) + " bytes: the destination is null");
  if (const auto status =
          check_size({"get", rank, args.destination}, {args.source, args.size_bytes});
      status != PH_OK)
    return status;
  return check_ids("get", rank, args.local, args.remote);
}

ph_status Engine::get(Rank rank, const ph_get_args& args) {
  if (const auto status = check_get(rank, args); status != PH_OK) return status;
  Peer* peer = nullptr;
  if (const auto status = contact(rank, peer); status != PH_OK) return status;
  if (args.size_bytes != 0) {
    auto status = check_target(*peer, args.source, args.size_bytes, PH_ACCESS_READ);
    if (status == PH_OK && (args.flags & PH_ALONE) != 0)
      status = Alone(*this).check("get", *peer, {args.source, args.size_bytes});
    if (status != PH_OK) return status;
  }
  const bool has_event = (args.flags & PH_NO_LCE) == 0 && args.request == nullptr;
  if (has_event && !events_left()) return again();
  GetTakeover both(*this);
  const auto way = both.choose(*peer, {args.source, args.size_bytes}, args.flags);
  const bool is_timed = way && both.is_timed(*peer, args.size_bytes);
  const std::int64_t began = is_timed ? transport_->now_ns() : 0;
  if (way == CopyChoice::Way::staged || !get_now(*peer, args))
    return get_queued(*peer, {args, nullptr, way.has_value(), way == CopyChoice::Way::staged});
  if (is_timed) both.took_now(*peer, args.size_bytes, began);
  count(*peer, Count::gets);
  count(*peer, Count::get_bytes, args.size_bytes);
  count(*peer, Count::get_direct);
  if (args.request != nullptr) *args.request = PH_REQUEST_NONE;
  return PH_OK;
}

// One piece that we copy ourselves, with nothing before it: it needs no request, for it is over
// when this returns. False: it has to queue, and nothing was done that anybody sees.
bool Engine::get_now(Peer& peer, const ph_get_args& args) {
  const bool has_id = (args.flags & PH_NO_RCE) == 0;
  if (peer.fences != 0 || !peer.work.empty() || args.size_bytes == 0 ||
      args.size_bytes > config_.piece_bytes || peer.regions == nullptr ||
      lies_in_destination(args.local, args) || lies_in_destination(args.remote, args))
    return false;
  if (has_id && ((!peer.ids.empty() && (args.flags & PH_ORDER_NONE) == 0) || !has_ledger(peer)))
    return false;
  if (!transport_->reach(peer.rank, args.source.address, args.size_bytes).is_ours_to_copy())
    return false;
  const Outgoing notice = outgoing(args.flags, args.local, args.remote);
  if (has_id && !peer.tx.has_room(wire::lines_for(notice.kind, notice.id_bytes, 0))) return false;
  id_blocks_.reserve(1);  // whatever may fail fails before anything is done
  peer.local.make_room(peer.outstanding + 1);
  const Piece piece{args.source, args.size_bytes, nullptr,
                    static_cast<std::byte*>(args.destination)};
  if (copy_piece(peer, piece) != PH_OK) return false;  // the key went this moment
  if (has_id) static_cast<void>(send(peer, notice));   // there is room
  done_now(peer, {args.local, args.flags, args.request});
  return true;
}

ph_status Engine::get_here(Rank rank, const ph_get_args& args, const void* here) {
  if (const auto wrong = check_get(rank, args); wrong != PH_OK) return wrong;
  Peer* peer = nullptr;
  if (const auto lost = contact(rank, peer); lost != PH_OK) return lost;
  return get_queued(*peer, {args, here});
}

ph_status Engine::get_queued(Peer& peer, const QueuedGet& what) {
  const ph_get_args& args = what.args;
  id_blocks_.reserve(2);  // whatever may fail fails before anything is taken
  Request* request = new_request(peer, args.flags);
  if (request == nullptr) return again();
  request->kind = Request::Kind::get;
  count(peer, Count::gets);
  count(peer, Count::get_bytes, args.size_bytes);
  request->destination = static_cast<std::byte*>(args.destination);
  request->size_bytes = args.size_bytes;
  request->target = args.source;
  request->learns = what.learns;
  request->asked = what.is_asked;
  name_locally(*request, args.local, args.request);
  if (request->has_rce()) request->remote = hold(args.remote);
  if (what.here == nullptr) {
    peer.work.push(*request);
    mark_busy(peer);
  } else {
    if (args.size_bytes != 0) std::memcpy(args.destination, what.here, args.size_bytes);
    landed(*request);
  }
  process(peer);
  hand_over(*request, args.request);
  return PH_OK;
}

// A mark in both queues: what is behind waits until everything before has landed.
ph_status Engine::fence(Rank rank) {
  Peer* peer = nullptr;
  if (rank < size_ && peers_[rank] == nullptr) return PH_OK;  // nothing was ever sent
  if (const auto status = contact(rank, peer); status != PH_OK) return status;
  settle(*peer);
  if (peer->idle() && peer->acks.empty() && peer->gets_under_way == 0 &&
      peer->posted_under_way == 0 && peer->staged() == peer->staged_landed)
    return PH_OK;
  peer->queues.begin_fence();  // it covers what services have said, too
  Request* request = nullptr;
  try {
    request = requests_.take();
  } catch (...) {
    peer->queues.undo_fence();
    throw;
  }
  if (request == nullptr) {
    peer->queues.undo_fence();
    return again();
  }
  request->kind = Request::Kind::fence;
  request->peer = peer;
  request->local_done = true;  // nobody hears of it
  ++peer->fences;
  ++peer->fences_begun;
  peer->ahead = nullptr;  // it makes payloads go that could wait before
  peer->work.push(*request);
  peer->ids.push(*request);
  mark_busy(*peer);
  process(*peer);
  return PH_OK;
}

}  // namespace photon::engine
