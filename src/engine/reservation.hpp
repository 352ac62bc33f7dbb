// Room in the bulk ring to a peer that a service fills itself before it says of which message it is
// the body.
//
//   none -- open() --> open -- commit(): its record goes --> none
//                      open -- cancel(), the peer is lost --> none
//
// Both sides compute where a chunk stands from the sizes alone, in the order of the records. So
// while one is open nothing else goes through that ring: it looks full. Everybody who wants room
// asks Engine::bulk_room(), which finds that nothing fits and then, only then, that a reservation
// is the reason. Invariants: one reservation a peer; the ring's tail is not moved before the record
// goes; freed <= tail <= freed + capacity, of the value that is put aside as well. Owner: a Peer,
// under the lane's lock; the room itself belongs to who has reserved it.
#pragma once

#include <photon/types.h>

#include <array>
#include <cstdint>
#include <span>

#include "engine/bulk_ring.hpp"
#include "service/message.hpp"
#include "service/outlet.hpp"
#include "wire/owner.hpp"

namespace photon::engine {

class Engine;
struct Peer;

class Reservation {
 public:
  bool is_open() const noexcept { return size_bytes_ != 0; }
  bool is_of(wire::Owner owner) const noexcept { return is_open() && owner_ == owner; }
  std::uint64_t size_bytes() const noexcept { return size_bytes_; }

  // The ring has room for so many bytes, which are not 0: where they stand.
  std::byte* open(BulkProducer& ring, wire::Owner owner, std::uint64_t size_bytes) noexcept {
    owner_ = owner;
    size_bytes_ = size_bytes;
    place_ = ring.place(size_bytes);
    freed_ = ring.freed;
    ring.freed = ring.tail - ring.capacity;
    return place_;
  }
  // The ring is as it was.
  void close(BulkProducer& ring) noexcept {
    ring.freed = freed_;
    size_bytes_ = 0;
  }
  // The first bytes of the room, in the place where a chunk of that size belongs: one that is
  // smaller may still fit in front of the ring's end.
  void settle(const BulkProducer& ring, std::uint64_t size_bytes) const noexcept;

 private:
  wire::Owner owner_ = wire::Owner::application;
  std::uint64_t size_bytes_ = 0;  // 0: none is open
  std::uint64_t freed_ = 0;       // of the ring
  std::byte* place_ = nullptr;
};

// What services do with them. A view of an Engine; as Port's functions of these names.
class Reservations {
 public:
  explicit Reservations(Engine& engine) noexcept : engine_(engine) {}

  // That rank was met, and nothing that is done with its ring can fail.
  static bool is_at_hand(const Engine& engine, service::Rank rank) noexcept;

  ph_status reserve(wire::Owner owner, service::Rank to, std::uint64_t size_bytes,
                    std::span<std::byte>& room);
  void fill(service::Rank to, std::byte* at, std::span<const std::byte> bytes) noexcept;
  ph_status commit(wire::Owner owner, const service::Saying& what, std::uint64_t size_bytes);
  void cancel(wire::Owner owner, service::Rank to) noexcept;
  // The three in one (Port::say_chunk_now()), where nothing at all stands in the way.
  service::Written say_now(wire::Owner owner, service::Rank to, std::array<std::uint64_t, 2> header,
                           std::span<const std::byte> bytes) noexcept;

 private:
  Peer* holder(wire::Owner owner, service::Rank to) noexcept;
  bool has_room(Peer& peer, std::uint64_t size_bytes) noexcept;
  void close(Peer& peer) noexcept;
  void wake_others(const Peer& peer) noexcept;

  Engine& engine_;
};

}  // namespace photon::engine
