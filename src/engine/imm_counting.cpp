// Counted completion at the target: ids that wait for fragments which NICs write.
#include "engine/engine.hpp"
#include "engine/parts/record_io.hpp"

namespace photon::engine {

void Engine::on_fragment(Rank from, std::uint32_t imm) {
  activity_ = true;
  const Rank rank = from == PH_ANY_RANK ? imm_codec_.rank_in(imm) : from;
  Peer* peer = rank < size_ ? peers_[rank].get() : nullptr;
  if (peer == nullptr || peer->broken != PH_OK || !peer->has_rx) return;
  const std::uint64_t line = imm_codec_.line_in(imm);
  const bool is_possible = imm_codec_.distance(peer->rx.head(), line) < config_.ring_lines;
  std::uint64_t at = 0;
  const bool is_its_own = imm_codec_.rank_in(imm) == rank && peer->arrivals.is_open();
  const auto verdict =
      is_its_own ? peer->arrivals.fragment(line, is_possible, at) : Arrivals::Verdict::wrong;
  if (verdict == Arrivals::Verdict::wrong)
    return lose(*peer, PH_ERR_PROTOCOL,
                "a fragment of line " + std::to_string(line) + " of rank " +
                    std::to_string(imm_codec_.rank_in(imm)) +
                    "'s ring has arrived that no record can have announced; it is cut off");
  if (verdict == Arrivals::Verdict::coming) return;
  peer->unexpected.at(at).status = PH_OK;
  unexpected_changed(*peer);
}

// False: malformed. The id is delivered, or goes to the unexpected queue until its fragments are
// here.
bool Engine::take_counted(Peer& peer, const wire::Header& header, CompletionSink* sink) {
  if (!peer.arrivals.is_open() || !header.has_id() || header.owner != wire::Owner::application)
    return false;
  RecordReader reader(peer.rx);
  const std::uint64_t fragments = reader.word();
  const std::uint64_t line = imm_codec_.line_in(imm_codec_.of(peer.rank, peer.rx.head()));
  switch (peer.arrivals.record(line, fragments, peer.unexpected.end())) {
    case Arrivals::Verdict::ready: return deliver(peer, reader, header, sink);
    case Arrivals::Verdict::coming: return queue_unexpected(peer, reader, header.id_bytes, kComing);
    case Arrivals::Verdict::wrong: break;
  }
  return false;
}

bool Engine::take_withdrawn(Peer& peer) {
  RecordReader reader(peer.rx);
  const std::uint64_t line = reader.word();
  if (!peer.arrivals.is_open() || line >= peer.rx.head()) return false;
  const auto at = peer.arrivals.withdraw(imm_codec_.line_in(imm_codec_.of(peer.rank, line)));
  if (!at) return false;
  peer.unexpected.at(*at).status = kWithdrawn;
  unexpected_changed(peer);
  return true;
}

}  // namespace photon::engine
