#include "transport/ofi/ofi_window.hpp"

namespace photon::transport::ofi {

Window::Window(MessagePool& pool, std::uint32_t rank, std::size_t messages_count)
    : pool_(pool), messages_(messages_count) {
  for (std::size_t i = 0; i < messages_count; ++i) {
    messages_[i].operation.rank = rank;
    messages_[i].operation.index = static_cast<std::uint32_t>(i);
  }
}

base::Result<std::unique_ptr<Window>> Window::make(MessagePool& pool, std::uint32_t rank,
                                                   std::size_t messages_count) {
  std::unique_ptr<Window> made(new Window(pool, rank, messages_count));
  if (auto reserved = pool.reserve(messages_count); !reserved) return std::move(reserved.error());
  made->reserved_ = messages_count;
  return made;
}

Window::~Window() {
  forget_waiting();
  for (const Message& message : messages_)
    if (message.is_under_way) pool_.give(message.slot);
  pool_.release(reserved_);
}

std::span<std::byte> Window::room() noexcept {
  if (is_waiting() || under_way_ == messages_.size()) return {};
  next_ = 0;
  while (messages_[next_].is_under_way) ++next_;
  return pool_.next().bytes;
}

void Window::built(std::size_t size_bytes, bool is_handshake) noexcept {
  waiting_ = pool_.take();
  waiting_bytes_ = size_bytes;
  is_handshake_ = is_handshake;
}

Fabric::Taken Window::send(Fabric& fabric, const Route& route) noexcept {
  Message& message = messages_[next_];
  const Buffer& all = pool_.at(waiting_);
  const Buffer bytes{all.bytes.first(waiting_bytes_), all.handle};
  message.operation.is_handshake = is_handshake_;
  const auto taken = fabric.send(route, bytes, message.operation);
  if (taken == Fabric::Taken::full || taken == Fabric::Taken::no_way) return taken;
  if (taken == Fabric::Taken::yes) {
    message.slot = waiting_;
    message.is_under_way = true;
    ++under_way_;
    waiting_bytes_ = 0;
  } else {
    forget_waiting();
  }
  return taken;
}

bool Window::over(const Operation& operation) noexcept {
  Message& message = messages_[operation.index];
  if (!message.is_under_way) return false;
  message.is_under_way = false;
  pool_.give(message.slot);
  --under_way_;
  return true;
}

void Window::forget_waiting() noexcept {
  if (is_waiting()) pool_.give(waiting_);
  waiting_bytes_ = 0;
}

}  // namespace photon::transport::ofi
