#include "engine/alone.hpp"

#include <cstring>
#include <string>

#include "engine/engine.hpp"

namespace photon::engine {

bool Alone::is_way(const Peer& peer, transport::Reach::Kind way) const noexcept {
  switch (way) {
    case transport::Reach::Kind::mapped:
    case transport::Reach::Kind::call: return peer.regions != nullptr;
    case transport::Reach::Kind::posted: return engine_.transport_->posts_alone(peer.rank);
    case transport::Reach::Kind::none: return false;
  }
  return false;
}

ph_status Alone::check(const char* call, Peer& peer, const TargetRange& there) {
  const auto reach = engine_.transport_->reach(peer.rank, there.at.address, there.size_bytes);
  return judge(call, peer, reach.kind, there.size_bytes);
}

ph_status Alone::check(const Vectored& what, Peer& peer, const Layout& layout) {
  return judge(what.call, peer, engine_.way_of(peer, layout), layout.size_bytes());
}

ph_status Alone::judge(const char* call, Peer& peer, transport::Reach::Kind way,
                       std::uint64_t bytes) {
  if (is_way(peer, way)) return PH_OK;
  if (peer.is_meeting()) return engine_.again();
  return engine_.fail(PH_ERR_NOT_FOUND, peer.rank,
                      std::string(call) + " of " + std::to_string(bytes) +
                          " bytes with PH_ALONE: no way to this memory of rank " +
                          std::to_string(peer.rank) +
                          " goes without its process (ph_path_to() says why); leave the flag out, "
                          "or use memory of ph_alloc() on the same host");
}

void Alone::keep_source(Request& request) {
  request.payload = engine_.payload_blocks_.take();
  std::byte* const copy = engine_.payload_blocks_.at(request.payload);
  std::memcpy(copy, request.source, request.size_bytes);
  request.source = copy;
}

// The kernel may refuse for a moment; if that lasts the transport says so.
bool Alone::has_lost_way(Peer& peer, const Request& request) noexcept {
  const auto rest = rest_of(request);
  const auto reach = engine_.transport_->reach(peer.rank, rest.at.address, rest.size_bytes);
  return !reach.is_ours_to_copy() || peer.regions == nullptr;
}

void Alone::give_up(Request& request) {
  engine_.fail(PH_ERR_SYSTEM, request.peer->rank,
               std::string(request.kind == Request::Kind::get ? "get of " : "put of ") +
                   std::to_string(request.size_bytes) +
                   " bytes with PH_ALONE: the way to the memory of rank " +
                   std::to_string(request.peer->rank) + " that needs nobody there has gone after " +
                   std::to_string(request.done_bytes) + " bytes (ph_path_to() says why)");
  engine_.request_failed(request, PH_ERR_SYSTEM);
}

// How we may touch all of it; mapped and call together are call.
transport::Reach::Kind Engine::way_of(const Peer& peer, const Layout& layout) noexcept {
  using Kind = transport::Reach::Kind;
  Kind all = Kind::none;
  for (const auto& run : layout.runs()) {
    const wire::Extent extent = run.extent();
    Kind kind = transport_->reach(peer.rank, extent.address, extent.size_bytes).kind;
    if (kind == Kind::posted)  // block by block: that each is worth it
      kind = transport_->reach(peer.rank, extent.address, run.size_bytes).kind;
    if (&run == &layout.runs().front()) all = kind;
    const bool is_ours = kind == Kind::mapped || kind == Kind::call;
    if (kind == all) continue;
    if (!is_ours || (all != Kind::mapped && all != Kind::call)) return Kind::none;
    all = Kind::call;
  }
  return all;
}

}  // namespace photon::engine
