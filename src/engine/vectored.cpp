// Posting vectored puts and gets: their memory is laid out, then each is one request that its
// kind's steps move along its layout.
//
//   one block or none --> the plain put or get
//   put: all of it mapped --> direct | all for the NICs, in large blocks --> posted | --> bulk
//   get: all within our reach --> copied | all for the NICs --> posted | --> served (gather.cpp)
#include <string>

#include "engine/alone.hpp"
#include "engine/engine.hpp"

namespace photon::engine {

namespace {

constexpr std::uint32_t kEither = PH_NO_LCE | PH_NO_RCE | PH_ORDER_NONE | PH_ALONE;

}  // namespace

ph_status Engine::check_vectored(Rank rank, const Vectored& what) {
  const std::uint32_t known = kEither | (what.is_get ? PH_NOTICE_ACCEPTED : PH_DELIVERED);
  if ((what.flags & ~known) != 0)
    return fail(PH_ERR_ARGUMENT, rank,
                std::string(what.call) + ": unknown flags " + std::to_string(what.flags));
  if (const auto status = check_request(what.call, rank, what.request, what.flags); status != PH_OK)
    return status;
  return check_ids(what.call, rank, what.local, what.remote);
}

ph_status Engine::vectored(Rank rank, const Vectored& what) {
  if (const auto status = check_vectored(rank, what); status != PH_OK) return status;
  Peer* peer = nullptr;
  if (const auto status = contact(rank, peer); status != PH_OK) return status;
  LayoutLease layout(layouts_);
  if (const auto status = lay_out(*peer, what, *layout); status != PH_OK) return status;
  if (layout->is_plain()) return plain(rank, what, *layout);
  if ((what.flags & PH_ALONE) != 0)
    if (const auto status = Alone(*this).check(what, *peer, *layout); status != PH_OK)
      return status;
  if (!what.is_get) {
    if (peer->regions == nullptr) peer->took_unchecked = true;
    const bool has_event = (what.flags & PH_NO_LCE) == 0 && what.request == nullptr;
    if (has_event && !events_left()) return again();
    if (vectored_now(*peer, what, *layout)) {
      if (what.request != nullptr) *what.request = PH_REQUEST_NONE;
      return PH_OK;
    }
    layout->rewind();
  }
  return vectored_queued(*peer, what, layout);
}

// All of it is one block, or nothing.
ph_status Engine::plain(Rank rank, const Vectored& what, const Layout& layout) {
  const Layout::Run none{};
  const Layout::Run& run = layout.runs().empty() ? none : layout.runs().front();
  if (what.is_get)
    return get(rank, {sizeof(ph_get_args), run.own, run.size_bytes, run.at, what.local, what.remote,
                      what.flags, what.request});
  return put(rank, {sizeof(ph_put_args), run.own, run.size_bytes, run.at, what.local, what.remote,
                    what.flags, what.request});
}

// A fragment for each small block costs a NIC more than one chunk of many costs both processors.
Request::Kind Engine::choose(const Peer& peer, const Layout& layout, std::uint32_t flags) noexcept {
  const auto way = way_of(peer, layout);
  if ((flags & PH_ALONE) != 0) return Alone::kind_of(way);
  if (way == transport::Reach::Kind::mapped) return Request::Kind::direct;
  const bool is_large = layout.size_bytes() / layout.blocks() >= config_.direct_min;
  if (way == transport::Reach::Kind::posted && is_large) return Request::Kind::posted;
  return Request::Kind::bulk;
}

// False: it has to queue; its layout may have moved on.
bool Engine::vectored_now(Peer& peer, const Vectored& what, Layout& layout) {
  const bool has_id = (what.flags & PH_NO_RCE) == 0;
  if (peer.fences != 0 || !peer.work.empty()) return false;
  if (has_id && !peer.ids.empty() && (what.flags & PH_ORDER_NONE) == 0) return false;
  if (has_id && !has_ledger(peer)) return false;
  const auto kind = choose(peer, layout, what.flags);
  if ((what.flags & PH_DELIVERED) != 0 && kind != Request::Kind::direct) return false;
  id_blocks_.reserve(2);  // whatever may fail fails before anything is sent
  peer.local.make_room(peer.outstanding + 1);
  const bool done = kind == Request::Kind::direct ? layout_now(peer, what, layout)
                    : kind == Request::Kind::bulk ? scatter_now(peer, what, layout)
                                                  : false;
  if (!done) return false;
  count_put(peer, layout.size_bytes());
  count(peer, mode_of(kind));
  done_now(peer, {what.local, what.flags, what.request});
  return true;
}

// One chunk.
bool Engine::scatter_now(Peer& peer, const Vectored& what, Layout& layout) {
  if (!peer.serves.empty()) return false;
  const std::uint64_t most = config_.bulk_chunk / 2;  // of more the target takes one half meanwhile
  const auto chunk = layout.measure(most, most);
  if (chunk.data_bytes != layout.size_bytes() || !bulk_room(peer, chunk.ring_bytes)) return false;
  Outgoing out = outgoing(what.flags, what.local, what.remote);
  out.kind = wire::Kind::scatter;
  out.fixed[0] = layout.runs().front().at.address;
  out.fixed[1] = chunk.runs;
  out.target = layout.runs().front().at;
  out.size_bytes = layout.size_bytes();
  out.fixed[2] = chunk.ring_bytes | wire::kBulkFirst | wire::kBulkLast;
  if (!peer.tx.has_room(wire::lines_for(out.kind, out.id_bytes, 0))) return false;
  layout.pack(chunk, peer.tx_bulk.place(chunk.ring_bytes));
  peer.tx_bulk.advance(chunk.ring_bytes);
  count(peer, Count::staged_bytes, chunk.ring_bytes);
  ++peer.staged_sent;
  return send(peer, out);
}

// By our own stores.
bool Engine::layout_now(Peer& peer, const Vectored& what, Layout& layout) {
  // All of it or nothing: what was copied in vain could be refused afterwards. A path or a key may
  // go in between, and what is left then has to queue.
  if (layout.cost(kBlockCost) > config_.piece_bytes || requests_.exhausted() || !events_left())
    return false;
  const Outgoing out = outgoing(what.flags, what.local, what.remote);
  if (!peer.tx.has_room(wire::lines_for(out.kind, out.id_bytes, 0))) return false;
  Allowance allowed{config_.piece_bytes};
  if (copy_layout(peer, layout, false, allowed) != PH_OK || allowed.copied != layout.size_bytes())
    return false;  // the key went this moment: queue and report
  return (what.flags & PH_NO_RCE) != 0 || send(peer, out);
}

ph_status Engine::vectored_queued(Peer& peer, const Vectored& what, LayoutLease& layout) {
  id_blocks_.reserve(2);  // whatever may fail fails before anything is taken
  Request* request = new_request(peer, what.flags);
  if (request == nullptr) return again();
  request->kind = what.is_get ? Request::Kind::get : choose(peer, *layout, what.flags);
  request->size_bytes = layout->size_bytes();
  request->target = layout->runs().front().at;   // for words
  request->source = layout->runs().front().own;  // where an empty last chunk is taken from
  request->layout = layout.release();
  if (what.is_get) {
    count(peer, Count::gets);
    count(peer, Count::get_bytes, request->size_bytes);
  } else {
    count_put(peer, request->size_bytes);
    count(peer, mode_of(request->kind));
  }
  name_locally(*request, what.local, what.request);
  if (request->has_rce()) request->remote = hold(what.remote);
  peer.work.push(*request);
  if (!what.is_get && request->has_rce()) peer.ids.push(*request);
  mark_busy(peer);
  process(peer);
  hand_over(*request, what.request);
  return PH_OK;
}

}  // namespace photon::engine
