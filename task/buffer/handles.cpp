#include "task/buffer/handles.hpp"

#include <new>

namespace photon::task {

Handle* Handles::make() noexcept {
  if (free_.empty() && made_ == room_ && !grow()) return nullptr;
  std::uint32_t slot = made_;
  if (free_.empty()) {
    ++made_;
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  Handle& handle = at(slot)->handle;
  const std::uint32_t generation = handle.generation + 1;
  handle = {};
  handle.slot = slot;
  handle.generation = generation;
  handle.is_live = true;
  return &handle;
}

bool Handles::grow() noexcept {
  const std::size_t segment = owned_.size();
  if (room_ == kMostSlots) return false;
  const std::uint32_t slots = kFirstSlots << segment;
  try {
    free_.reserve(room_ + slots);
    owned_.push_back(std::make_unique<Slot[]>(slots));
  } catch (const std::bad_alloc&) {
    return false;
  }
  segments_[segment].set(owned_.back().get());
  room_ += slots;
  return true;
}

void Handles::free(Handle& handle) noexcept {
  hide(handle);
  handle.is_live = false;
  if (handle.generation != kMostGeneration) free_.push_back(handle.slot);
}

Handles::Slot* Handles::at(std::uint32_t slot) const noexcept {
  if (slot >= kMostSlots) return nullptr;
  const std::size_t segment = segment_of(slot);
  Slot* slots = segments_[segment].get();
  return slots == nullptr ? nullptr : slots + (slot - first_of(segment));
}

Handle* Handles::find(std::uint32_t slot, std::uint32_t generation) noexcept {
  if (slot >= made_) return nullptr;
  Handle& handle = at(slot)->handle;
  return handle.is_live && handle.generation == generation ? &handle : nullptr;
}

void Handles::show(Handle& handle) noexcept {
  at(handle.slot)
      ->entry.publish(key_of(handle.slot, handle.generation),
                      {.address = reinterpret_cast<std::uintptr_t>(handle.address),
                       .size_bytes = handle.size_bytes,
                       .access = PH_ACCESS_ALL,
                       .is_allocated = false});
}

void Handles::hide(Handle& handle) noexcept { at(handle.slot)->entry.revoke(); }

bool Handles::read(std::uint32_t slot, std::uint32_t generation,
                   sync::RegionView& view) const noexcept {
  const Slot* one = at(slot);
  return one != nullptr && generation != 0 && one->entry.read(key_of(slot, generation), view);
}

}  // namespace photon::task
