#include "converse/buffer/acks.hpp"

#include <climits>
#include <mutex>

namespace photon::converse {

namespace {

// The interface has one of the process, which any PE may set.
struct AckHandler {
  std::mutex mutex;
  CmiNcpyAckFn function = nullptr;
};

AckHandler& ack_handler() noexcept {
  static AckHandler handler;
  return handler;
}

CmiNcpyAckFn ack_function() noexcept {
  const std::lock_guard lock(ack_handler().mutex);
  return ack_handler().function;
}

constexpr std::size_t kLayers = 2 * sizeof(LayerInfo);

// Where the parts of a copy stand.
void point(NcpyOperationInfo& info) noexcept {
  char* const parts = reinterpret_cast<char*>(&info + 1);
  info.srcLayerInfo = parts;
  info.destLayerInfo = parts + sizeof(LayerInfo);
  info.srcAck = info.srcAckSize == 0 ? nullptr : parts + kLayers;
  info.destAck = info.destAckSize == 0 ? nullptr : parts + kLayers + info.srcAckSize;
}

ph_task_message* message_of_info(NcpyOperationInfo* info) noexcept { return task_of(info); }

// A copy that came from a peer. False: none can be so.
bool settle(NcpyOperationInfo& info, std::uint64_t size_bytes) noexcept {
  if (info.srcAckSize < 0 || info.destAckSize < 0) return false;
  const std::uint64_t needed = sizeof info + kLayers + static_cast<std::uint64_t>(info.srcAckSize) +
                               static_cast<std::uint64_t>(info.destAckSize);
  if (needed != size_bytes) return false;
  if (info.ackMode != CMK_SRC_ACK && info.ackMode != CMK_DEST_ACK) return false;
  info.srcLayerSize = info.destLayerSize = sizeof(LayerInfo);
  info.ncpyOpInfoSize = static_cast<int>(needed);
  info.refPtr = nullptr;
  point(info);
  return true;
}

bool wants(const NcpyOperationInfo& info, ncpyAckMode side) noexcept {
  return info.ackMode == CMK_SRC_DEST_ACK || info.ackMode == side;
}

void run_ack(Pe& pe, NcpyOperationInfo& info, bool is_lent) {
  const CmiNcpyAckFn function = ack_function();
  if (function == nullptr)
    refuse("ack",
           "an ack came, and this process has no handler for it: call "
           "CmiSetDirectNcpyAckHandler() before");
  if (is_lent)
    run_lent(pe, function, &info);
  else
    run_job(pe, {[](Pe& /*own*/, const Job& job) {
                   reinterpret_cast<CmiNcpyAckFn>(job.function)(job.argument);
                 },
                 reinterpret_cast<void (*)()>(function), &info});
}

// Whether the done of the ack's operation has come.
bool has_heard(Live& live, const NcpyOperationInfo& info) noexcept {
  const bool is_source = info.ackMode == CMK_SRC_ACK;
  const LayerInfo own = layer_of("ack", is_source ? info.srcLayerInfo : info.destLayerInfo);
  const LayerInfo other = layer_of("ack", is_source ? info.destLayerInfo : info.srcLayerInfo);
  return live.heard.has(other.descriptor.pe, own.dones);
}

// One that has room for its side: held, or run now.
void take_ack(Pe& pe, NcpyOperationInfo& info) {
  const bool is_source = info.ackMode == CMK_SRC_ACK;
  const LayerInfo own = layer_of("ack", is_source ? info.srcLayerInfo : info.destLayerInfo);
  Live* live = buffers_of(pe).live.find(pe, own);
  if (live == nullptr || has_heard(*live, info)) {
    run_ack(pe, info, true);
    return;
  }
  try {
    live->held.push_back(message_of_info(&info));
    ++pe.own_tasks;
  } catch (const std::bad_alloc&) {
    refuse("ack", "no memory to keep it until the done of its operation");
  }
}

}  // namespace

NcpyOperationInfo& copy_info(Pe& pe, const char* call, const NcpyOperationInfo& info) noexcept {
  if (info.srcAckSize < 0 || info.destAckSize < 0)
    refuse(call, "an ack of %d bytes", info.srcAckSize < 0 ? info.srcAckSize : info.destAckSize);
  if ((info.srcAck == nullptr && info.srcAckSize != 0) ||
      (info.destAck == nullptr && info.destAckSize != 0))
    refuse(call, "the bytes of an ack are null, and their size is not 0");
  const std::uint64_t size = sizeof info + kLayers + static_cast<std::uint64_t>(info.srcAckSize) +
                             static_cast<std::uint64_t>(info.destAckSize);
  if (size > INT_MAX)
    refuse(call, "the acks have %llu bytes", static_cast<unsigned long long>(size));
  const LayerInfo source = layer_of(call, info.srcLayerInfo);
  const LayerInfo destination = layer_of(call, info.destLayerInfo);
  ph_task_message* message = nullptr;
  require(pe, call, ph_task_alloc(pe.task, size, &message));
  ph_task_set_handler(message, buffers_of(pe).ack_number);
  NcpyOperationInfo& copy = *static_cast<NcpyOperationInfo*>(message_of(message));
  copy = info;
  copy.srcLayerSize = copy.destLayerSize = sizeof(LayerInfo);
  copy.ncpyOpInfoSize = static_cast<int>(size);
  copy.freeMe = CMK_FREE_NCPYOPINFO;
  point(copy);
  std::memcpy(copy.srcLayerInfo, &source, sizeof source);
  std::memcpy(copy.destLayerInfo, &destination, sizeof destination);
  if (info.srcAckSize != 0)
    std::memcpy(copy.srcAck, info.srcAck, static_cast<std::size_t>(info.srcAckSize));
  if (info.destAckSize != 0)
    std::memcpy(copy.destAck, info.destAck, static_cast<std::size_t>(info.destAckSize));
  return copy;
}

void send_other_ack(Pe& pe, const Pending& pending, ncpyAckMode side) noexcept {
  const ncpyAckMode other = side == CMK_SRC_ACK ? CMK_DEST_ACK : CMK_SRC_ACK;
  if (!wants(*pending.info, other)) return;
  NcpyOperationInfo& copy = copy_info(pe, "ack", *pending.info);
  copy.ackMode = static_cast<short>(other);
  copy.refPtr = nullptr;
  char* const layer = other == CMK_SRC_ACK ? copy.srcLayerInfo : copy.destLayerInfo;
  LayerInfo there = layer_of("ack", layer);
  there.dones = buffers_of(pe).over.of(pending.other);
  std::memcpy(layer, &there, sizeof there);
  // On one PE that of the source comes first: of a get its done has come.
  if (pending.other.pe == pe.place.pe && other == CMK_SRC_ACK)
    take_ack(pe, copy);
  else
    require(pe, "ack", ph_task_send(pe.task, pending.other.pe, message_of_info(&copy)));
}

bool run_own_ack(Pe& pe, const Pending& pending, ncpyAckMode side) noexcept {
  NcpyOperationInfo& info = *pending.info;
  if (wants(info, side)) {
    info.ackMode = static_cast<short>(side);
    run_ack(pe, info, pending.is_lent);
    return true;
  }
  if (pending.is_lent || info.freeMe == CMK_FREE_NCPYOPINFO) CmiFree(&info);
  return false;
}

void check_ack_handler(const char* call) noexcept {
  if (ack_function() == nullptr)
    refuse(call, "nobody would get its acks: call CmiSetDirectNcpyAckHandler() before");
}

void hear_done(Pe& pe, Live& live, std::uint32_t other_pe) noexcept {
  try {
    live.heard.add(other_pe);
  } catch (const std::bad_alloc&) {
    refuse("CmiNcpyBuffer", "no memory to count the done of an operation");
  }
  std::erase_if(live.held, [&](ph_task_message* ack) {
    if (!has_heard(live, *static_cast<NcpyOperationInfo*>(message_of(ack)))) return false;
    require(pe, "ack", ph_task_send(pe.task, pe.place.pe, ack));
    return true;
  });
}

void run_ack_message(ph_task_pe* /*task*/, ph_task_message* message, void* user) {
  Pe& pe = *static_cast<Pe*>(user);
  if (pe.is_leaving) return require(pe, "ConverseExit", ph_task_free(pe.task, message));
  auto& info = *static_cast<NcpyOperationInfo*>(message_of(message));
  const std::uint64_t size_bytes = ph_task_size(message);
  if (size_bytes < sizeof info || !settle(info, size_bytes))
    refuse("ack", "PE %u has sent %llu bytes that cannot be one", ph_task_source(message),
           static_cast<unsigned long long>(size_bytes));
  take_ack(pe, info);
}

}  // namespace photon::converse

void CmiSetDirectNcpyAckHandler(CmiNcpyAckFn handler) {
  if (handler == nullptr) photon::converse::refuse(__func__, "the handler is null");
  const std::lock_guard lock(photon::converse::ack_handler().mutex);
  photon::converse::ack_handler().function = handler;
}
