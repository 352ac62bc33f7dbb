// What to do where a limit of this process is in the way: descriptors, locked memory. The words
// name the limit and its value. Empty where a failure is not that limit's.
// Owner: none (functions).
#pragma once

#include <cstdint>
#include <string>

namespace photon::base {

inline constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

// Those in force: RLIMIT_NOFILE and RLIMIT_MEMLOCK. kNoLimit: unlimited.
std::uint64_t descriptors_limit() noexcept;
std::uint64_t locked_memory_limit_bytes() noexcept;

// To be put behind what a call that makes a descriptor says of its errno.
std::string descriptors_advice(int number, std::uint64_t limit);
// The same behind what registers memory with a network card or pins it.
std::string locked_memory_advice(int number, std::uint64_t limit_bytes);

}  // namespace photon::base
