// Messages and their handlers.
#include <dlfcn.h>

#include "converse/base/pe.hpp"

namespace photon::converse {

namespace {

// The check says where a function lies in the file it is of: the same in each process that runs
// that file, wherever the loader has put it. Never 0.
std::uint16_t check_of(const Handler& handler) noexcept {
  const auto address = handler.plain != nullptr
                           ? reinterpret_cast<std::uintptr_t>(handler.plain)
                           : reinterpret_cast<std::uintptr_t>(handler.extended);
  Dl_info file{};
  std::uintptr_t offset = address;
  if (dladdr(reinterpret_cast<void*>(address), &file) != 0)
    offset -= reinterpret_cast<std::uintptr_t>(file.dli_fbase);
  const std::uint64_t mixed = (offset >> 1) * 0x9e3779b97f4a7c15ULL;
  const auto check = static_cast<std::uint16_t>(mixed >> 48);
  return check == 0 ? std::uint16_t{1} : check;
}

Handler checked(const char* call, Handler handler) noexcept {
  if (handler.plain == nullptr && handler.extended == nullptr) refuse(call, "the handler is null");
  handler.check = check_of(handler);
  return handler;
}

int add_handler(const char* call, const Handler& handler) noexcept {
  Pe& pe = here(call);
  try {
    pe.handlers.push_back(checked(call, handler));
  } catch (const std::bad_alloc&) {
    refuse(call, "no memory for handler %zu", pe.handlers.size());
  }
  return static_cast<int>(pe.handlers.size() - 1);
}

void change_handler(const char* call, int index, const Handler& handler) noexcept {
  Pe& pe = here(call);
  if (index < 0 || static_cast<std::size_t>(index) >= pe.handlers.size())
    refuse(call, "there is no handler %d: %zu are registered", index, pe.handlers.size());
  Handler& changed = pe.handlers[static_cast<std::size_t>(index)];
  changed = checked(call, handler);
  changed.check = 0;
}

const Handler& handler_of(Pe& pe, const Header& header) noexcept {
  if (header.handler >= pe.handlers.size()) [[unlikely]]
    refuse("scheduler", "a message names handler %u, and %zu are registered on PE %u",
           header.handler, pe.handlers.size(), pe.place.pe);
  return pe.handlers[header.handler];
}

// PEs may have different functions under one index, as long as nobody's function is under another
// index elsewhere: then they have registered in different orders.
void expect_same_order(const Pe& pe, const Header& header) noexcept {
  for (std::size_t index = 0; index < pe.handlers.size(); ++index)
    if (pe.handlers[index].check == header.check)
      refuse("scheduler",
             "handler %u of PE %u is another function than its sender means, which is handler %zu "
             "here: PEs register the same handlers in the same order",
             header.handler, pe.place.pe, index);
}

}  // namespace

void* allocate(Pe& pe, const char* call, CmiInt8 size) noexcept {
  if (size < 0) [[unlikely]]
    refuse(call, "a message of %lld bytes: a size is not negative", static_cast<long long>(size));
  ph_task_message* message = nullptr;
  require(pe, call, ph_task_alloc(pe.task, static_cast<std::uint64_t>(size), &message));
  ph_task_set_handler(message, pe.dispatch);
  void* const result = message_of(message);
  if (size >= CmiMsgHeaderSizeBytes) [[likely]]
    header_of(result) = {};
  return result;
}

void refuse_message(const char* call, CmiInt8 size, const void* message) noexcept {
  if (message == nullptr) refuse(call, "the message is null");
  if (size < 0)
    refuse(call, "a message of %lld bytes: a size is not negative", static_cast<long long>(size));
  refuse(call, "a message of %lld bytes is smaller than its header of %d",
         static_cast<long long>(size), CmiMsgHeaderSizeBytes);
}

void refuse_pe(const char* call, CmiInt8 pe) noexcept {
  refuse(call, "there is no PE %lld: the job has %u", static_cast<long long>(pe),
         here(call).place.pes);
}

void run_message(Pe& pe, void* message) {
  Header& header = header_of(message);
  const Handler handler = handler_of(pe, header);  // which may register others
  if (header.check != 0 && handler.check != 0 && header.check != handler.check) [[unlikely]]
    expect_same_order(pe, header);
  header.check = 0;
  if (handler.plain != nullptr)
    handler.plain(message);
  else
    handler.extended(message, handler.user);
}

// The token of a thread needs no stack but that of the thread.
void run_message_apart(Pe& pe, void* message) {
  if (header_of(message).handler == pe.token_handler) return run_message(pe, message);
  pe.apart(pe, {[](Pe& own, const Job& job) { run_message(own, job.argument); }, nullptr, message});
}

namespace {

void call_lent(Pe& pe, const Job& job) {
  Lent lent{job.argument, pe.lent};
  pe.lent = &lent;
  reinterpret_cast<CmiHandler>(job.function)(job.argument);
  for (Lent** one = &pe.lent; *one != nullptr; one = &(*one)->outer)
    if (*one == &lent) {
      *one = lent.outer;
      break;
    }
  if (lent.message != nullptr) require(pe, "a done", ph_task_free(pe.task, task_of(lent.message)));
}

}  // namespace

void run_lent(Pe& pe, CmiHandler function, void* message) {
  run_job(pe, {call_lent, reinterpret_cast<void (*)()>(function), message});
}

}  // namespace photon::converse

using photon::converse::here;
using photon::converse::task_of;

void* CmiAlloc(CmiInt8 size) { return photon::converse::allocate(here(__func__), __func__, size); }

void CmiReference(void* message) {
  photon::converse::Pe& pe = here(__func__);
  if (message == nullptr) photon::converse::refuse(__func__, "the message is null");
  photon::converse::require(pe, __func__, ph_task_retain(pe.task, task_of(message)));
}

void CmiFree(void* message) {
  if (message == nullptr) return;
  photon::converse::Pe& pe = here(__func__);
  photon::converse::forget_lent(pe, message);
  photon::converse::require(pe, __func__, ph_task_free(pe.task, task_of(message)));
}

CmiInt8 CmiSize(void* message) {
  if (message == nullptr) photon::converse::refuse(__func__, "the message is null");
  return static_cast<CmiInt8>(ph_task_size(task_of(message)));
}

void CmiInitMsgHeader(void* message, CmiInt8 size) {
  photon::converse::check_message(__func__, size, message);
  photon::converse::header_of(message) = {};
}

int CmiRegisterHandler(CmiHandler handler) {
  return photon::converse::add_handler(__func__, {handler, nullptr, nullptr, 0});
}

int CmiRegisterHandlerEx(CmiHandlerEx handler, void* user) {
  return photon::converse::add_handler(__func__, {nullptr, handler, user, 0});
}

void CmiNumberHandler(int index, CmiHandler handler) {
  photon::converse::change_handler(__func__, index, {handler, nullptr, nullptr, 0});
}

void CmiNumberHandlerEx(int index, CmiHandlerEx handler, void* user) {
  photon::converse::change_handler(__func__, index, {nullptr, handler, user, 0});
}

void CmiSetHandler(void* message, int index) {
  if (message == nullptr) photon::converse::refuse(__func__, "the message is null");
  if (index < 0) photon::converse::refuse(__func__, "there is no handler %d", index);
  photon::converse::header_of(message) = {static_cast<std::uint32_t>(index), 0, 0};
}

int CmiGetHandler(void* message) {
  return static_cast<int>(photon::converse::header_of(message).handler);
}

CmiHandler CmiGetHandlerFunction(void* message) {
  photon::converse::Pe& pe = here(__func__);
  const photon::converse::Handler& handler =
      photon::converse::handler_of(pe, photon::converse::header_of(message));
  if (handler.plain == nullptr)
    photon::converse::refuse(__func__, "handler %d takes a second argument",
                             CmiGetHandler(message));
  return handler.plain;
}

void CmiHandleMessage(void* message) { photon::converse::run_message(here(__func__), message); }
