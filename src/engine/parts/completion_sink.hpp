// Where a probe collects completions, and which ones it wants.
// Invariant: count <= capacity. Owner: the probing call.
#pragma once

#include <photon/rma.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "engine/parts/event_queue.hpp"

namespace photon::engine {

static_assert(offsetof(ph_completion, kind) == offsetof(ph_completion, id_size_bytes) + 4 &&
              offsetof(ph_completion, status) == offsetof(ph_completion, peer) + 4 &&
              offsetof(ph_completion, reserved) == offsetof(ph_completion, outstanding) + 4 &&
              sizeof(ph_completion::status) == 4 && std::endian::native == std::endian::little);

// Two fields of 4 bytes by one store: what an exchange stores between its claim of the answer's
// line and the answer leaves the processor one after the other, behind the claim.
[[gnu::always_inline]] inline void store_pair(ph_completion& to, std::size_t offset,
                                              std::uint32_t first, std::uint32_t second) noexcept {
  const std::uint64_t both = first | std::uint64_t{second} << 32;
  std::memcpy(reinterpret_cast<std::byte*>(&to) + offset, &both, sizeof both);
}

struct CompletionSink {
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
    store_pair(to, offsetof(ph_completion, id_size_bytes), event.id_bytes, kind);
    store_pair(to, offsetof(ph_completion, peer), peer, static_cast<std::uint32_t>(event.status));
    store_pair(to, offsetof(ph_completion, outstanding), outstanding, 0);
  }
  // Room for the long id of the completion to come; null if the caller gave none.
  std::byte* id_room() const noexcept {
    return query.id_buffer == nullptr
               ? nullptr
               : static_cast<std::byte*>(query.id_buffer) + count * id_stride;
  }
};

// A sink of one completion with an id of at most 8 bytes, small enough to stay in registers: what
// ph_probe_u64() fills on its fast path.
struct SingleSink {
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
