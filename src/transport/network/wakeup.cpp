#include "transport/network/wakeup.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

namespace photon::transport::network {

bool Wakeup::open() noexcept {
  event_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  return static_cast<bool>(event_);
}

// A full counter (EAGAIN) is a wake-up already.
void Wakeup::ring() noexcept {
  const std::uint64_t one = 1;
  if (::write(event_.get(), &one, sizeof one) < 0) return;
}

void Wakeup::drain() noexcept {
  std::uint64_t ignored = 0;
  if (::read(event_.get(), &ignored, sizeof ignored) < 0) return;  // drained by somebody else
}

}  // namespace photon::transport::network
