// Sends to one PE, and to all.
#include <array>

#include "converse/send/copies.hpp"

namespace photon::converse {

namespace {

void send_copy(const char* call, int to, CmiInt8 size, const void* message) noexcept {
  Pe& pe = here(call);
  check_pe(call, to);
  check_message(call, size, message);
  Header header = *static_cast<const Header*>(message);
  mark_sent(pe, header);
  const std::array<ph_const_block, 2> blocks{{{&header, sizeof header},
                                              {static_cast<const char*>(message) + sizeof header,
                                               static_cast<std::size_t>(size) - sizeof header}}};
  require(pe, call,
          ph_task_send_vector(pe.task, static_cast<std::uint32_t>(to), pe.dispatch, blocks.data(),
                              blocks.size()));
}

void broadcast(const char* call, CmiInt8 size, const void* message, std::uint32_t flags) noexcept {
  Pe& pe = here(call);
  require(pe, call,
          ph_task_broadcast(pe.task, sent_copy(pe, call, size, message, pe.dispatch), flags));
}

void broadcast_given(const char* call, CmiInt8 size, void* message, std::uint32_t flags) noexcept {
  Pe& pe = here(call);
  require(pe, call, ph_task_broadcast(pe.task, given(pe, call, size, message, pe.dispatch), flags));
}

}  // namespace

}  // namespace photon::converse

using photon::converse::broadcast;
using photon::converse::broadcast_given;

void CmiSyncSend(int pe, CmiInt8 size, void* message) {
  photon::converse::send_copy(__func__, pe, size, message);
}

void CmiSyncSendAndFree(int pe, CmiInt8 size, void* message) {
  photon::converse::Pe& self = photon::converse::here(__func__);
  photon::converse::check_pe(__func__, pe);
  ph_task_message* const given =
      photon::converse::given(self, __func__, size, message, self.dispatch);
  photon::converse::require(self, __func__,
                            ph_task_send(self.task, static_cast<std::uint32_t>(pe), given));
}

CmiCommHandle CmiAsyncSend(int pe, CmiInt8 size, void* message) {
  photon::converse::send_copy(__func__, pe, size, message);
  return nullptr;
}

void CmiSyncBroadcast(CmiInt8 size, void* message) { broadcast(__func__, size, message, 0); }

void CmiSyncBroadcastAndFree(CmiInt8 size, void* message) {
  broadcast_given(__func__, size, message, 0);
}

CmiCommHandle CmiAsyncBroadcast(CmiInt8 size, void* message) {
  broadcast(__func__, size, message, 0);
  return nullptr;
}

void CmiSyncBroadcastAll(CmiInt8 size, void* message) {
  broadcast(__func__, size, message, PH_TASK_WITH_SELF);
}

void CmiSyncBroadcastAllAndFree(CmiInt8 size, void* message) {
  broadcast_given(__func__, size, message, PH_TASK_WITH_SELF);
}

CmiCommHandle CmiAsyncBroadcastAll(CmiInt8 size, void* message) {
  broadcast(__func__, size, message, PH_TASK_WITH_SELF);
  return nullptr;
}

// Every send has copied its message when it returns, so there is nothing to ask for.
int CmiAsyncMsgSent(CmiCommHandle /*handle*/) { return 1; }
void CmiReleaseCommHandle(CmiCommHandle /*handle*/) {}
