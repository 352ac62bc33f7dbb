#include <cstring>

#include "findings.hpp"

namespace photon_info {
namespace {

// The callbacks of a job of one rank: so that a try does not join the launcher's job.
int gather_alone(void*, const void* mine, void* all, std::size_t size_bytes) {
  if (size_bytes > 0) std::memcpy(all, mine, size_bytes);
  return 0;
}

int meet_alone(void*) { return 0; }

Transport try_transport(const char* name) {
  const ph_bootstrap alone = {nullptr, 0, 1, &gather_alone, &meet_alone};
  try {
    const photon::Context context({{{"transport", name}}, &alone});
    return {name, true, ""};
  } catch (const photon::Error& error) {
    return {name, false, error.what()};
  }
}

}  // namespace

std::vector<Transport> find_transports() {
  return {try_transport("shm"), try_transport("tcp"), try_transport("mixed"), try_transport("ofi"),
          try_transport("sim")};
}

}  // namespace photon_info
