// Requests of a window to members that this process cannot reach by itself.
// Owner: none. Threads: any.
#pragma once

#include <span>

#include "interop/mpi/window/window.hpp"

namespace photon::mpi {

// Fills the window's names in, and sends the request to the target. False: the target has ended, or
// refuses.
bool ask(Window& window, Target& target, Request& request, std::span<const ph_const_block> payload,
         std::span<std::byte> into) noexcept;
bool tell(Window& window, Target& target, Request& request,
          std::span<const ph_const_block> payload) noexcept;

// The memory that operations on a target were given is the caller's again.
Outcome release(Window& window, int member) noexcept;

}  // namespace photon::mpi
