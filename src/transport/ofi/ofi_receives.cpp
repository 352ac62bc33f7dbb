#include "transport/ofi/ofi_receives.hpp"

#include <sys/mman.h>

#include <algorithm>

namespace photon::transport::ofi {

Receives::Receives(Fabric& fabric, std::size_t count, std::size_t message_bytes)
    : fabric_(fabric), message_bytes_(message_bytes), operations_(count) {
  idle_.reserve(count);
  came_.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    operations_[i].index = i;
    idle_.push_back(i);
  }
}

base::Result<std::unique_ptr<Receives>> Receives::make(Fabric& fabric, std::size_t count,
                                                       std::size_t message_bytes) {
  std::unique_ptr<Receives> made(new Receives(fabric, count, message_bytes));
  const std::size_t bytes = count * message_bytes;
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    base::Error error = base::system_error("ofi: memory to receive messages into");
    error.status = PH_ERR_MEMORY;
    return error;
  }
  made->memory_ = static_cast<std::byte*>(memory);
  auto shown = fabric.show({made->memory_, bytes});
  if (!shown) return std::move(shown.error());
  made->handle_ = *shown;
  return made;
}

Receives::~Receives() {
  if (memory_ == nullptr) return;
  if (handle_ != 0) fabric_.hide(handle_);
  ::munmap(memory_, operations_.size() * message_bytes_);
}

bool Receives::post() noexcept {
  while (!idle_.empty()) {
    const std::uint32_t index = idle_.back();
    const auto taken = fabric_.receive({bytes_of(index), handle_}, operations_[index]);
    if (taken == Fabric::Taken::full) return true;
    if (taken == Fabric::Taken::failed) return false;
    idle_.pop_back();
  }
  return true;
}

void Receives::arrived(const Operation& operation, std::size_t size_bytes) noexcept {
  came_.push_back({operation.index, std::min(size_bytes, message_bytes_)});
}

std::span<const std::byte> Receives::next() const noexcept {
  const Came& came = came_[first_];
  return bytes_of(came.index).first(came.size_bytes);
}

void Receives::taken() noexcept {
  idle_.push_back(came_[first_].index);
  if (++first_ != came_.size()) return;
  came_.clear();
  first_ = 0;
}

}  // namespace photon::transport::ofi
