// Sends to lists of PEs.
// Owner: none (functions). Threads: that of the PE.
#pragma once

#include <span>
#include <vector>

#include "converse/base/pe.hpp"

namespace photon::converse {

// The numbers of a list of the program; ends the job if one of them is no PE.
std::vector<std::uint32_t> checked_list(const char* call, int count, const int* pes);
bool has_twice(std::span<const std::uint32_t> pes);
// Gives the message to each; a PE that stands twice gets two.
void send_to_list(Pe& pe, const char* call, std::span<const std::uint32_t> pes,
                  ph_task_message* message);

}  // namespace photon::converse
