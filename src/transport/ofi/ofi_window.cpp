#include "transport/ofi/ofi_window.hpp"

#include <sys/mman.h>

namespace photon::transport::ofi {

Window::Window(Fabric& fabric, std::uint32_t rank, std::size_t slots_count,
               std::size_t message_bytes)
    : fabric_(fabric), message_bytes_(message_bytes), slots_(slots_count) {
  for (std::size_t i = 0; i < slots_count; ++i) {
    slots_[i].operation.rank = rank;
    slots_[i].operation.index = static_cast<std::uint32_t>(i);
  }
}

base::Result<std::unique_ptr<Window>> Window::make(Fabric& fabric, std::uint32_t rank,
                                                   std::size_t slots_count,
                                                   std::size_t message_bytes) {
  std::unique_ptr<Window> made(new Window(fabric, rank, slots_count, message_bytes));
  const std::size_t bytes = slots_count * message_bytes;
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    base::Error error = base::system_error("ofi: memory for messages to a peer");
    error.status = PH_ERR_MEMORY;
    return error;
  }
  made->memory_ = static_cast<std::byte*>(memory);
  auto shown = fabric.show({made->memory_, bytes});
  if (!shown) return std::move(shown.error());
  made->handle_ = *shown;
  return made;
}

Window::~Window() {
  if (memory_ == nullptr) return;
  if (handle_ != 0) fabric_.hide(handle_);
  ::munmap(memory_, slots_.size() * message_bytes_);
}

std::span<std::byte> Window::room() noexcept {
  if (is_waiting() || under_way_ == slots_.size()) return {};
  while (slots_[next_].is_under_way) next_ = (next_ + 1) % slots_.size();
  return bytes_of(next_);
}

Fabric::Taken Window::send(Fabric& fabric, std::uint64_t to) noexcept {
  Slot& slot = slots_[next_];
  const Buffer message{bytes_of(next_).first(waiting_bytes_), handle_};
  const auto taken = fabric.send(to, message, slot.operation);
  if (taken == Fabric::Taken::full || taken == Fabric::Taken::no_way) return taken;
  waiting_bytes_ = 0;
  slot.is_under_way = taken == Fabric::Taken::yes;
  if (slot.is_under_way) ++under_way_;
  return taken;
}

bool Window::over(const Operation& operation) noexcept {
  Slot& slot = slots_[operation.index];
  if (!slot.is_under_way) return false;
  slot.is_under_way = false;
  --under_way_;
  return true;
}

}  // namespace photon::transport::ofi
