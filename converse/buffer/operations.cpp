#include "converse/buffer/operations.hpp"

#include "converse/buffer/acks.hpp"

namespace photon::converse {

void begin_operation(Pe& pe, const char* call, NcpyVerb verb, Live& own,
                     const LayerInfo& other) noexcept {
  const ph_status status = verb == NcpyVerb::get
                               ? ph_task_get(pe.task, own.buffer, &other.descriptor)
                               : ph_task_put(pe.task, own.buffer, &other.descriptor);
  require(pe, call, status);
  ++own.own_operations;
}

void begin_with_acks(Pe& pe, const char* call, NcpyVerb verb, NcpyOperationInfo& info,
                     bool is_lent) noexcept {
  check_ack_handler(call);
  const LayerInfo source = layer_of(call, info.srcLayerInfo);
  const LayerInfo destination = layer_of(call, info.destLayerInfo);
  const bool is_get = verb == NcpyVerb::get;
  LiveBuffers& buffers = buffers_of(pe).live;
  Live* own = buffers.find(pe, is_get ? destination : source);
  if (own == nullptr)
    refuse(call, "the %s is no buffer of PE %u, or has ended: LrtsSetRdmaBufferInfo() makes one",
           is_get ? "destination" : "source", pe.place.pe);
  const LayerInfo& other = is_get ? source : destination;
  begin_operation(pe, call, verb, *own, other);
  buffers.add_pending(call, *own, {&info, other.descriptor, is_lent, nullptr});
}

}  // namespace photon::converse
