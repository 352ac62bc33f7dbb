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
  // Room for the long id of the completion to come; null if the caller gave none.
  std::byte* id_room() const noexcept {
    return query.id_buffer == nullptr
               ? nullptr
               : static_cast<std::byte*>(query.id_buffer) + count * id_stride;
  }
};

}  // namespace photon::engine
