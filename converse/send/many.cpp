// Several messages to one PE, and one message of several parts.
#include <cstring>
#include <new>
#include <vector>

#include "converse/send/copies.hpp"

namespace photon::converse {

namespace {

void check_arrays(const char* call, int count, const int* sizes, char* const* parts) noexcept {
  if (count < 0) refuse(call, "%d parts: a count is not negative", count);
  if (count != 0 && (sizes == nullptr || parts == nullptr))
    refuse(call, "the sizes or the parts are null, and the count is %d", count);
  for (int i = 0; i < count; ++i) {
    if (sizes[i] < 0) refuse(call, "part %d has %d bytes: a size is not negative", i, sizes[i]);
    if (parts[i] == nullptr && sizes[i] != 0)
      refuse(call, "part %d is null, and has %d bytes", i, sizes[i]);
  }
}

void send_several(const char* call, unsigned to, int count, const int* sizes,
                  char* const* messages) noexcept {
  Pe& pe = here(call);
  check_pe(call, to);
  check_arrays(call, count, sizes, messages);
  if (count == 0) return;
  try {
    std::vector<ph_task_message*> copies;
    copies.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i)
      copies.push_back(sent_copy(pe, call, sizes[i], messages[i], pe.dispatch));
    require(pe, call, ph_task_send_many(pe.task, to, copies.data(), copies.size()));
  } catch (const std::bad_alloc&) {
    refuse(call, "no memory for %d messages", count);
  }
}

// The message that the parts make.
void* joined(Pe& pe, const char* call, int count, const int* sizes, char* const* parts) noexcept {
  CmiInt8 size = 0;
  for (int i = 0; i < count; ++i) size += sizes[i];
  void* const message = allocate(pe, call, size);
  char* at = static_cast<char*>(message);
  for (int i = 0; i < count; ++i) {
    if (sizes[i] != 0) std::memcpy(at, parts[i], static_cast<std::size_t>(sizes[i]));
    at += sizes[i];
  }
  check_message(call, size, message);
  return message;
}

void send_joined(const char* call, int to, int count, const int* sizes,
                 char* const* parts) noexcept {
  Pe& pe = here(call);
  check_pe(call, to);
  check_arrays(call, count, sizes, parts);
  void* const message = joined(pe, call, count, sizes, parts);
  mark_sent(pe, header_of(message));
  require(pe, call, ph_task_send(pe.task, static_cast<std::uint32_t>(to), task_of(message)));
}

}  // namespace

}  // namespace photon::converse

void CmiMultipleSend(unsigned pe, int count, int sizes[], char* messages[]) {
  photon::converse::send_several(__func__, pe, count, sizes, messages);
}

void CmiMultipleIsend(unsigned pe, int count, int sizes[], char* messages[]) {
  photon::converse::send_several(__func__, pe, count, sizes, messages);
}

void CmiSyncVectorSend(int pe, int count, int* sizes, char** parts) {
  photon::converse::send_joined(__func__, pe, count, sizes, parts);
}

void CmiSyncVectorSendAndFree(int pe, int count, int* sizes, char** parts) {
  photon::converse::send_joined(__func__, pe, count, sizes, parts);
  for (int i = 0; i < count; ++i) CmiFree(parts[i]);
  CmiFree(sizes);
  CmiFree(parts);
}

CmiCommHandle CmiAsyncVectorSend(int pe, int count, int* sizes, char** parts) {
  photon::converse::send_joined(__func__, pe, count, sizes, parts);
  return nullptr;
}
