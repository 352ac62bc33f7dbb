// What this process has used of the machine.
// Owner: none.
#pragma once

#include <cstdint>

namespace photon::perf {

std::uint64_t cpu_time_ns() noexcept;  // of all its threads, user and system
std::uint64_t resident_bytes();        // now; throws Failure without /proc
std::uint64_t private_bytes();         // of those, shared with nobody
std::uint64_t peak_resident_bytes() noexcept;

// Since the process that started this one was started itself, to a hundredth of a second; throws
// Failure without /proc.
std::uint64_t parent_age_ns();

}  // namespace photon::perf
