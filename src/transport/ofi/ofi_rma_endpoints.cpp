// The RMA endpoints of ours by which fragments leave: as a rule one, and another where that one
// does not come to reach a peer.
#include <utility>

#include "transport/ofi/ofi_transport_impl.hpp"

namespace photon::transport::ofi {

namespace {

// An RMA endpoint costs much memory (docs/ofi.md, Known defects), and a peer that computes is not
// reached by any.
constexpr std::size_t kMostRmaEndpoints = 2;

}  // namespace

bool OfiTransport::has_our_rma_endpoint() {
  if (!rma_endpoints_.empty() || has_no_rma_endpoint_) return !has_no_rma_endpoint_;
  auto opened = parts_.fabric->open_rma_endpoint();
  if (opened) {
    rma_endpoints_.push_back(std::move(*opened));
    return true;
  }
  PHOTON_LOG(log_, error, "ofi: large payload goes by records from here on: %s",
             opened.error().what.c_str());
  has_no_rma_endpoint_ = true;
  return false;
}

// As dial_by_another() does it for messages. What is under way shows that the peer is reached; and
// so nothing of its fragments is by two RMA endpoints of ours at a time.
void OfiTransport::go_by_another(OfiPeer& peer) {
  const std::size_t by = peer.rma_endpoint_by + 1;
  if (by == kMostRmaEndpoints || peer.has_fragments_under_way())
    return peer.rma_endpoint_full.over();
  if (peer.rma_endpoint_full.again(time_.now_ns()) < kUnreachedNs) return;
  peer.rma_endpoint_full.over();
  if (by == rma_endpoints_.size()) {
    if (opens_no_more_) return;
    auto opened = parts_.fabric->open_rma_endpoint();
    if (!opened) return opens_none(opened.error());
    rma_endpoints_.push_back(std::move(*opened));
  }
  PHOTON_LOG(log_, info,
             "ofi: provider %s has not reached memory of rank %u: another RMA endpoint tries",
             parts_.fabric->traits().provider.c_str(), peer.rank);
  peer.rma_endpoint_by = by;
}

// False: the provider takes none now.
bool OfiTransport::start(OfiPeer& peer, Fragments::Slot& slot, const Fragments::Next& next) {
  if (!has_our_rma_endpoint()) {
    answer_done(slot, PH_ERR_SYSTEM);
    peer.fragments->dismiss(slot);
    return true;
  }
  RmaEndpoint& rma_endpoint = *rma_endpoints_[peer.rma_endpoint_by];
  const PostedFragment& fragment = slot.fragment;
  const bool is_write = fragment.source != nullptr;
  auto* own = is_write ? const_cast<std::byte*>(fragment.source) : fragment.destination;
  const Buffer buffer{{own, fragment.size_bytes}, fragment.local};
  slot.operation.data = data_of(peer, slot);
  const auto go = [&] {
    return is_write
               ? rma_endpoint.write(peer.rma_endpoint_to, buffer, next.place, slot.operation)
               : rma_endpoint.read_from(peer.rma_endpoint_to, buffer, next.place, slot.operation);
  };
  Taken taken = go();
  if (taken == Taken::refused && slot.operation.data) {  // it carries data with messages only?
    slot.operation.data.reset();
    taken = go();
    is_dataless_ = taken == Taken::yes;
  }
  if (taken != Taken::full) peer.rma_endpoint_full.over();
  switch (taken) {
    case Taken::full: go_by_another(peer); return false;
    case Taken::no_way:
      if (!is_way_awaited(peer.no_way_to_rma_endpoint_ns))
        mute(peer, " cannot be sent to: " + parts_.fabric->words());
      return false;
    case Taken::yes:
      peer.no_way_to_rma_endpoint_ns = 0;
      ++taken_count_;
      peer.fragments->taken(slot, next.rma_endpoint);
      ++under_way_;
      if (!parts_.fabric->traits().progresses_itself) static_cast<void>(flusher_.note());
      return true;
    case Taken::refused:
      PHOTON_LOG(log_, warn,
                 "ofi: a fragment to memory of rank %u is refused by our own provider: %s",
                 peer.rank, parts_.fabric->words().c_str());
      answer_done(slot, PH_ERR_SYSTEM);
      peer.fragments->dismiss(slot);
      return true;
    case Taken::over:
    case Taken::failed:
      peer.rma_endpoint_words = parts_.fabric->words();
      peer.fragments->failed(slot, next.rma_endpoint);
      return true;
  }
  return true;
}

// That is no news to the flusher, whose ticks get slower while nothing is taken.
void OfiTransport::go_on_stalled() {
  is_restarting_ = true;
  std::swap(stalled_, restarted_);
  for (OfiPeer* peer : restarted_)
    if (std::exchange(peer->is_stalled, false)) go_on(*peer);
  restarted_.clear();
  is_restarting_ = false;
}

// libfabric 1.17 keeps what it waits for of an endpoint that has ended, and fi_trywait() crashes on
// it: from then on sleeps are naps.
// Its fragments are nobody's any more; those of peers that live go by another RMA endpoint, when
// their owner's has ended: else bytes of the first time could arrive after those of the second.
// What the queue holds of the old one is read before a slot is used again.
void OfiTransport::end_our_rma_endpoints() {
  is_ending_rma_endpoint_ = true;
  if (!rma_endpoints_.empty()) is_wait_broken_ = true;
  rma_endpoints_.clear();
  while (look()) {
  }
  for (const auto& peer : peers_) {
    if (peer == nullptr) continue;
    peer->rma_endpoint_by = 0;
    peer->rma_endpoint_full.over();
    if (!peer->has_fragments_under_way()) continue;
    for (Fragments::Slot& slot : peer->fragments->slots())
      if (slot.state == Fragments::Slot::State::under_way) fragment_failed(slot.operation);
  }
  is_ending_rma_endpoint_ = false;
  for (const auto& peer : peers_)
    if (peer != nullptr) go_on(*peer);
}

}  // namespace photon::transport::ofi
