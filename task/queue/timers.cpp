#include "task/queue/timers.hpp"

#include <algorithm>

namespace photon::task {

namespace {

std::uint64_t name_of(std::uint32_t slot, std::uint32_t generation) noexcept {
  return std::uint64_t{generation} << 32 | slot;
}

}  // namespace

std::uint32_t Timers::take_slot() {
  if (free_ == kNone) {
    heap_.reserve(slots_.size() + 1 > heap_.capacity() ? 2 * (slots_.size() + 1) : 0);
    slots_.emplace_back();
    return static_cast<std::uint32_t>(slots_.size() - 1);
  }
  const std::uint32_t number = free_;
  free_ = slots_[number].place;
  return number;
}

void Timers::free_slot(std::uint32_t number) noexcept {
  Slot& slot = slots_[number];
  slot.call = {};
  if (slot.generation++ == kLastGeneration) return;
  slot.place = free_;
  free_ = number;
}

std::uint64_t Timers::arm(std::int64_t at_ns, std::uint64_t period_us, const Call& call) {
  const std::uint32_t number = take_slot();
  slots_[number].period_us = period_us;
  slots_[number].call = call;
  heap_.emplace_back();
  rise(heap_.size() - 1, {at_ns, turn_++, number});
  return name_of(number, slots_[number].generation);
}

bool Timers::cancel(std::uint64_t name) noexcept {
  const auto number = static_cast<std::uint32_t>(name);
  if (number >= slots_.size()) return false;
  const Slot& slot = slots_[number];
  if (slot.generation != name >> 32 || slot.call.function == nullptr) return false;
  remove(slot.place);
  free_slot(number);
  return true;
}

std::optional<Call> Timers::take_due(std::int64_t now_ns, std::uint64_t before) noexcept {
  if (heap_.empty()) return std::nullopt;
  const Entry first = heap_[0];
  if (first.at_ns > now_ns || first.turn >= before) return std::nullopt;
  const Slot& slot = slots_[first.slot];
  const Call call = slot.call;
  if (slot.period_us == 0) {
    remove(0);
    free_slot(first.slot);
    return call;
  }
  std::int64_t next = after(first.at_ns, slot.period_us);
  if (next <= now_ns) next = after(now_ns, slot.period_us);
  sink(0, {next, turn_++, first.slot});
  return call;
}

void Timers::remove(std::size_t place) noexcept {
  const Entry moved = heap_.back();
  heap_.pop_back();
  if (place == heap_.size()) return;
  if (place != 0 && is_before(moved, heap_[(place - 1) / 2]))
    rise(place, moved);
  else
    sink(place, moved);
}

void Timers::rise(std::size_t place, const Entry& entry) noexcept {
  while (place != 0 && is_before(entry, heap_[(place - 1) / 2])) {
    const std::size_t parent = (place - 1) / 2;
    set(place, heap_[parent]);
    place = parent;
  }
  set(place, entry);
}

void Timers::sink(std::size_t place, const Entry& entry) noexcept {
  for (std::size_t child = 2 * place + 1; child < heap_.size(); child = 2 * place + 1) {
    if (child + 1 < heap_.size() && is_before(heap_[child + 1], heap_[child])) ++child;
    if (!is_before(heap_[child], entry)) break;
    set(place, heap_[child]);
    place = child;
  }
  set(place, entry);
}

}  // namespace photon::task
