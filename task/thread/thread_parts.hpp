// The threads of all PEs of a process, which are made at the start.
// Owner: the crew, by keep().
#pragma once

#include <cstdint>
#include <memory>

#include "task/run/crew.hpp"

namespace photon::task {

struct ThreadSettings {
  std::uint64_t stack_bytes;  // 0: as usual
  std::uint32_t guards;       // PH_TASK_GUARDS_ON and the like
};

// Throws bad_alloc.
std::shared_ptr<void> make_threads(Crew& crew, const ThreadSettings& settings);

}  // namespace photon::task
