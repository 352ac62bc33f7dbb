// Peers that do not get what we send (ofi_keepalive.hpp), and what we say to those who ask.
#include "transport/ofi/ofi_keepalive.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "transport/ofi/ofi_providers.hpp"
#include "transport/ofi/ofi_transport_impl.hpp"

namespace photon::transport::ofi {

namespace {

constexpr std::int64_t kLookNs = 1'000'000'000;
// Before we say what we have of a peer: what waits in the provider takes several looks.
constexpr unsigned kLooksBefore = 32;

// Fragments that have not begun: their RMA endpoint may not be reached.
bool awaits_provider(const OfiPeer& peer) noexcept {
  return peer.is_open() && !peer.is_mute() && peer.fragments != nullptr &&
         peer.fragments->is_waiting();
}

}  // namespace

// After every send: cheap, and it says nothing yet.
void OfiTransport::await_confirmation(OfiPeer& peer) {
  if (std::exchange(peer.is_unconfirmed, true)) return;
  unconfirmed_.push_back(&peer);
}

// The provider may have it still.
bool OfiTransport::arrives(Rank rank) const noexcept {
  const network::Entered entered(lock_);
  const OfiPeer* peer = known(rank);
  return rank == parties_.self || (peer != nullptr && peer->sequence == peer->confirmed);
}

// By the engine's threads: the bootstrap is theirs.
void OfiTransport::check_keepalive(std::int64_t now_ns) {
  if (now_ns - confirmed_ns_ < kLookNs || side_channel_.is_broken()) return;
  confirmed_ns_ = now_ns;
  const std::int64_t limit_ns = static_cast<std::int64_t>(config_.tcp_silence_s) * 1'000'000'000;
  for (std::size_t i = 0; i < unconfirmed_.size();) {
    OfiPeer& peer = *unconfirmed_[i];
    if (!peer.owes_confirmation() && !awaits_provider(peer)) {
      peer.is_unconfirmed = false;
      peer.keepalive.heard();
      unconfirmed_[i] = unconfirmed_.back();
      unconfirmed_.pop_back();
      continue;
    }
    ++i;
    const auto due = peer.keepalive.look(now_ns, limit_ns);
    if (due == OfiKeepalive::Due::question) ask(peer);
    if (due == OfiKeepalive::Due::loss)
      cut_off(peer, {PH_ERR_PEER, ETIMEDOUT,
                     "ofi: rank " + std::to_string(peer.rank) +
                         " gets nothing of what was sent to it for " +
                         std::to_string(config_.tcp_silence_s) +
                         " s, though it answers by the bootstrap: the network between us is cut "
                         "(setting tcp_silence_s)" +
                         way_text(parts_.fabric->traits()),
                     peer.rank});
  }
}

// Of fragments nobody counts what came: with them goes a message that can be counted.
void OfiTransport::ask(OfiPeer& peer) {
  if (peer.is_open() && peer.sequence == peer.confirmed) {
    peer.says_credits = true;
    flush(peer);
  }
  // One more than there is to count, if that could not be said either.
  peer.owed = peer.sequence + (peer.is_open() && peer.sequence == peer.confirmed ? 1 : 0);
  static_cast<void>(send_info(peer.rank, OfiEndpointInfo::What::how_far));
}

void OfiTransport::take_answer(OfiPeer& peer, std::uint64_t heard) {
  const auto count = static_cast<std::uint32_t>(heard);
  if (peer.is_open() && static_cast<std::int32_t>(count - peer.owed) >= 0 &&
      static_cast<std::int32_t>(peer.sequence - count) >= 0) {
    peer.confirmed = count;
    peer.keepalive.heard();
  } else {
    peer.keepalive.missed();
  }
}

// So many looks later: one who looks rarely has not seen yet what came.
void OfiTransport::answer_later(Rank rank) {
  const auto is_it = [rank](const Answer& one) { return one.rank == rank; };
  if (std::ranges::none_of(answers_, is_it)) answers_.push_back({rank, kLooksBefore});
}

void OfiTransport::answer_who_asked() {
  for (Answer& one : answers_) {
    if (--one.looks != 0) continue;
    const OfiPeer* peer = known(one.rank);
    OfiEndpointInfo endpoint_info = parts_.endpoint_info;
    endpoint_info.what = OfiEndpointInfo::What::so_far;
    if (peer != nullptr && peer->is_open()) endpoint_info.heard = peer->inlet.next_sequence() - 1;
    static_cast<void>(side_channel_.send(one.rank, encode(endpoint_info)));
  }
  std::erase_if(answers_, [](const Answer& one) { return one.looks == 0; });
}

}  // namespace photon::transport::ofi
