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

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "engine/parts/bulk_ring.hpp"
#include "wire/owner.hpp"

namespace photon::engine {

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
  void settle(const BulkProducer& ring, std::uint64_t size_bytes) const noexcept {
    std::byte* const belongs = ring.place(size_bytes);
    if (belongs != place_) std::memmove(belongs, place_, size_bytes);
  }

 private:
  wire::Owner owner_ = wire::Owner::application;
  std::uint64_t size_bytes_ = 0;  // 0: none is open
  std::uint64_t freed_ = 0;       // of the ring
  std::byte* place_ = nullptr;
};

}  // namespace photon::engine
