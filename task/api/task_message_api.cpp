// Messages: made, held, freed, described.
#include "task/api/checks.hpp"

using photon::task::Chunk;
using photon::task::chunk_of;
using photon::task::handle;
using photon::task::is_held;
using photon::task::is_here;
using photon::task::Mark;
using photon::task::Message;
using photon::task::of;
using photon::task::Pe;
using photon::task::Pool;
using photon::task::refuse;

namespace photon::task {

ph_status refuse(Pe& pe, const char* call, const ph_task_message* message) noexcept {
  if (message == nullptr) return pe.fail(PH_ERR_ARGUMENT, "%s: message is null", call);
  const Chunk& chunk = chunk_of(of(message));
  if (chunk.mark == Mark::free)
    return pe.fail(PH_ERR_STATE, "%s: the message is free: nobody holds a reference", call);
  if (chunk.mark != Mark::live && chunk.mark != Mark::embedded)
    return pe.fail(PH_ERR_ARGUMENT, "%s: this is no message of ph_task_alloc()", call);
  return pe.fail(PH_ERR_STATE, "%s: the message was given away, and waits for its handler", call);
}

}  // namespace photon::task

ph_status ph_task_alloc(ph_task_pe* pe, uint64_t size_bytes, ph_task_message** message) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  Pe& one = of(pe);
  if (!is_here(one, "ph_task_alloc")) return PH_ERR_STATE;
  if (message == nullptr) return one.fail(PH_ERR_ARGUMENT, "ph_task_alloc: message is null");
  *message = handle(one.pool().alloc(size_bytes));
  if (*message != nullptr) [[likely]]
    return PH_OK;
  return one.fail(PH_ERR_MEMORY, "ph_task_alloc: no memory for a body of %llu bytes",
                  static_cast<unsigned long long>(size_bytes));
}

ph_status ph_task_retain(ph_task_pe* pe, ph_task_message* message) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  if (!is_here(of(pe), "ph_task_retain")) return PH_ERR_STATE;
  if (!is_held(message)) return refuse(of(pe), "ph_task_retain", message);
  chunk_of(enclosing(of(message))).references.add();
  return PH_OK;
}

ph_status ph_task_free(ph_task_pe* pe, ph_task_message* message) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  if (message == nullptr) return PH_OK;
  if (!is_here(of(pe), "ph_task_free")) return PH_ERR_STATE;
  if (!is_held(message)) return refuse(of(pe), "ph_task_free", message);
  if (of(pe).pool().free(of(message)) != Pool::Freed::unheld) return PH_OK;
  return of(pe).fail(PH_ERR_STATE, "ph_task_free: nobody holds a reference to the message");
}

void ph_task_set_handler(ph_task_message* message, uint32_t number) {
  of(message).wire.handler = number;
}

uint32_t ph_task_handler_of(const ph_task_message* message) { return of(message).wire.handler; }

uint64_t ph_task_size(const ph_task_message* message) { return of(message).size_bytes; }

uint32_t ph_task_source(const ph_task_message* message) { return of(message).source; }
