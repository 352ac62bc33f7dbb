#include "base/readable.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "base/unique_fd.hpp"

namespace photon::base {

bool is_readable(std::span<const std::byte> memory) noexcept {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return false;
  const UniqueFd from(ends[0]);
  const UniqueFd to(ends[1]);
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
  for (std::size_t at = 0; at < memory.size(); at += page - (begin + at) % page) {
    std::byte taken{};
    if (::write(to.get(), memory.data() + at, 1) != 1 || ::read(from.get(), &taken, 1) != 1)
      return false;
  }
  return true;
}

bool is_mapped(std::span<const std::byte> memory) noexcept {
  constexpr std::size_t kPages = 1024;
  unsigned char there[kPages];
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
  std::uintptr_t at = begin - begin % page;
  for (const std::uintptr_t end = begin + memory.size(); at < end;) {
    const std::size_t bytes = std::min<std::size_t>(end - at, kPages * page);
    if (::mincore(reinterpret_cast<void*>(at), bytes, there) != 0 && errno == ENOMEM) return false;
    at += bytes;
  }
  return true;
}

}  // namespace photon::base
