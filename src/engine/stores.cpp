#include "engine/stores.hpp"

#include <cstring>

#include "sync/streamed_copy.hpp"

namespace photon::engine {

Store Stores::copy(Into into, const Copy& copy, service::LineProducer& tx) noexcept {
  const Store store = choose(into, copy, tx);
  if (store == Store::streamed)
    sync::copy_streamed(copy.to, copy.from, copy.size_bytes);
  else
    std::memmove(copy.to, copy.from, copy.size_bytes);
  return store;
}

Store Stores::choose(Into into, const Copy& copy, service::LineProducer& tx) noexcept {
  if (copy.whole_bytes < StoreChoice::kLeastBytes) return Store::plain;
  switch (setting_) {
    case base::ShmStores::plain: return Store::plain;
    case base::ShmStores::streamed: return Store::streamed;
    case base::ShmStores::automatic: break;
  }
  if (watch_.is_due()) look(tx);
  return choices_[static_cast<std::size_t>(into)].next(copy.whole_bytes, copy.size_bytes,
                                                       sync::core_ticks);
}

// Stores to the next line, as a claim of it does (line_claim.hpp), and waits until it has come.
void Stores::look(service::LineProducer& tx) noexcept {
  if (!tx.has_room(1)) return watch_.put_off();
  const auto begun = sync::core_ticks();
  tx.claim(1);
  transport::Policy::full_fence();
  if (watch_.saw(sync::core_ticks() - begun))
    for (StoreChoice& choice : choices_) choice.stir();
}

Store Stores::best(Into into, std::uint64_t whole_bytes) const noexcept {
  if (setting_ != base::ShmStores::automatic)
    return setting_ == base::ShmStores::streamed ? Store::streamed : Store::plain;
  return choices_[static_cast<std::size_t>(into)].best(whole_bytes);
}

}  // namespace photon::engine
