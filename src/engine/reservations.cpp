#include "engine/reservations.hpp"

#include <cstring>

#include "engine/engine.hpp"
#include "engine/parts/summons.hpp"
#include "engine/service_port.hpp"
#include "engine/services.hpp"

namespace photon::engine {

// The peer that a service holds room of; null: it holds none there.
Peer* Reservations::holder(wire::Owner owner, service::Rank to) noexcept {
  Peer* const peer = to < engine_.size_ ? engine_.peers_[to].get() : nullptr;
  return peer != nullptr && peer->reservation.is_of(owner) ? peer : nullptr;
}

bool Reservations::is_at_hand(const Engine& engine, service::Rank rank) noexcept {
  const Peer* const peer = rank < engine.size_ ? engine.peers_[rank].get() : nullptr;
  return peer != nullptr && peer->broken == PH_OK;
}

// Where others wait, half of it stays theirs: else who reserves again and again would take all
// that becomes free. Where less than a quarter of it is in use each chunk of others fits, so that
// they wait for something else. The target may leave so much unsaid for good, and room behind the
// end of the ring would be refused as long as others wait.
bool Reservations::has_room(Peer& peer, std::uint64_t size_bytes) noexcept {
  if (peer.work.empty() && peer.serves.empty()) return engine_.bulk_room(peer, size_bytes);
  const BulkProducer& ring = peer.tx_bulk;
  static_cast<void>(engine_.bulk_room(peer, ring.capacity));  // looks at what was freed
  const std::uint64_t end = bulk_end(bulk_begin(ring.tail, size_bytes, ring.capacity), size_bytes);
  if (end - ring.freed <= ring.capacity / 2) return true;
  return ring.tail - ring.freed < ring.capacity / 4 && ring.fits(size_bytes);
}

ph_status Reservations::reserve(wire::Owner owner, service::Rank to, std::uint64_t size_bytes,
                                std::span<std::byte>& room) {
  room = {};
  if (size_bytes == 0 || size_bytes > engine_.config_.bulk_bytes / 4) return PH_ERR_ARGUMENT;
  Peer* peer = nullptr;
  if (const auto status = engine_.contact(to, peer); status != PH_OK) return status;
  MessageQueue& queue = peer->queues.of(owner);
  if (!queue.is_open() || !has_room(*peer, size_bytes)) {
    queue.want_room(queue.is_open() ? size_bytes : 0);
    engine_.mark_busy(*peer);
    return engine_.again();
  }
  room = {peer->reservation.open(peer->tx_bulk, owner, size_bytes), size_bytes};
  return PH_OK;
}

void Reservations::fill(service::Rank to, std::byte* at,
                        std::span<const std::byte> bytes) noexcept {
  Peer* const peer = to < engine_.size_ ? engine_.peers_[to].get() : nullptr;
  if (bytes.empty()) return;
  if (peer == nullptr || peer->link == nullptr) {
    std::memcpy(at, bytes.data(), bytes.size());
    return;
  }
  const Way way = peer->stores.for_ring(bytes.size(), bytes.size(), peer->tx);
  peer->store(way, at, bytes.data(), bytes.size());
}

// All that may refuse comes first: the tail moves when the record is sure to go.
ph_status Reservations::commit(wire::Owner owner, const service::Saying& what,
                               std::uint64_t size_bytes) {
  Peer* const peer = holder(owner, what.to);
  if (peer == nullptr) return PH_ERR_STATE;
  if (peer->broken != PH_OK) {
    close(*peer);
    Peer* same = nullptr;
    return engine_.contact(what.to, same);  // says why
  }
  const bool is_good = size_bytes != 0 && size_bytes <= peer->reservation.size_bytes() &&
                       !what.header.empty() && what.header.size() <= wire::kMaxIdBytes &&
                       what.payload.size() <= wire::kMaxPackedBytes;
  if (!is_good) {
    close(*peer);
    return PH_ERR_ARGUMENT;
  }
  Outgoing out{};
  out.kind = wire::Kind::body;
  out.is_sure = true;  // its service hears of the loss of a peer
  out.owner = owner;
  out.fixed[0] = size_bytes;
  out.fixed[2] = size_bytes | wire::kBulkFirst | wire::kBulkLast;
  out.id = what.header.data();
  out.id_bytes = static_cast<std::uint32_t>(what.header.size());
  out.payload = what.payload.data();
  out.payload_bytes = static_cast<std::uint32_t>(what.payload.size());
  MessageQueue& queue = peer->queues.of(owner);
  if (!queue.is_open() ||
      !peer->tx.has_room(wire::lines_for(out.kind, out.id_bytes, out.payload_bytes))) {
    queue.want_room();
    engine_.mark_busy(*peer);
    return engine_.again();
  }
  peer->reservation.settle(peer->tx_bulk, size_bytes);
  peer->reservation.close(peer->tx_bulk);
  peer->tx_bulk.advance(size_bytes);
  Engine::count(*peer, Count::staged_bytes, size_bytes);
  engine_.send(*peer, out);
  ++peer->messages;
  wake_others(*peer);
  return PH_OK;
}

service::Written Reservations::say_now(wire::Owner owner, service::Rank to,
                                       std::array<std::uint64_t, 2> header,
                                       std::span<const std::byte> bytes) noexcept {
  using service::Written;
  Peer* const peer = to < engine_.size_ ? engine_.peers_[to].get() : nullptr;
  if (peer == nullptr || !peer->can_say || !peer->work.empty() || !peer->serves.empty() ||
      bytes.empty() || bytes.size() > engine_.config_.bulk_bytes / 4 || !peer->tx.has_line() ||
      !engine_.bulk_room(*peer, bytes.size()))
    return Written::no;
  peer->stage(bytes.data(), bytes.size(), bytes.size());
  transport::Line& line = peer->tx.line(0);
  line.words[0].set(bytes.size());
  line.words[1].set(0);
  line.words[2].set(bytes.size() | wire::kBulkFirst | wire::kBulkLast);
  line.words[3].set(header[0]);
  line.words[4].set(header[1]);
  ++peer->messages;
  peer->tx.publish_line(line, wire::encode(wire::Kind::body, sizeof header, 0, owner));
  transport::Policy::light_barrier();  // [asleep]
  const bool tells = peer->always_kicks || peer->credits->is_cold();
  return tells ? Written::tell : Written::done;
}

void Reservations::cancel(wire::Owner owner, service::Rank to) noexcept {
  Peer* const peer = holder(owner, to);
  if (peer == nullptr) return;
  peer->used.bulk_clean = peer->used.bulk_tail = ~std::uint64_t{0};  // it may have been written
  close(*peer);
}

// A thread that sleeps has found the ring full, and nobody else tells it that this is over.
void Reservations::wake_others(const Peer& peer) noexcept {
  if (!peer.busy) return;
  engine_.wake_sleeper();
  if (engine_.progress_thread_ != nullptr) engine_.progress_thread_->hurry();
}

// Others may go on; the memory of a peer that has ended goes with the last who holds any of it.
void Reservations::close(Peer& peer) noexcept {
  peer.reservation.close(peer.tx_bulk);
  wake_others(peer);
  if (!peer.is_let_go || peer.is_held()) return;
  peer.is_let_go = false;
  engine_.transport_->disconnect(peer.rank);
}

service::Written ServicePort::say_chunk_now(Rank to, std::array<std::uint64_t, 2> header,
                                            std::span<const std::byte> bytes) noexcept {
  return Reservations(engine_).say_now(owner_, to, header, bytes);
}

}  // namespace photon::engine
