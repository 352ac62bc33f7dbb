#include "converse/buffer/buffers.hpp"

#include "converse/buffer/acks.hpp"
#include "converse/buffer/dones.hpp"
#include "converse/buffer/pe_buffers.hpp"

namespace photon::converse {

void start_buffers(Pe& pe) {
  auto* buffers = new Buffers;
  pe.parts.buffers = buffers;
  buffers->done_number = enroll(pe, run_buffer_done);
  buffers->ack_number = enroll(pe, run_ack_message);
}

}  // namespace photon::converse
