// The object of the program: plain data, over a buffer that is live at the PE that made it.
#include "converse/buffer/acks.hpp"
#include "converse/buffer/operations.hpp"

namespace photon::converse {

namespace {

LayerInfo layer_of_object(const CmiNcpyBuffer& object) noexcept {
  return layer_of("CmiNcpyBuffer", object.layerInfo);
}

void check_owner(const Pe& pe, const char* call, const CmiNcpyBuffer& object) noexcept {
  const LayerInfo info = layer_of_object(object);
  if (info.buffer == 0)
    refuse(call, "the object has no buffer: construct it with its memory, or call init()");
  if (info.descriptor.pe != pe.place.pe)
    refuse(call, "the buffer is of PE %u, and PE %u calls: each PE uses what it has made",
           info.descriptor.pe, pe.place.pe);
}

Live* live_of(Pe& pe, const CmiNcpyBuffer& object) noexcept {
  return buffers_of(pe).live.find(pe, layer_of_object(object));
}

// What copies between two objects of this process: its bytes fit.
void copy_near(const char* call, const CmiNcpyBuffer& from, const CmiNcpyBuffer& to) noexcept {
  const Pe& pe = here(call);
  for (const CmiNcpyBuffer* one : {&from, &to})
    if (one->pe < 0 ||
        static_cast<std::uint32_t>(one->pe) / pe.place.pes_per_process != pe.place.process)
      refuse(call, "the buffer is of PE %d, which is of another process: use get() or rdmaGet()",
             one->pe);
  if (to.cnt < from.cnt)
    refuse(call, "the destination has %zu bytes, and the source %zu: nothing was moved", to.cnt,
           from.cnt);
  if (from.cnt != 0) std::memmove(const_cast<void*>(to.ptr), from.ptr, from.cnt);
}

void describe_source(NcpyOperationInfo& info, const CmiNcpyBuffer& from) noexcept {
  info.srcPtr = from.ptr;
  info.srcLayerInfo = const_cast<char*>(from.layerInfo);
  info.srcRef = from.ref;
  info.srcSize = from.cnt;
  info.srcPe = from.pe;
  info.srcRegMode = from.regMode;
  info.srcDeregMode = from.deregMode;
  info.isSrcRegistered = from.isRegistered ? 1 : 0;
}

void describe_destination(NcpyOperationInfo& info, const CmiNcpyBuffer& to) noexcept {
  info.destPtr = to.ptr;
  info.destLayerInfo = const_cast<char*>(to.layerInfo);
  info.destRef = to.ref;
  info.destSize = to.cnt;
  info.destPe = to.pe;
  info.destRegMode = to.regMode;
  info.destDeregMode = to.deregMode;
  info.isDestRegistered = to.isRegistered ? 1 : 0;
}

struct Acks {
  int size;
  const char* source;
  const char* destination;
};

void begin_rdma(Pe& pe, const char* call, NcpyVerb verb, NcpyOperationInfo& info,
                const Acks& acks) noexcept {
  info.srcAck = const_cast<char*>(acks.source);
  info.destAck = const_cast<char*>(acks.destination);
  info.srcAckSize = acks.source == nullptr && acks.size > 0 ? 0 : acks.size;
  info.destAckSize = acks.destination == nullptr && acks.size > 0 ? 0 : acks.size;
  info.rootNode = -1;
  begin_with_acks(pe, call, verb, copy_info(pe, call, info), true);
}

}  // namespace

}  // namespace photon::converse

using photon::converse::begin_operation;
using photon::converse::Buffers;
using photon::converse::buffers_of;
using photon::converse::check_owner;
using photon::converse::here;
using photon::converse::layer_of_object;
using photon::converse::LayerInfo;
using photon::converse::Live;
using photon::converse::live_of;
using photon::converse::LiveBuffers;
using photon::converse::NcpyVerb;
using photon::converse::Pe;
using photon::converse::refuse;

void CmiNcpyBuffer::begin(const char* call) {
  Pe& owner = here(call);
  Buffers& buffers = buffers_of(owner);
  const Live& live = buffers.live.make(
      owner, call, {ptr, cnt, regMode, deregMode, function_, handler_}, buffers.done_number);
  LayerInfo info;
  LiveBuffers::describe(owner, call, live, info);
  std::memcpy(layerInfo, &info, sizeof info);
  pe = static_cast<int>(owner.place.pe);
  isRegistered = regMode == CMK_BUFFER_REG || regMode == CMK_BUFFER_PREREG;
}

void CmiNcpyBuffer::init(const void* address, size_t size, unsigned short registration,
                         unsigned short deregistration) {
  ptr = address;
  cnt = size;
  regMode = registration;
  deregMode = deregistration;
  function_ = nullptr;
  handler_ = -1;
  begin("CmiNcpyBuffer");
}

void CmiNcpyBuffer::initDone(const void* address, size_t size, CmiHandler function, int handler) {
  ptr = address;
  cnt = size;
  regMode = CMK_BUFFER_REG;
  deregMode = CMK_BUFFER_NODEREG;
  function_ = function;
  handler_ = handler;
  begin("CmiNcpyBuffer");
}

void CmiNcpyBuffer::initHandler(const void* address, size_t size, long long handler) {
  if (handler < 0 || handler > INT32_MAX)
    refuse("CmiNcpyBuffer", "there is no handler %lld", handler);
  initDone(address, size, nullptr, static_cast<int>(handler));
}

void CmiNcpyBuffer::setMode(unsigned short registration) {
  const char* const call = "CmiNcpyBuffer::setMode";
  regMode = registration;
  if (layer_of_object(*this).buffer == 0) return;  // init() has the modes
  Pe& owner = here(call);
  check_owner(owner, call, *this);
  if (Live* live = live_of(owner, *this)) buffers_of(owner).live.end(owner, call, *live);
  begin(call);
}

void CmiNcpyBuffer::registerMem() {
  const char* const call = "CmiNcpyBuffer::registerMem";
  Pe& owner = here(call);
  check_owner(owner, call, *this);
  Live* const live = live_of(owner, *this);
  if (live == nullptr) {
    begin(call);
    return;
  }
  if (regMode != CMK_BUFFER_REG && regMode != CMK_BUFFER_UNREG) return;
  photon::converse::require(owner, call, ph_task_buffer_register(owner.task, live->buffer));
  LayerInfo info;
  LiveBuffers::describe(owner, call, *live, info);
  std::memcpy(layerInfo, &info, sizeof info);
  isRegistered = true;
}

void CmiNcpyBuffer::deregisterMem() {
  const char* const call = "CmiNcpyBuffer::deregisterMem";
  Pe& owner = here(call);
  check_owner(owner, call, *this);
  if (Live* live = live_of(owner, *this)) buffers_of(owner).live.end(owner, call, *live);
  isRegistered = false;
}

// The buffer that this PE begins an operation with: a Live. What CMK_BUFFER_DEREG has ended begins
// anew.
void* CmiNcpyBuffer::used(const char* call, void* pe_of_thread) {
  Pe& owner = *static_cast<Pe*>(pe_of_thread);
  if (Live* live = live_of(owner, *this)) [[likely]]
    return live;
  check_owner(owner, call, *this);
  if (deregMode == CMK_BUFFER_NODEREG)
    refuse(call, "the buffer was deregistered: call registerMem() before");
  begin(call);
  return live_of(owner, *this);
}

void CmiNcpyBuffer::get(const CmiNcpyBuffer& source) {
  const char* const call = "CmiNcpyBuffer::get";
  Pe& owner = here(call);
  Live& own = *static_cast<Live*>(used(call, &owner));
  begin_operation(owner, call, NcpyVerb::get, own, layer_of_object(source));
}

void CmiNcpyBuffer::put(const CmiNcpyBuffer& destination) {
  const char* const call = "CmiNcpyBuffer::put";
  Pe& owner = here(call);
  Live& own = *static_cast<Live*>(used(call, &owner));
  begin_operation(owner, call, NcpyVerb::put, own, layer_of_object(destination));
}

void CmiNcpyBuffer::memcpyGet(const CmiNcpyBuffer& source) {
  photon::converse::copy_near("CmiNcpyBuffer::memcpyGet", source, *this);
}

void CmiNcpyBuffer::memcpyPut(const CmiNcpyBuffer& destination) {
  photon::converse::copy_near("CmiNcpyBuffer::memcpyPut", *this, destination);
}

void CmiNcpyBuffer::cmaGet(const CmiNcpyBuffer& source) {
  photon::converse::copy_near("CmiNcpyBuffer::cmaGet", source, *this);
}

void CmiNcpyBuffer::cmaPut(const CmiNcpyBuffer& destination) {
  photon::converse::copy_near("CmiNcpyBuffer::cmaPut", *this, destination);
}

void CmiNcpyBuffer::rdmaGet(const CmiNcpyBuffer& source, int ackSize, const char* srcAck,
                            const char* destAck) {
  const char* const call = "CmiNcpyBuffer::rdmaGet";
  Pe& owner = here(call);
  static_cast<void>(used(call, &owner));
  NcpyOperationInfo info{};
  photon::converse::describe_source(info, source);
  photon::converse::describe_destination(info, *this);
  photon::converse::begin_rdma(owner, call, NcpyVerb::get, info, {ackSize, srcAck, destAck});
}

void CmiNcpyBuffer::rdmaPut(const CmiNcpyBuffer& destination, int ackSize, const char* srcAck,
                            const char* destAck) {
  const char* const call = "CmiNcpyBuffer::rdmaPut";
  Pe& owner = here(call);
  static_cast<void>(used(call, &owner));
  NcpyOperationInfo info{};
  photon::converse::describe_source(info, *this);
  photon::converse::describe_destination(info, destination);
  photon::converse::begin_rdma(owner, call, NcpyVerb::put, info, {ackSize, srcAck, destAck});
}
