#include "transport/ofi/ofi_message_pool.hpp"

namespace photon::transport::ofi {

base::Result<> MessagePool::reserve(std::size_t slots_count) {
  const std::size_t wanted = reserved_ + slots_count;
  if (wanted > slots_.size())
    if (auto grown = grow(wanted - slots_.size()); !grown) return grown;
  reserved_ = wanted;
  return {};
}

base::Result<> MessagePool::grow(std::size_t slots_count) {
  // What may fail by an exception comes first.
  chunks_.reserve(chunks_.size() + 1);
  slots_.reserve(slots_.size() + slots_count);
  free_.reserve(slots_.size() + slots_count);
  auto memory = ShownMemory::make(fabric_, slots_count * message_bytes_, "for messages to a peer");
  if (!memory) return std::move(memory.error());
  // Below those that were free before: what was touched already is taken first.
  free_.insert(free_.begin(), slots_count, 0);
  for (std::size_t i = 0; i < slots_count; ++i) {
    free_[slots_count - 1 - i] = static_cast<Slot>(slots_.size());
    slots_.push_back(memory->fragment(i, message_bytes_));
  }
  chunks_.push_back(std::move(*memory));
  return {};
}

MessagePool::Slot MessagePool::take() noexcept {
  const Slot slot = free_.back();
  free_.pop_back();
  return slot;
}

}  // namespace photon::transport::ofi
