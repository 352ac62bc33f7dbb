// Threads that work together on one thing, all of them or none.
//
//   made, one after the other --all are there--> each works --> joined
//                             --one cannot be made--> none works, those that are there are joined
//
// Invariant: no thread works before the last one is there, so that none waits at a barrier for one
// that will never come. Owner: the caller, until all are joined.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace photon::netsim {

// Calls work(number) once for each number below `count`, each on a thread of its own; the caller's
// has number 0. All are done when it returns. If the system does not give so many threads, nothing
// is called, and what it returns says so; else that is empty.
[[nodiscard]] std::string in_threads(std::uint32_t count,
                                     const std::function<void(std::uint32_t)>& work);

}  // namespace photon::netsim
