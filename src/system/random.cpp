#include "system/random.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include "system/unique_fd.hpp"

namespace photon::system {

bool fill_random(std::span<std::byte> bytes) noexcept {
  // So few are neither interrupted nor cut short (getrandom(2)).
  const auto wanted = static_cast<ssize_t>(bytes.size());
  if (::getrandom(bytes.data(), bytes.size(), 0) == wanted) return true;
  const UniqueFd device(::open("/dev/urandom", O_RDONLY | O_CLOEXEC));
  return device && ::read(device.get(), bytes.data(), bytes.size()) == wanted;
}

}  // namespace photon::system
