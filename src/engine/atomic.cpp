// Posting atomics (docs/data-paths.md, Atomics): on mapped memory at once, asked on a credit grant,
// or queued (asked_atomic.cpp).
//
// Invariant: no atomic goes the short way while an answer to an earlier one is owed, so that one
// rank's are carried out in posting order.
#include <algorithm>
#include <cstring>
#include <string>

#include "base/hex.hpp"
#include "engine/fast_path.hpp"
#include "engine/parts/asked_atomic.hpp"

namespace photon::engine {

namespace {

constexpr std::uint32_t kAtomicFlags = PH_NO_LCE | PH_NO_RCE | PH_ORDER_NONE;

sync::WordChange change_of(const ph_atomic_args& args) noexcept {
  return {static_cast<sync::WordVerb>(args.op), static_cast<sync::WordType>(args.type),
          args.operand.uint64, args.compare.uint64};
}

// The whole region: it may begin in memory that is mapped, and end elsewhere. What the kernel
// reaches nobody will ever map; what nobody reaches yet may be mapped soon.
void find_atomic_place(transport::Transport& transport, Peer& peer, Regions regions,
                       std::uint64_t key) noexcept {
  sync::RegionView view;
  if (!regions[key & (regions.size() - 1)].read(key, view)) return;
  const auto reach = transport.reach(peer.rank, view.address, view.size_bytes);
  const bool is_mapped = reach.kind == transport::Reach::Kind::mapped;
  if (!is_mapped && reach.kind != transport::Reach::Kind::call) return;
  peer.atomic_place = {key, is_mapped,
                       reinterpret_cast<std::uintptr_t>(reach.local) - view.address};
}

}  // namespace

ph_status Engine::check_atomic(Rank rank, const ph_atomic_args& args) {
  if ((args.flags & ~kAtomicFlags) != 0)
    return fail(PH_ERR_ARGUMENT, rank, "atomic: unknown flags " + std::to_string(args.flags));
  if (!sync::is_word_change(args.op, args.type))
    return fail(PH_ERR_ARGUMENT, rank,
                "atomic: no operation " + std::to_string(args.op) + " on type " +
                    std::to_string(args.type));
  if (!sync::is_word_aligned(args.target.address, static_cast<sync::WordType>(args.type)))
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
    count(*peer, Count::atomics);
    if (args.request != nullptr) *args.request = PH_REQUEST_NONE;
    if (!peer->has_grant()) static_cast<void>(grant_credit(*peer));  // for try_atomic()
    return PH_OK;
  }
  id_blocks_.reserve(2);  // whatever may fail fails before anything is taken
  Request* request = new_request(*peer, args.flags);
  if (request == nullptr) return again();
  request->kind = Request::Kind::atomic;
  count(*peer, Count::atomics);
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
  if (peer->broken == PH_OK) static_cast<void>(grant_credit(*peer));  // for try_atomic()
  return PH_OK;
}

// Without the general way, for who keeps the request: on mapped memory at once, else asked on a
// credit grant.
Engine::Fast Engine::try_atomic(Rank rank, const ph_atomic_args& args) noexcept {
  if (rank >= size_ || args.request == nullptr || !sync::is_word_change(args.op, args.type))
    return Fast::no;
  Peer* peer = peers_[rank].get();
  if (peer == nullptr || !peer->has_grant() || peer->counts != nullptr) return Fast::no;
  const auto type = static_cast<sync::WordType>(args.type);
  const auto access = access_for(args.fetched != nullptr);
  const Regions regions{peer->regions, config_.max_regions};
  if (!sync::is_word_aligned(args.target.address, type)) return Fast::no;
  if (args.target.key != peer->atomic_place.key) [[unlikely]]
    find_atomic_place(*transport_, *peer, regions, args.target.key);
  const AtomicPlace& place = peer->atomic_place;
  if (args.target.key != place.key || !place.is_mapped) return ask(*peer, args);
  // An id would have to queue; and who is answered later must not come first.
  if (args.flags != PH_NO_RCE || peer->atomics_asked != 0) return Fast::no;
  std::uint64_t before = 0;
  const MappedWord word{args.target, change_of(args), access,
                        reinterpret_cast<std::byte*>(args.target.address + place.shift)};
  if (!change_here(*peer, regions, word, before)) return Fast::no;
  if (args.fetched != nullptr) put_word(args.fetched, before, sync::word_bytes(type));
  *args.request = PH_REQUEST_NONE;
  return Fast::done;
}

// The owner, on a credit grant.
Engine::Fast Engine::ask(Peer& peer, const ph_atomic_args& args) noexcept {
  const bool has_id = (args.flags & PH_NO_RCE) == 0;
  const auto is_small = [](const ph_id& id) { return id.size_bytes == 8 && id.data != nullptr; };
  const sync::WordChange change = change_of(args);
  if ((args.flags & ~PH_NO_RCE) != 0 || (args.local.size_bytes != 0 && !is_small(args.local)) ||
      (has_id && !is_small(args.remote)) || !requests_.has_free() ||
      check_access({peer.regions, config_.max_regions}, args.target, sync::word_bytes(change.type),
                   access_for(args.fetched != nullptr)) != PH_OK)
    return Fast::no;
  peer.claim_if_due();
  transport::Line& line = peer.tx.line(0);
  line.words[0].set(args.target.address);
  line.words[1].set(args.target.key);
  line.words[2].set(wire_form(change, args.fetched != nullptr));
  line.words[3].set(change.operand);
  line.words[4].set(change.compare);
  if (has_id) {
    std::uint64_t id = 0;
    std::memcpy(&id, args.remote.data, sizeof id);
    line.words[5].set(id);
    peer.tx.publish(kAskedAtomicWithId, 1);
  } else {
    peer.tx.publish(kAskedAtomic, 1);
    ++peer.grant_begin;  // a line of it that takes no ledger slot
    ++peer.staged_sent;
  }
  const Fast told_how = told(peer);
  note_asked(peer, args);  // while it is on its way
  return told_how;
}

// The request of what went on a credit grant, which has an event for each of its lines: for this
// one.
void Engine::note_asked(Peer& peer, const ph_atomic_args& args) noexcept {
  Request& request = *requests_.take();
  own_counts_.most_requests = std::max(own_counts_.most_requests, requests_.operations());
  ++peer.outstanding;
  request.kind = Request::Kind::atomic;
  request.peer = &peer;
  request.flags = args.flags;
  request.destination = static_cast<std::byte*>(args.fetched);
  request.size_bytes = sync::word_bytes(static_cast<sync::WordType>(args.type));
  request.target = args.target;
  request.id_merged = request.has_rce();
  if (args.local.size_bytes != 0)
    std::memcpy(&request.local_word, args.local.data, sizeof request.local_word);
  requests_.keep(request);
  request.staged_mark =
      peer.staged_sent + peer.messages_before + (peer.tx.tail() - peer.grant_begin);
  *args.request = RequestPool::token(request);
  ++peer.atomics_asked;
  peer.acks.push(request);
}

// Nothing is before it, and the word is in memory that we have mapped: no request is needed.
// False: it has to queue, and nothing was done.
bool Engine::atomic_now(Peer& peer, const ph_atomic_args& args) {
  const bool has_id = (args.flags & PH_NO_RCE) == 0;
  if (peer.fences != 0 || !peer.work.empty() || peer.atomics_asked != 0) return false;
  if (has_id && !peer.ids.empty() && (args.flags & PH_ORDER_NONE) == 0) return false;
  if (has_id && !has_ledger(peer)) return false;
  const Outgoing out = outgoing(args.flags, args.local, args.remote);
  if (has_id && !peer.tx.has_room(wire::lines_for(out.kind, out.id_bytes, 0))) return false;
  id_blocks_.reserve(1);  // whatever may fail fails before anything is done
  peer.local.make_room(peer.outstanding + 1);
  std::uint64_t before = 0;
  MappedWord word{args.target, change_of(args), access_for(args.fetched != nullptr), nullptr};
  if (change_mapped(peer, word, before) != PH_OK) return false;
  if (args.fetched != nullptr)
    put_word(args.fetched, before, sync::word_bytes(static_cast<sync::WordType>(args.type)));
  if (has_id) static_cast<void>(send(peer, out));
  done_now(peer, {args.local, args.flags, args.request});
  return true;
}

}  // namespace photon::engine
