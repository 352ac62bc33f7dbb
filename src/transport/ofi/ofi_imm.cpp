// Fragments that tell their target when they have landed. docs/ofi.md, Imms, has the rules.
#include "transport/ofi/ofi_transport_impl.hpp"

namespace photon::transport::ofi {

bool OfiTransport::has_imm(Rank rank) const noexcept {
  return rank != parties_.self && parts_.fabric->traits().data_bytes != 0;
}

std::uint64_t OfiTransport::imm_room(Rank rank) const noexcept {
  const network::Entered entered(lock_);
  const OfiPeer* peer = known(rank);
  if (peer == nullptr || peer->fragments == nullptr) return parts_.window_slots;
  return peer->fragments->imm_room();
}

std::optional<std::uint64_t> OfiTransport::data_of(const OfiPeer& peer,
                                                   const Fragments::Slot& slot) const noexcept {
  if (!slot.has_imm() || is_dataless_) return std::nullopt;
  const std::uint64_t data = peer.fragments->data(slot);
  if (parts_.fabric->traits().data_bytes < sizeof data) return data;
  return with_tag(data, peer.handshake->their_key());
}

// Anybody may have written it who knows our address: it needs no key to write nothing.
void OfiTransport::fragment_told(std::uint64_t data) {
  const std::size_t data_bytes = parts_.fabric->traits().data_bytes;
  const Rank rank = imm_codec_.rank_in(imm_in(data));
  OfiPeer* peer = rank == parties_.self ? nullptr : known(rank);
  if (data_bytes == 0 || peer == nullptr || !peer->is_open()) {
    if (peer == nullptr || peer->state != OfiPeer::State::ended) refuse(Refusal::unexpected);
    return;
  }
  const bool is_tagged = data_bytes >= sizeof data;
  if (is_tagged && !has_tag(data, peer->handshake->our_key())) return refuse(Refusal::wrong_key);
  if (is_told(*peer, data)) return;
  cut_off(*peer, {PH_ERR_PROTOCOL, 0,
                  "ofi: rank " + std::to_string(rank) +
                      " has told of more fragments than it may; it is cut off",
                  rank});
}

// False: it is none of that rank's, or one more than it may have told before it hears of them.
bool OfiTransport::is_told(OfiPeer& peer, std::uint64_t data) {
  const std::uint32_t imm = imm_in(data);
  if (imm_codec_.rank_in(imm) != peer.rank || peer.told.unsaid() >= parts_.window_slots)
    return false;
  peer.told.add(number_in(data));
  tell({.kind = News::Kind::fragment, .peer = &peer, .imm = imm});
  if (2 * peer.told.unsaid() >= parts_.window_slots)
    say(peer, {MessageKind::seen, {.key = peer.told.say(), .rma_endpoint = 0}, 0});
  return true;
}

ToldBody OfiTransport::heard_from(const OfiPeer& peer) const noexcept {
  return {.ended = exposures_.ended(), .wished = peer.wished, .told = peer.told.counts()};
}

// As much as the queue can hold of what was there before: more comes from strangers, without end.
void OfiTransport::read_to_end() {
  const std::uint64_t until =
      completions_count_ + kReceives + kSpareReceives + 3 * parts_.window_slots * peers_.size();
  while (completions_count_ <= until && look()) {
  }
}

// What came by it is read before it ends, for a NIC may throw away what it has not been asked for,
// and after: what is said of its end says what has been heard.
void OfiTransport::end_their_rma_endpoint() {
  std::vector<OfiPeer*> told;
  for (const auto& peer : peers_)
    if (peer != nullptr && peer->is_open() && exposures_.is_holder(peer->rank))
      told.push_back(peer.get());
  is_wait_broken_ = is_ending_theirs_ = true;
  exposures_.conceal_all();
  read_to_end();
  const std::uint64_t rma_endpoint = exposures_.end_rma_endpoint();
  read_to_end();
  is_ending_theirs_ = false;
  for (OfiPeer* peer : told)
    if (peer->is_open())
      peer->words.push({MessageKind::back, {.key = 0, .rma_endpoint = rma_endpoint}, 0});
  for (const auto& peer : peers_)
    if (peer != nullptr && peer->state != OfiPeer::State::ended) flush(*peer);
}

// Of its fragments that were under way when its own RMA endpoint ended, bytes may still come to
// ours.
bool OfiTransport::take_end(OfiPeer& peer, std::uint64_t rma_endpoint) {
  if (rma_endpoint == 0) return false;
  if (!exposures_.is_open(rma_endpoint) || !exposures_.is_holder(peer.rank)) return true;
  peer.wished = rma_endpoint;
  end_their_rma_endpoint();
  return true;
}

}  // namespace photon::transport::ofi
