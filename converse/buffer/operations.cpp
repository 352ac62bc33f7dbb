#include "converse/buffer/operations.hpp"

#include "converse/buffer/acks.hpp"

namespace photon::converse {

namespace {

// In the words of this interface.
[[noreturn]] void refuse_sizes(const char* call, std::uint64_t destination,
                               std::uint64_t source) noexcept {
  refuse(call, "the destination has %llu bytes, and the source %llu: 0 bytes were moved",
         static_cast<unsigned long long>(destination), static_cast<unsigned long long>(source));
}

[[noreturn]] void refuse_operation(Pe& pe, const char* call, ph_status status,
                                   const LayerInfo& other) noexcept {
  if (status == PH_ERR_ACCESS)
    refuse(call,
           "a buffer that is CMK_BUFFER_NOREG takes part in no operation: give it another "
           "mode");
  if (status == PH_ERR_KEY)
    refuse(call, "the other buffer, of PE %u, has ended: %s", other.descriptor.pe, kEndedWords);
  require(pe, call, status);
  refuse(call, "%s", ph_status_text(status));
}

}  // namespace

void begin_operation(Pe& pe, const char* call, NcpyVerb verb, Live& own,
                     const LayerInfo& other) noexcept {
  const ph_status status = verb == NcpyVerb::get
                               ? ph_task_get(pe.task, own.buffer, &other.descriptor)
                               : ph_task_put(pe.task, own.buffer, &other.descriptor);
  const std::uint64_t there = other.descriptor.size_bytes;
  if (status == PH_ERR_RANGE && verb == NcpyVerb::get) refuse_sizes(call, own.size_bytes, there);
  if (status == PH_ERR_RANGE) refuse_sizes(call, there, own.size_bytes);
  if (status != PH_OK) [[unlikely]]
    refuse_operation(pe, call, status, other);
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
