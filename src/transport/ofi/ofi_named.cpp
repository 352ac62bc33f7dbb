// Pieces that tell their target when they have landed. docs/ofi.md, Names, has the rules.
#include "transport/ofi/transport_impl.hpp"

namespace photon::transport::ofi {

bool OfiTransport::names_pieces(Rank rank) const noexcept {
  return rank != parties_.self && parts_.fabric->traits().data_bytes != 0;
}

std::uint64_t OfiTransport::nameable(Rank rank) const noexcept {
  const Entered entered(*this);
  const OfiPeer* peer = known(rank);
  if (peer == nullptr || peer->pieces == nullptr) return parts_.window_slots;
  return peer->pieces->nameable();
}

std::optional<std::uint64_t> OfiTransport::data_of(const OfiPeer& peer,
                                                   const Pieces::Slot& slot) const noexcept {
  if (!slot.is_named()) return std::nullopt;
  const std::uint64_t data = peer.pieces->data(slot);
  if (parts_.fabric->traits().data_bytes < sizeof data) return data;
  return with_tag(data, peer.greeting->their_key());
}

// Anybody may have written it whom the provider has let touch a door.
void OfiTransport::piece_told(std::uint64_t data) {
  const std::uint32_t name = name_in(data);
  const Rank rank = names_.rank_in(name);
  OfiPeer* peer = rank == parties_.self ? nullptr : known(rank);
  if (peer == nullptr || !peer->is_open()) {
    if (peer == nullptr || peer->state != OfiPeer::State::ended) refuse(Refusal::unexpected);
    return;
  }
  const bool is_tagged = parts_.fabric->traits().data_bytes >= sizeof data;
  if (is_tagged && !has_tag(data, peer->greeting->our_key())) return refuse(Refusal::wrong_key);
  peer->told.add(number_in(data));
  if (peer->told.unsaid() > parts_.window_slots)
    return cut_off(*peer, {PH_ERR_PROTOCOL, 0,
                           "ofi: rank " + std::to_string(rank) +
                               " has told of more pieces than it may; it is cut off",
                           rank});
  tell({.kind = News::Kind::piece, .rank = rank, .token = name, .why = {}});
  if (2 * peer->told.unsaid() >= parts_.window_slots)
    say(*peer, {MessageKind::seen, {.key = peer->told.say(), .door = 0}, 0});
}

}  // namespace photon::transport::ofi
