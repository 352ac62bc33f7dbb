// What services do with room that they have reserved in the bulk ring to a peer
// (parts/reservation.hpp). Invariants: those of Reservation.
// A view of an Engine, under the lane's lock; its functions are Port's of these names.
#pragma once

#include <photon/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/parts/peer.hpp"
#include "service/message.hpp"
#include "service/outlet.hpp"
#include "wire/owner.hpp"

namespace photon::engine {

class Engine;

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
