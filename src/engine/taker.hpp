// Where a probe collects completions, and which ones it wants.
// Invariant: count <= capacity. Owner: the probing call.
#pragma once

#include <photon/rma.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "engine/event_queue.hpp"

namespace photon::engine {

struct Taker {
  ph_query query{};
  ph_completion* out = nullptr;
  std::size_t capacity = 0;
  std::size_t count = 0;
  std::size_t id_stride = 0;  // max_cid_size

  bool full() const noexcept { return count == capacity; }
  bool wants(std::uint32_t kind, ph_rank peer) const noexcept {
    return (query.kinds & kind) != 0 && (query.peer == peer || query.peer == PH_ANY_RANK);
  }
  void put(std::uint32_t kind, ph_rank peer, const Event& event, std::uint32_t outstanding,
           const void* long_id = nullptr) noexcept {
    ph_completion& to = out[count++];
    to.id = event.id;
    to.long_id = long_id;
    to.id_size_bytes = event.id_bytes;
    to.kind = kind;
    to.peer = peer;
    to.status = static_cast<ph_status>(event.status);
    to.outstanding = outstanding;
    to.reserved = 0;
  }
  // Room for the long id of the completion to come; null if the caller gave none.
  std::byte* id_room() const noexcept {
    return query.id_buffer == nullptr
               ? nullptr
               : static_cast<std::byte*>(query.id_buffer) + count * id_stride;
  }
};

// A taker of one completion with an id of at most 8 bytes, small enough to stay in registers: what
// ph_probe_u64() fills on its fast path.
struct OneTaker {
  ph_query query{};
  ph_u64_completion found{0, PH_ANY_RANK, 0, 0, PH_OK};

  bool full() const noexcept { return found.kind != 0; }
  bool wants(std::uint32_t kind, ph_rank peer) const noexcept {
    return (query.kinds & kind) != 0 && (query.peer == peer || query.peer == PH_ANY_RANK);
  }
  void put(std::uint32_t kind, ph_rank peer, const Event& event, std::uint32_t) noexcept {
    found = {event.id, peer, static_cast<std::uint8_t>(kind),
             static_cast<std::uint8_t>(event.id_bytes), static_cast<std::int16_t>(event.status)};
  }
};

}  // namespace photon::engine
