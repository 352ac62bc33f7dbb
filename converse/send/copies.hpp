// Messages of the program on their way into libphoton_task: a copy of any memory, or what the
// program gives away.
// Invariant: what leaves names a handler of libphoton_task, and its Header says which function is
// meant; memory of the program that stays the program's is only read.
// Owner: none (functions). Threads: that of the PE.
#pragma once

#include "converse/base/pe.hpp"

namespace photon::converse {

// A message with a copy of those bytes, marked as sent, for this handler of libphoton_task.
ph_task_message* sent_copy(Pe& pe, const char* call, CmiInt8 size, const void* message,
                           std::uint32_t to) noexcept;

// The message that the program gives away with so many bytes: itself, or a copy if they are fewer
// than it has; then it is freed. Ends the job if it is not of CmiAlloc().
ph_task_message* given(Pe& pe, const char* call, CmiInt8 size, void* message,
                       std::uint32_t to) noexcept;

}  // namespace photon::converse
