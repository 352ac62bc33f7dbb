// Dones: libphoton_task says that an operation on a buffer of this PE is over.
//
//   a done comes -- it failed --> the job ends with words
//                -- else --> counted off; CMK_BUFFER_DEREG ends the buffer; then what the program
//                            hears: the function or the handler of the object, then the ack
//
// The message of the done becomes the program's: a CmiNcpyDone stands where a ph_task_done stood.
// Threads: that of the PE.
#pragma once

#include "converse/buffer/pe_buffers.hpp"

namespace photon::converse {

void run_buffer_done(ph_task_pe* task, ph_task_message* message, void* user);

}  // namespace photon::converse
