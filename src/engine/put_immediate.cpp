// Puts that are over for us when they return: nothing queues before them and there is credit, so
// they need no request. What cannot go this way is queued (put.cpp).
#include <algorithm>
#include <cstring>

#include "base/finally.hpp"
#include "engine/fast_path.hpp"

namespace photon::engine {

// False: it has to queue, and nothing was done.
bool Engine::put_now(Peer& peer, const ph_put_args& args, Request::Kind way) {
  const bool has_id = (args.flags & PH_NO_RCE) == 0;
  if (peer.fences != 0) return false;
  if (has_id && !peer.ids.empty() && (args.flags & PH_ORDER_NONE) == 0) return false;
  if (has_id && !has_ledger(peer)) return notified_later(peer, args);
  // A target that lands the bytes by itself has to tell us when.
  if ((args.flags & PH_DELIVERED) != 0 && way != Request::Kind::direct) return false;
  id_blocks_.reserve(1);  // whatever may fail fails before anything is sent
  peer.local.make_room(peer.outstanding + 1);
  bool done = false;
  switch (way) {
    case Request::Kind::packed: done = packed_now(peer, args); break;
    case Request::Kind::bulk: done = bulk_now(peer, args); break;
    case Request::Kind::direct: done = direct_now(peer, args); break;
    default: break;
  }
  if (!done) return has_id && notified_later(peer, args);
  count(peer, way == Request::Kind::packed ? Count::packed
              : way == Request::Kind::bulk ? Count::bulk
                                           : Count::direct);
  done_now(peer, {args.local, args.flags, args.request});
  return true;
}

// A notification that finds no ledger credit or no line.
bool Engine::notified_later(Peer& peer, const ph_put_args& args) {
  if (args.size_bytes != 0 || (args.flags & PH_DELIVERED) != 0) return false;
  id_blocks_.reserve(2);
  peer.local.make_room(peer.outstanding + 1);
  LateId late{hold(args.remote), outgoing(args).local_id};
  const bool is_kept = overflow_id(peer, late);
  drop(late.id);
  if (!is_kept) return false;
  done_now(peer, {args.local, args.flags, args.request});
  return true;
}

bool Engine::packed_now(Peer& peer, const ph_put_args& args) {
  if (args.size_bytes == 0 && (args.flags & PH_NO_RCE) != 0) return true;  // nothing to say
  Outgoing out = outgoing(args);
  out.payload = args.source;
  out.payload_bytes = static_cast<std::uint32_t>(args.size_bytes);
  if (!send(peer, out)) return false;
  if (args.size_bytes != 0) ++peer.staged_sent;
  return true;
}

// One chunk.
bool Engine::bulk_now(Peer& peer, const ph_put_args& args) {
  if (args.size_bytes > config_.bulk_chunk / 2 || !peer.work.empty() || !peer.serves.empty() ||
      !bulk_room(peer, args.size_bytes))
    return false;
  Outgoing out = outgoing(args);
  out.kind = wire::Kind::bulk;
  out.fixed[2] = args.size_bytes | wire::kBulkFirst | wire::kBulkLast;
  out.fixed[3] = args.size_bytes;
  if (!peer.tx.has_room(wire::lines_for(out.kind, out.id_bytes, 0))) return false;
  peer.stage(static_cast<const std::byte*>(args.source), args.size_bytes, args.size_bytes);
  ++peer.staged_sent;
  return send(peer, out);
}

// One piece, by our own stores.
bool Engine::direct_now(Peer& peer, const ph_put_args& args) {
  if (args.size_bytes > config_.piece_bytes || !peer.work.empty()) return false;
  Outgoing out = outgoing(args);
  out.fixed[0] = out.fixed[1] = 0;
  if (!peer.tx.has_room(wire::lines_for(out.kind, out.id_bytes, 0))) return false;
  const Piece piece{args.target, args.size_bytes, static_cast<const std::byte*>(args.source),
                    nullptr, peer.mapped_way};
  if (copy_piece(peer, piece) != PH_OK) return false;  // the key went this moment: who is next says
  return (args.flags & PH_NO_RCE) != 0 || send(peer, out);
}

// The same on a credit grant, with all that the general way asks before and after in a few looks:
// half of what a put of 4 KiB costs beside its copy. No: nothing was done, the general way says
// why.
Engine::Fast Engine::direct_u64(Peer& peer, ph_const_block source, const ph_target& target,
                                ph_u64_ids ids) {
  const std::uint64_t bytes = source.size_bytes;
  if (peer.regions == nullptr || bytes < config_.mapped_min || bytes > config_.piece_bytes ||
      peer.counts != nullptr || source.data == nullptr)
    return Fast::no;
  const auto reach = transport_->reach(peer.rank, target.address, bytes);
  if (reach.kind != transport::Reach::Kind::mapped || (!peer.has_grant() && !grant_credit(peer)) ||
      peer.local.full())
    return Fast::no;
  const Way way = peer.stores.for_mapped(bytes, can_stage_now(peer, bytes), peer.tx);
  if (way == Way::ring) {
    peer.stores.put_off(way, bytes);
    return Fast::no;
  }
  {
    peer.link->tx_intent->enter(target.key & (config_.max_regions - 1), peer.fenced);
    const base::Finally ended([&peer]() noexcept { peer.link->tx_intent->leave(); });
    if (peer.credits->is_hidden() ||
        !is_granted({peer.regions, config_.max_regions}, target, bytes, PH_ACCESS_WRITE))
      return Fast::no;
    peer.store(way, reach.local, static_cast<const std::byte*>(source.data), bytes);
  }
  transport::Line& line = peer.tx.line(0);
  line.words[2].set(ids.remote);
  peer.tx.publish_line(line, wire::encode(wire::Kind::put, 8, 0));
  // Its bytes have landed: unlike the other records of a credit grant it is none that a fence waits
  // for.
  ++peer.grant_begin;
  ++peer.ledger_sent;
  return done_u64(peer, ids.local);
}

}  // namespace photon::engine
