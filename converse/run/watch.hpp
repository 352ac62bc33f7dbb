// Looks once a second whether a process of the job has ended without a word, for that wakes nobody
// who sleeps. Then it ends the job with words.
// Owner: the first PE of each process. Threads: that of the PE.
#pragma once

#include "converse/base/pe.hpp"

namespace photon::converse {

void start_watch(Pe& pe) noexcept;

}  // namespace photon::converse
