// How a thread stands in for the caller of a lane who is silent (docs/memory-model.md, "The
// progress thread"). Owner: none; plain values.
#pragma once

#include <cstdint>

namespace photon::engine {

// What the caller was found to do.
enum class Silence : std::uint8_t { over, asleep, quiet, busy };

// When the thread sleeps.
struct Rest {
  bool at_once = false;  // if nothing moves; where threads are more than cores, always
  bool behind = false;   // the caller who sleeps
};

}  // namespace photon::engine
