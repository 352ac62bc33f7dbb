// The memory of this process that its NIC reads and writes: pinned while an operation's
// fragments are under way (source_cache.hpp).
//
//   request: no entry -- pin_own --> pinned -- past its end, no fragment under way --> no entry
//                                    pinned -- over, or failed --> no entry
//            no entry -- refused --> goes without the NIC
#include <algorithm>
#include <new>

#include "engine/engine.hpp"

namespace photon::engine {

namespace {

std::uint64_t own_address(const Request& request) noexcept {
  return reinterpret_cast<std::uint64_t>(rest_of(request).own);
}

}  // namespace

// So that its next fragment may be posted.
SourceCache::Outcome Engine::pin_own(Request& request) {
  if (!sources_.is_needed()) return SourceCache::Outcome::pinned;
  const std::uint64_t begin = own_address(request);
  if (request.entry != kNoBlock && begin >= sources_.begin_of(request.entry) &&
      begin < sources_.end_of(request.entry))
    return SourceCache::Outcome::pinned;
  if (request.fragments != 0) return SourceCache::Outcome::wait;  // they use the entry before
  unpin_own(request);
  const std::uint64_t left =
      rest_of(request).size_bytes;  // a layout: what lies between is not ours
  try {
    const auto pin =
        sources_.pin({begin, begin + left,
                      begin + std::min({left, config_.piece_bytes, config_.posted_piece_bytes}),
                      request.kind == Request::Kind::get});
    request.entry = pin.entry;
    return pin.outcome;
  } catch (const std::bad_alloc&) {
    return SourceCache::Outcome::refused;  // it was accepted, and the other ways need no memory
  }
}

void Engine::unpin_own(Request& request) noexcept {
  if (request.entry == kNoBlock) return;
  // Other peers' operations may wait for it, and the thread that sleeps knows nothing of this.
  if (sources_.unpin(request.entry)) wake_sleeper();
  request.entry = kNoBlock;
}

// How much of a fragment of so many bytes is pinned.
std::uint64_t Engine::pinned_bytes(const Request& request, std::uint64_t bytes) const noexcept {
  if (request.entry == kNoBlock) return bytes;
  return std::min(bytes, sources_.end_of(request.entry) - own_address(request));
}

// So that nothing here can keep any fragment of it from being posted.
bool Engine::is_all_pinned(const Request& request) const noexcept {
  if (request.entry == kNoBlock) return true;  // as in pin_own()
  if (request.layout == nullptr)
    return pinned_bytes(request, request.size_bytes) == request.size_bytes;
  return request.layout->is_within(sources_.begin_of(request.entry),
                                   sources_.end_of(request.entry));
}

// The caller has taken a registration back.
void Engine::forget_own(const ph_region& region) noexcept {
  if (sources_.is_needed()) sources_.forget(region.address, region.address + region.size_bytes);
}

}  // namespace photon::engine
