#include "transport/ofi/ofi_receives.hpp"

#include <algorithm>

namespace photon::transport::ofi {

Receives::Receives(Fabric& fabric, std::size_t count, std::size_t spare_count,
                   std::size_t message_bytes)
    : fabric_(fabric),
      message_bytes_(message_bytes),
      operations_(count + spare_count),
      most_(count),
      wanted_(std::min(count, kFewReceives)) {
  const auto all = static_cast<std::uint32_t>(operations_.size());
  idle_.reserve(all);
  came_.reserve(all);
  for (std::uint32_t i = 0; i < all; ++i) operations_[i].index = i;
  for (std::uint32_t i = 0; i < all; ++i) idle_.push_back(all - 1 - i);
}

base::Result<std::unique_ptr<Receives>> Receives::make(Fabric& fabric, std::size_t count,
                                                       std::size_t spare_count,
                                                       std::size_t message_bytes) {
  std::unique_ptr<Receives> made(new Receives(fabric, count, spare_count, message_bytes));
  auto memory =
      ShownMemory::make(fabric, (count + spare_count) * message_bytes, "to receive messages into");
  if (!memory) return std::move(memory.error());
  made->memory_ = std::move(*memory);
  return made;
}

void Receives::widen() noexcept {
  most_ = std::min(most_ + kFewReceives, operations_.size());
  wanted_ = std::min(wanted_ + kFewReceives, most_);
}

bool Receives::post() noexcept {
  while (is_short()) {
    const std::uint32_t index = idle_.back();
    const auto taken = fabric_.receive(memory_.fragment(index, message_bytes_), operations_[index]);
    if (taken == Fabric::Taken::full) return true;
    if (taken == Fabric::Taken::failed) return false;
    idle_.pop_back();
    ++posted_;
  }
  return true;
}

void Receives::arrived(const Operation& operation, std::size_t size_bytes) noexcept {
  came_.push_back({operation.index, std::min(size_bytes, message_bytes_)});
  --posted_;
  if (2 * arrived_count() * fabric_.endpoints_count() > wanted_)
    wanted_ = std::min(2 * wanted_, most_);
}

void Receives::spoiled(const Operation& operation) noexcept {
  idle_.push_back(operation.index);
  --posted_;
}

std::span<const std::byte> Receives::next() const noexcept {
  const Came& came = came_[first_];
  return memory_.fragment(came.index, message_bytes_).bytes.first(came.size_bytes);
}

void Receives::taken() noexcept {
  idle_.push_back(came_[first_].index);
  if (++first_ != came_.size()) return;
  came_.clear();
  first_ = 0;
}

}  // namespace photon::transport::ofi
