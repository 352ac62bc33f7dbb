// How many threads of each rank the host has cores for. Owner: none (a function).
#pragma once

#include "base/config.hpp"
#include "boot/boot.hpp"

namespace photon::boot {

// The same for all lanes of a job, so that each can say by itself whether there are too many.
unsigned threads_with_cores(const base::Config& config, const Boot& boot) noexcept;

}  // namespace photon::boot
