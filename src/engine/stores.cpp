#include "engine/stores.hpp"

#include <cstring>

#include "sync/streamed_copy.hpp"

namespace photon::engine {

Way Stores::forced(bool may_stage) const noexcept {
  if (setting_ == base::ShmCopies::streamed) return Way::streamed;
  return setting_ == base::ShmCopies::staged && may_stage ? Way::ring : Way::plain;
}

Way Stores::for_mapped(std::uint64_t bytes, bool may_stage, service::LineProducer& tx) noexcept {
  if (bytes < StoreChoice::kLeastBytes) return Way::plain;
  if (setting_ != base::ShmCopies::automatic) return forced(may_stage);
  if (has_pending_) {
    has_pending_ = false;
    if (may_stage || pending_ != Way::ring) return pending_;
  }
  if (watch_.is_due()) watch(tx);
  return (may_stage ? either_ : mapped_).next(bytes, bytes, sync::core_ticks);
}

Way Stores::for_ring(std::uint64_t whole_bytes, std::uint64_t bytes,
                     service::LineProducer& tx) noexcept {
  if (whole_bytes < StoreChoice::kLeastBytes) return Way::plain;
  if (setting_ != base::ShmCopies::automatic) return forced(false);
  if (watch_.is_due()) watch(tx);
  return ring_.next(whole_bytes, bytes, sync::core_ticks);
}

void Stores::copy(Way way, std::byte* to, const std::byte* from, std::uint64_t bytes) noexcept {
  if (way == Way::streamed)
    sync::copy_streamed(to, from, bytes);
  else
    std::memmove(to, from, bytes);
}

// Stores to the next line, as a claim of it does (line_claim.hpp), and waits until it has come.
void Stores::watch(service::LineProducer& tx) noexcept {
  if (!tx.has_room(1)) return watch_.put_off();
  const auto begun = sync::core_ticks();
  tx.claim(1);
  transport::Policy::full_fence();
  if (!watch_.saw(sync::core_ticks() - begun)) return;
  either_.stir();
  mapped_.stir();
  ring_.stir();
}

Way Stores::best_for_mapped(std::uint64_t bytes) const noexcept {
  if (bytes < StoreChoice::kLeastBytes) return Way::plain;
  return setting_ == base::ShmCopies::automatic ? either_.best(bytes) : forced(true);
}

Way Stores::best_for_ring(std::uint64_t bytes) const noexcept {
  if (bytes < StoreChoice::kLeastBytes) return Way::plain;
  return setting_ == base::ShmCopies::automatic ? ring_.best(bytes) : forced(false);
}

}  // namespace photon::engine
