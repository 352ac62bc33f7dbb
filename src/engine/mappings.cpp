// What a caller asks for about a peer as such: meeting it, its state, and mapping its memory.
#include "engine/parts/mappings.hpp"

#include <string>
#include <utility>

#include "base/finally.hpp"
#include "base/hex.hpp"
#include "engine/engine.hpp"
#include "engine/peer_view.hpp"

namespace photon::engine {

namespace {

std::string words_of(Rank rank, const ph_region& region) {
  return "map of " + std::to_string(region.size_bytes) + " bytes at " + base::hex(region.address) +
         " of rank " + std::to_string(rank) + ": ";
}

}  // namespace

// A peer that only waits to be met costs nobody a record: its link is made, and that is all. From
// then on the transport tells of its end.
ph_status PeerView::contact(Rank rank) {
  Peer* peer = nullptr;
  return engine_.contact(rank, peer);
}

ph_status PeerView::state(Rank rank, ph_contact_state& state) {
  if (rank >= engine_.size_) {
    Peer* none = nullptr;
    return engine_.contact(rank, none);
  }
  state = state_of(rank);
  return PH_OK;
}

ph_status PeerView::map(Rank rank, const ph_region& region, void*& local) {
  if (region.size_bytes == 0) return engine_.fail(PH_ERR_ARGUMENT, rank, "map: size 0");
  Peer* peer = nullptr;
  if (const auto status = engine_.contact(rank, peer); status != PH_OK) return status;
  if (has_left(*peer)) return left(*peer);
  if (peer->is_meeting()) return engine_.again();
  if (const auto status = check_mappable(*peer, region); status != PH_OK) return status;
  auto mapping = engine_.transport_->map(rank, region.address, region.size_bytes);
  if (!mapping || peer->link->tx_holds == nullptr)
    return engine_.fail(PH_ERR_NOT_FOUND, rank,
                        words_of(rank, region) +
                            "its memory is not mapped here (ph_path_to() says why); put and get");
  if (Mappings::One* known = engine_.mappings_.find(mapping->local)) {
    ++known->count;
    local = mapping->local;
    return PH_OK;
  }
  const std::size_t entry = engine_.mappings_.free_entry(rank, transport::Holds::kEntries);
  if (entry == transport::Holds::kEntries)
    return engine_.fail(PH_ERR_MEMORY, rank,
                        words_of(rank, region) + std::to_string(entry) +
                            " places of this rank are mapped, which are the most; unmap some");
  engine_.mappings_.add(mapping->local, {rank, entry, 1, std::move(mapping->memory)});
  ph_status status = PH_ERR_MEMORY;
  const base::Finally settled([&]() noexcept {  // also if memory runs out in the words of a refusal
    if (status != PH_OK) engine_.mappings_.remove(mapping->local);
  });
  status = hold(*peer, region, entry);
  if (status == PH_OK) local = mapping->local;
  return status;
}

// It leaves, and its bye has not been read yet.
bool PeerView::has_left(const Peer& peer) noexcept {
  return peer.state != Peer::State::connecting && peer.credits->is_hidden();
}

ph_status PeerView::left(const Peer& peer) {
  return engine_.fail(PH_ERR_DEPARTED, peer.rank,
                      "rank " + std::to_string(peer.rank) + " has left: it maps nothing any more");
}

// Under the intent word, so that an owner who frees it meanwhile sees the hold, or is seen
// (sync/hold_table.hpp).
ph_status PeerView::hold(Peer& peer, const ph_region& region, std::size_t entry) {
  const std::uint64_t slot = region.key & (engine_.config_.max_regions - 1);
  peer.link->tx_intent->enter(slot, peer.fenced);
  const base::Finally ended([&peer]() noexcept { peer.link->tx_intent->leave(); });
  if (has_left(peer)) return left(peer);
  if (const auto status = check_mappable(peer, region); status != PH_OK) return status;
  peer.link->tx_holds->hold(entry, slot);
  return PH_OK;
}

ph_status PeerView::check_mappable(const Peer& peer, const ph_region& region) {
  const Rank rank = peer.rank;
  if (peer.regions == nullptr)
    return engine_.fail(PH_ERR_NOT_FOUND, rank,
                        words_of(rank, region) +
                            "no memory is shared with it (ph_path_to() says why); put and get");
  const ph_status status =
      check_access({peer.regions, engine_.config_.max_regions}, {region.address, region.key},
                   region.size_bytes, PH_ACCESS_READ);
  if (status == PH_ERR_RANGE)
    return engine_.fail(status, rank, words_of(rank, region) + "it leaves the registered region");
  if (status == PH_ERR_KEY)
    return engine_.fail(status, rank,
                        words_of(rank, region) +
                            "the key names no region it has registered now; its owner has to send "
                            "the key anew");
  const auto& entry = peer.regions[region.key & (engine_.config_.max_regions - 1)];
  if (!entry.is_allocated(region.key))
    return engine_.fail(
        PH_ERR_NOT_FOUND, rank,
        words_of(rank, region) + "the region is not ph_alloc()'s: only that memory can be mapped");
  return PH_OK;
}

ph_status PeerView::unmap(void* local) {
  if (local == nullptr) return PH_OK;
  Mappings::One* const one = engine_.mappings_.find(local);
  if (one == nullptr)
    return engine_.fail(PH_ERR_NOT_FOUND, engine_.self_,
                        "unmap: nothing is mapped at " +
                            base::hex(reinterpret_cast<std::uint64_t>(local)) +
                            "; it may have been unmapped before");
  if (--one->count != 0) return PH_OK;
  let_go(*one);
  engine_.mappings_.remove(local);
  return PH_OK;
}

}  // namespace photon::engine
