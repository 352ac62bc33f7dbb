// Whether the other end of a TCP connection still answers: what the kernel asks by itself while
// nothing is under way, and what it is asked for while something is.
// Owner: none (functions on sockets).
#pragma once

#include <cstdint>

namespace photon::boot {

inline constexpr std::int64_t kKeepaliveCheckNs = 1'000'000'000;  // between looks at what is owed

// Sends at once; and a host that vanishes is noticed although nothing is sent, after so many
// seconds. Where something is, owed_ns() tells.
void tune_connection(int socket, std::uint64_t silence_s) noexcept;

// All that was sent has been confirmed.
bool is_all_confirmed(int socket) noexcept;

// For how long the other kernel has owed an answer: since the first look at which it did, and
// nothing has come after. 0: it owes none.
std::int64_t owed_ns(int socket, std::int64_t since_ns, std::int64_t now_ns) noexcept;

}  // namespace photon::boot
