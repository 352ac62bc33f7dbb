// Acks: what the ack handler of the process gets of an operation with acks, once at each side.
//
//   begun here: info -- the own done --> the other side's copy is sent; the own side's ack runs
//   a copy comes: the done of its operation has not come (done_counts.hpp) --> held by the buffer
//                 else, or the buffer has ended --> the ack runs
//   held -- the done comes, or the buffer ends --> sent to the own PE --> the ack runs
//
// A copy is the body of a message of libphoton_task: the NcpyOperationInfo, then the LayerInfo of
// the source and of the destination, then the ack bytes of both. It comes from a peer, so its sizes
// are compared with the message before anything is read.
// Owner: the PE that has the info. Threads: that of the PE.
#pragma once

#include "converse/buffer/pe_buffers.hpp"

namespace photon::converse {

// A copy of all of it in one message; pointers of null have no bytes. Words end the job if sizes
// are negative, or too large.
NcpyOperationInfo& copy_info(Pe& pe, const char* call, const NcpyOperationInfo& info) noexcept;
// The own done of that operation has come; `side` is the own one. Sends the other's ack.
void send_other_ack(Pe& pe, const Pending& pending, ncpyAckMode side) noexcept;
// The rest of it: the own ack. The info is the program's then, or gone. False: that side has none.
bool run_own_ack(Pe& pe, const Pending& pending, ncpyAckMode side) noexcept;
// Ends the job unless CmiSetDirectNcpyAckHandler() was called.
void check_ack_handler(const char* call) noexcept;
// A done of an operation that another PE has begun has come: sends what the buffer held for it.
void hear_done(Pe& pe, Live& live, std::uint32_t other_pe) noexcept;
// The handler of copies that come.
void run_ack_message(ph_task_pe* task, ph_task_message* message, void* user);

inline LayerInfo layer_of(const char* call, const char* layer) noexcept {
  if (layer == nullptr)
    refuse(call, "the info of a side is null: LrtsSetRdmaBufferInfo() fills it");
  LayerInfo info;
  std::memcpy(&info, layer, sizeof info);
  return info;
}

}  // namespace photon::converse
