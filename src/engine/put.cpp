// Posting puts: check everything, then send at once or queue in order.
#include <algorithm>
#include <cstring>

#include "base/finally.hpp"
#include "engine/alone.hpp"
#include "engine/fast_path.hpp"
#include "engine/put_samples.hpp"

namespace photon::engine {

namespace {

constexpr std::uint32_t kPutFlags = PH_NO_LCE | PH_NO_RCE | PH_DELIVERED | PH_ORDER_NONE | PH_ALONE;

// Whether a put whose target is mapped may go through the bulk ring all the same: somebody is going
// to probe its id at the target, and nobody waits for the landing itself.
constexpr bool may_stage(std::uint32_t flags) noexcept {
  return (flags & (PH_NO_RCE | PH_DELIVERED | PH_ORDER_NONE | PH_ALONE)) == 0;
}

}  // namespace

ph_status Engine::check_put(Rank rank, const ph_put_args& args) {
  if ((args.flags & ~kPutFlags) != 0)
    return fail(PH_ERR_ARGUMENT, rank, "put: unknown flags " + std::to_string(args.flags));
  if (const auto status = check_request("put", rank, args.request, args.flags); status != PH_OK)
    return status;
  if (args.size_bytes != 0 && args.source == nullptr)
    return fail(PH_ERR_ARGUMENT, rank,
                "put of " + std::to_string(args.size_bytes) + " bytes: the source is null");
  if (const auto status = check_size({"put", rank, args.source}, {args.target, args.size_bytes});
      status != PH_OK)
    return status;
  return check_ids("put", rank, args.local, args.remote);
}

// The receiver or a thread of ours wants to be told of what the fast path did.
void Engine::finish_put(Rank rank) noexcept {
  kick_peer(*peers_[rank]);
  if (waiters_ != 0) news();
}

// False: nothing was done.
bool Engine::put_on_grant(Rank rank, ph_const_block source, ph_target target, ph_u64_ids ids) {
  Peer* peer = rank < size_ ? peers_[rank].get() : nullptr;
  if (peer == nullptr) return false;
  Fast fast = Fast::no;
  if (source.size_bytes > kLineRoom) {
    fast = direct_u64(*peer, source, target, ids);
    if (fast == Fast::no) fast = EagerChunks::put(*this, *peer, source, target, ids);
  } else if (peer->has_grant() || grant_credit(*peer)) {
    fast = try_put_u64(rank, source, target, ids);
  }
  if (fast == Fast::tell) finish_put(rank);
  return fast != Fast::no;
}

ph_status Engine::put_u64(Rank rank, ph_const_block source, ph_target target, ph_u64_ids ids) {
  if (put_on_grant(rank, source, target, ids)) return PH_OK;
  ph_put_args args{};
  args.size = sizeof args;
  args.source = source.data;
  args.size_bytes = source.size_bytes;
  args.target = target;
  args.local = {&ids.local, sizeof ids.local};
  args.remote = {&ids.remote, sizeof ids.remote};
  return put_anyhow(rank, args);
}

ph_status Engine::notify(Rank rank, std::uint64_t remote) {
  Peer* peer = rank < size_ ? peers_[rank].get() : nullptr;
  if (peer != nullptr && !peer->has_grant() && grant_credit(*peer)) {
    const Fast fast = try_notify(rank, remote);
    if (fast == Fast::tell) finish_put(rank);
    if (fast != Fast::no) return PH_OK;
  }
  const std::uint64_t nameless = 0;  // what an error is told with, early or late
  ph_put_args args{};
  args.size = sizeof args;
  args.local = {&nameless, sizeof nameless};
  args.remote = {&remote, sizeof remote};
  args.flags = PH_NO_LCE;
  return put_anyhow(rank, args);
}

// Two ids of 8 bytes and nothing else that is special: as put_u64().
ph_status Engine::put(Rank rank, const ph_put_args& args) {
  const ph_id& local = args.local;
  const ph_id& remote = args.remote;
  ph_u64_ids ids{};
  if (args.flags == 0 && args.request == nullptr && local.size_bytes == sizeof ids.local &&
      remote.size_bytes == sizeof ids.remote && local.data != nullptr && remote.data != nullptr) {
    std::memcpy(&ids.local, local.data, sizeof ids.local);
    std::memcpy(&ids.remote, remote.data, sizeof ids.remote);
    if (put_on_grant(rank, {args.source, args.size_bytes}, args.target, ids)) return PH_OK;
  }
  return put_anyhow(rank, args);
}

ph_status Engine::put_anyhow(Rank rank, const ph_put_args& args) {
  if (const auto status = check_put(rank, args); status != PH_OK) return status;
  Peer* peer = nullptr;
  if (const auto status = contact(rank, peer); status != PH_OK) return status;
  if (args.size_bytes != 0) {
    auto status = check_target(*peer, args.target, args.size_bytes, PH_ACCESS_WRITE);
    if (status == PH_OK && (args.flags & PH_ALONE) != 0)
      status = Alone(*this).check("put", *peer, {args.target, args.size_bytes});
    if (status != PH_OK) return status;
    // Also if its bytes go when keys can be seen: nobody checks this one any more but the peer.
    if (peer->regions == nullptr) peer->took_unchecked = true;
  }
  const bool has_event = (args.flags & PH_NO_LCE) == 0 && args.request == nullptr;
  if (has_event && !events_left()) return again();
  const auto way = choose(*peer, args, true);
  if (way != Request::Kind::posted && put_now(*peer, args, way)) {
    count_put(*peer, args.size_bytes);
    if (args.request != nullptr) *args.request = PH_REQUEST_NONE;
    return PH_OK;
  }
  return put_queued(*peer, args, way);
}

// At once: what can be copied straight to its place needs no copy here. Else packed_max promises
// one, and a record may go before the work that is queued.
Request::Kind Engine::choose(Peer& peer, const ph_put_args& args, bool at_once) {
  const std::uint64_t bytes = args.size_bytes;
  const bool is_small = bytes <= config_.packed_max;
  const auto staged = is_small ? Request::Kind::packed : Request::Kind::bulk;
  if (at_once) peer.mapped_way = Way::plain;
  if ((args.flags & PH_ALONE) != 0 && bytes != 0)
    return Alone::kind_of(transport_->reach(peer.rank, args.target.address, bytes).kind);
  if (bytes < std::min(config_.mapped_min, config_.direct_min) || bytes == 0) return staged;
  if (is_small && (!at_once || !peer.work.empty() || bytes > config_.piece_bytes)) return staged;
  switch (transport_->reach(peer.rank, args.target.address, bytes).kind) {
    case transport::Reach::Kind::mapped:
      if (bytes < config_.mapped_min) return staged;
      if (!at_once) return Request::Kind::direct;
      peer.mapped_way = peer.stores.for_mapped(
          bytes, may_stage(args.flags) && can_stage_now(peer, bytes), peer.tx);
      return peer.mapped_way == Way::ring ? Request::Kind::bulk : Request::Kind::direct;
    case transport::Reach::Kind::posted:
      return bytes >= config_.direct_min && !is_small ? Request::Kind::posted : staged;
    default: return staged;
  }
}

ph_status Engine::put_queued(Peer& peer, const ph_put_args& args, Request::Kind at_once) {
  id_blocks_.reserve(2);  // whatever may fail fails before anything is taken
  payload_blocks_.reserve(1);
  Request* request = new_request(peer, args.flags);
  if (request == nullptr) return again();
  const bool is_settled = at_once == Request::Kind::posted || at_once == Request::Kind::bulk;
  request->kind = is_settled ? at_once : choose(peer, args, false);
  request->way = peer.mapped_way;
  if (request->kind == Request::Kind::bulk)
    PutSamples(*this).choose(peer, *request, {args.target, args.size_bytes});
  count_put(peer, args.size_bytes);
  count(peer, mode_of(request->kind));
  request->source = static_cast<const std::byte*>(args.source);
  request->size_bytes = args.size_bytes;
  request->target = args.target;
  const bool is_small = args.size_bytes != 0 && args.size_bytes <= config_.packed_max;
  if (is_small && (args.flags & PH_ALONE) != 0) Alone(*this).keep_source(*request);
  name_locally(*request, args.local, args.request);
  if (request->has_rce()) request->remote = hold(args.remote);
  const bool has_gone = request->kind == Request::Kind::posted && posted_at_once(peer, *request);
  if (request->kind == Request::Kind::packed) {
    request->payload = payload_blocks_.take();
    if (args.size_bytes != 0)
      std::memcpy(payload_blocks_.at(request->payload), args.source, args.size_bytes);
    if (request->has_rce())
      peer.ids.push(*request);
    else
      peer.work.push(*request);
  } else if (!has_gone) {
    peer.work.push(*request);
    if (request->has_rce()) peer.ids.push(*request);
  }
  if (!has_gone) {
    mark_busy(peer);
    posted_now_ = request;
    const base::Finally over([this]() noexcept { posted_now_ = nullptr; });
    process(peer);
  }
  hand_over(*request, args.request);
  return PH_OK;
}

}  // namespace photon::engine
