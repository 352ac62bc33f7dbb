// Sends to processes.
#include "converse/send/copies.hpp"

namespace photon::converse {

namespace {

void check_node(const char* call, const Pe& pe, int node) noexcept {
  if (node < 0 || static_cast<std::uint32_t>(node) >= pe.place.processes)
    refuse(call, "there is no process %d: the job has %u", node, pe.place.processes);
}

void node_send(const char* call, int node, CmiInt8 size, const void* message) noexcept {
  Pe& pe = here(call);
  check_node(call, pe, node);
  ph_task_message* const copy = sent_copy(pe, call, size, message, pe.node_dispatch);
  require(pe, call, ph_task_send_node(pe.task, static_cast<std::uint32_t>(node), copy));
}

void node_broadcast(const char* call, CmiInt8 size, const void* message,
                    std::uint32_t flags) noexcept {
  Pe& pe = here(call);
  ph_task_message* const copy = sent_copy(pe, call, size, message, pe.node_dispatch);
  require(pe, call, ph_task_broadcast(pe.task, copy, flags | PH_TASK_TO_PROCESSES));
}

void node_broadcast_given(const char* call, CmiInt8 size, void* message,
                          std::uint32_t flags) noexcept {
  Pe& pe = here(call);
  ph_task_message* const whole = given(pe, call, size, message, pe.node_dispatch);
  require(pe, call, ph_task_broadcast(pe.task, whole, flags | PH_TASK_TO_PROCESSES));
}

}  // namespace

}  // namespace photon::converse

using photon::converse::node_broadcast;
using photon::converse::node_broadcast_given;

void CmiSyncNodeSend(int node, CmiInt8 size, void* message) {
  photon::converse::node_send(__func__, node, size, message);
}

void CmiSyncNodeSendAndFree(int node, CmiInt8 size, void* message) {
  photon::converse::Pe& pe = photon::converse::here(__func__);
  photon::converse::check_node(__func__, pe, node);
  ph_task_message* const given =
      photon::converse::given(pe, __func__, size, message, pe.node_dispatch);
  photon::converse::require(pe, __func__,
                            ph_task_send_node(pe.task, static_cast<std::uint32_t>(node), given));
}

CmiCommHandle CmiAsyncNodeSend(int node, CmiInt8 size, void* message) {
  photon::converse::node_send(__func__, node, size, message);
  return nullptr;
}

void CmiSyncNodeBroadcast(CmiInt8 size, void* message) {
  node_broadcast(__func__, size, message, 0);
}

void CmiSyncNodeBroadcastAndFree(CmiInt8 size, void* message) {
  node_broadcast_given(__func__, size, message, 0);
}

CmiCommHandle CmiAsyncNodeBroadcast(CmiInt8 size, void* message) {
  node_broadcast(__func__, size, message, 0);
  return nullptr;
}

void CmiSyncNodeBroadcastAll(CmiInt8 size, void* message) {
  node_broadcast(__func__, size, message, PH_TASK_WITH_SELF);
}

void CmiSyncNodeBroadcastAllAndFree(CmiInt8 size, void* message) {
  node_broadcast_given(__func__, size, message, PH_TASK_WITH_SELF);
}

CmiCommHandle CmiAsyncNodeBroadcastAll(CmiInt8 size, void* message) {
  node_broadcast(__func__, size, message, PH_TASK_WITH_SELF);
  return nullptr;
}
