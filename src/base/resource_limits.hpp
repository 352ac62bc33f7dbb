// Advice for a failure that a limit of this process, or a sandbox, has caused: descriptors, memory,
// the size of files, a system call that is refused. The words name the limit and its value. Empty
// where a failure is none of that kind.
// Owner: none (functions).
#pragma once

#include <cstdint>
#include <string>

namespace photon::base {

inline constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

// Those in force: RLIMIT_NOFILE, RLIMIT_MEMLOCK, RLIMIT_FSIZE, the lesser of RLIMIT_AS and
// RLIMIT_DATA. kNoLimit: unlimited.
std::uint64_t descriptors_limit() noexcept;
std::uint64_t locked_memory_limit_bytes() noexcept;
std::uint64_t file_size_limit_bytes() noexcept;
std::uint64_t memory_limit_bytes() noexcept;

// To be put behind what a call that makes a descriptor says of its errno.
std::string descriptors_advice(int number, std::uint64_t limit);
// The same behind what registers memory with a NIC or pins it.
std::string locked_memory_advice(int number, std::uint64_t limit_bytes);
// The same behind what maps or allocates memory.
std::string memory_advice(int number, std::uint64_t limit_bytes);
// The same behind what makes a file larger; shared memory is one to the kernel.
std::string file_size_advice(int number, std::uint64_t limit_bytes);

// The same where the kernel finds no port of its own choice any more.
std::string ports_advice();

// Whether the kernel, or a filter before it, does not let this process make that system call at
// all: EPERM, EACCES, ENOSYS.
bool is_call_refused(int number) noexcept;
// The same behind any system call of start-up.
std::string refused_call_advice(int number);

}  // namespace photon::base
