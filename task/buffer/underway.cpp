#include "task/buffer/underway.hpp"

#include <new>

namespace photon::task {

bool Underway::add(Message& record, EndName::Says says, EndName& name) noexcept {
  if (free_.empty()) {
    if (entries_.size() == kMostSlots) return false;
    try {
      if (entries_.size() == entries_.capacity()) entries_.reserve(2 * entries_.size() + 64);
      free_.reserve(entries_.capacity());
    } catch (const std::bad_alloc&) {
      return false;
    }
    free_.push_back(static_cast<std::uint32_t>(entries_.size()));
    entries_.emplace_back();
  }
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  Entry& entry = entries_[slot];
  entry.record = &record;
  entry.says = says;
  entry.generation = entry.generation % kMostGeneration + 1;
  ++counts_[static_cast<std::size_t>(says)];
  name = {.slot = slot, .generation = entry.generation, .rank = 0, .says = says};
  return true;
}

Message* Underway::find(const EndName& name) const noexcept {
  if (name.slot >= entries_.size()) return nullptr;
  const Entry& entry = entries_[name.slot];
  if (entry.generation != name.generation || entry.says != name.says) return nullptr;
  return entry.record;
}

Message* Underway::take(const EndName& name) noexcept {
  Message* record = find(name);
  if (record == nullptr) return nullptr;
  entries_[name.slot].record = nullptr;
  free_.push_back(name.slot);
  --counts_[static_cast<std::size_t>(name.says)];
  return record;
}

Message* Underway::end(const EndName& name) noexcept {
  Message* record = find(name);
  if (record == nullptr) return nullptr;
  entries_[name.slot].says = EndName::Says::ended;
  --counts_[static_cast<std::size_t>(name.says)];
  ++counts_[static_cast<std::size_t>(EndName::Says::ended)];
  return record;
}

}  // namespace photon::task
