#include "engine/callers_memory.hpp"

#include <string>

#include "base/hex.hpp"
#include "engine/engine.hpp"

namespace photon::engine {

base::Error own_memory_error(const Request& request) {
  const bool is_get = request.kind == Request::Kind::get;
  const void* const memory = is_get ? request.destination : request.source;
  return {PH_ERR_ARGUMENT, 0,
          std::string(is_get ? "get of " : "put of ") + std::to_string(request.size_bytes) +
              " bytes at " + base::hex(request.target.address) + ": own memory at " +
              base::hex(reinterpret_cast<std::uint64_t>(memory)) + " cannot be " +
              (is_get ? "written" : "read"),
          request.peer->rank};
}

// The engine does not look at the source of a small put that it copies within that put's own call:
// there the copy is like one by the caller.
bool EngineState::can_stage(const Request& request, std::uint64_t bytes) noexcept {
  if (request.layout != nullptr || bytes == 0) return true;
  if (&request == posted_now_ && request.size_bytes < CallersMemory::kLeastBytes) return true;
  if (is_in_arena({request.source + request.done_bytes, bytes})) return true;
  return callers_memory_.can_read({request.source + request.done_bytes, bytes},
                                  request.size_bytes - request.done_bytes);
}

// Memory of ph_alloc() is ours to unmap, and stays mapped when it was freed.
bool EngineState::is_in_arena(std::span<const std::byte> memory) noexcept {
  const std::span<std::byte> arena = transport_->arena();
  return memory.data() >= arena.data() && memory.size() <= arena.size() &&
         static_cast<std::size_t>(memory.data() - arena.data()) <= arena.size() - memory.size();
}

// By our own stores; the kernel finds out by itself.
bool EngineState::can_copy(Rank rank, const Piece& piece, std::uint64_t left_bytes) noexcept {
  const std::uint64_t bytes = piece.size_bytes;
  if (transport_->reach(rank, piece.at.address, bytes).kind != transport::Reach::Kind::mapped)
    return true;
  const std::byte* const own = piece.destination != nullptr ? piece.destination : piece.source;
  if (is_in_arena({own, bytes})) return true;
  if (piece.destination != nullptr)
    return callers_memory_.can_write({piece.destination, bytes}, left_bytes);
  return callers_memory_.can_read({piece.source, bytes}, left_bytes);
}

}  // namespace photon::engine
