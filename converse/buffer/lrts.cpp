// The paper's lower layer: memory that can be reached, and operations over an NcpyOperationInfo.
#include "converse/buffer/acks.hpp"
#include "converse/buffer/operations.hpp"

using photon::converse::Buffers;
using photon::converse::buffers_of;
using photon::converse::here;
using photon::converse::LayerInfo;
using photon::converse::Live;
using photon::converse::NcpyVerb;
using photon::converse::Pe;
using photon::converse::refuse;

namespace {

void issue(const char* call, NcpyVerb verb, NcpyOperationInfo* info) {
  Pe& pe = here(call);
  if (info == nullptr) refuse(call, "the info is null");
  if (info->ackMode < CMK_SRC_DEST_ACK || info->ackMode > CMK_DEST_ACK)
    refuse(call, "there is no ackMode %d", info->ackMode);
  photon::converse::begin_with_acks(pe, call, verb, *info, false);
}

}  // namespace

void LrtsSetRdmaBufferInfo(void* info, const void* ptr, int size, int mode) {
  Pe& pe = here(__func__);
  if (info == nullptr) refuse(__func__, "the info is null");
  if (size < 0) refuse(__func__, "a buffer of %d bytes", size);
  if (mode < 0) refuse(__func__, "there is no mode %d", mode);
  Buffers& buffers = buffers_of(pe);
  const auto bytes = static_cast<std::uint64_t>(size);
  const Live& live = buffers.live.make(
      pe, __func__, {ptr, bytes, static_cast<unsigned short>(mode), CMK_BUFFER_NODEREG},
      buffers.done_number);
  LayerInfo layer;
  photon::converse::LiveBuffers::describe(pe, __func__, live, layer);
  std::memcpy(info, &layer, sizeof layer);
}

void LrtsDeregisterMem(const void* ptr, void* info, int pe_number, int /*mode*/) {
  Pe& pe = here(__func__);
  const LayerInfo layer = photon::converse::layer_of(__func__, static_cast<const char*>(info));
  if (layer.descriptor.pe != pe.place.pe)
    refuse(__func__, "the buffer at %p is of PE %d: only that PE ends it", ptr, pe_number);
  if (Live* live = buffers_of(pe).live.find(pe, layer))
    buffers_of(pe).live.end(pe, __func__, *live);
}

void LrtsIssueRget(NcpyOperationInfo* info) { issue(__func__, NcpyVerb::get, info); }
void LrtsIssueRput(NcpyOperationInfo* info) { issue(__func__, NcpyVerb::put, info); }
