// What proves that a rank is of a job: 32 random bytes, and for each later generation others, which
// all its hosts make of them. Owner: none (values).
#pragma once

#include <photon/launch.h>

#include <array>
#include <cstdint>

namespace photonrun {

using Secret = std::array<std::uint8_t, PH_LAUNCH_SECRET_BYTES>;

// A generation of a job, and its secret.
struct Term {
  unsigned generation = 0;
  Secret secret{};
};

// Throws std::system_error.
Secret make_secret();

// Who knows one generation's secret knows all: it is to keep nobody out but who comes late, to a
// port that somebody of another generation has now.
Term term_of(unsigned generation, const Secret& of_the_first);

}  // namespace photonrun
