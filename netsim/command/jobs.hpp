// Independent pieces of work, done by several threads of the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace photon::netsim::command {

// Of --jobs: 1 to 256; 0 if the text is none of them.
std::uint32_t jobs_of(const std::string& text);
// Calls work(i) once for each i below `count`, in their order, from `jobs` threads; this one is
// among them. All are done when it returns. False, after a sentence on the standard error, if the
// system does not give so many threads: then nothing was called.
[[nodiscard]] bool in_parallel(std::size_t count, std::uint32_t jobs,
                               const std::function<void(std::size_t)>& work);

}  // namespace photon::netsim::command
