// Time that only goes forward. Owner: none (a function).
#pragma once

#include <cstdint>

namespace photon::base {

// Nanoseconds since some fixed point; the same on all processes of a host. About 20 ns a call, no
// system call: affordable in a waiting loop, not per message.
std::int64_t now_ns() noexcept;

}  // namespace photon::base
