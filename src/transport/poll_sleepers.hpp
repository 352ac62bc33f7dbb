// One sleep for several transports of a rank: all of their descriptors in one ppoll(), for no
// longer than the most impatient of them allows. A transport's own sleep() is one of one transport.
//
// No wake-up is lost if none is lost by each alone: what ends a sleep of its own is a descriptor
// that stays readable until poll() has dealt with its news, and all of these are waited for here;
// each is told by slept() which of its own were readable, as if it had slept alone.
// Owner: none. Threads: as sleep().
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>

#include "transport/transport.hpp"

namespace photon::transport {

inline constexpr std::size_t kMostSleepers = std::tuple_size_v<Sleepers>;

// timeout_us < 0: no limit. At most kMostSleepers.
void poll_sleepers(std::span<Transport* const> sleepers, std::int64_t timeout_us) noexcept;

}  // namespace photon::transport
