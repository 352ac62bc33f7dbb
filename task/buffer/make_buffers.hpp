// Buffers as a part of the PEs of a process: made before they run, ended when none does any more.
// Owner: none (one function).
#pragma once

#include <memory>

#include "task/buffer/pe_buffers.hpp"
#include "task/run/crew.hpp"

namespace photon::task {

// What is returned is kept by the crew. Throws bad_alloc.
std::shared_ptr<void> make_buffers(Crew& crew);

}  // namespace photon::task
