// Random bytes that strangers cannot guess. Owner: none (a function).
#pragma once

#include <cstddef>
#include <span>

namespace photon::system {

// Takes them from getrandom(2), or where a sandbox refuses it or the kernel has none, from
// /dev/urandom. At most 256 bytes. False, and errno: there are none.
bool fill_random(std::span<std::byte> bytes) noexcept;

}  // namespace photon::system
