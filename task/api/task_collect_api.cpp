// Reductions, barriers, locks, quiescence.
#include <cstring>
#include <new>

#include "task/api/checks.hpp"
#include "task/collect/collect.hpp"
#include "task/run/crew.hpp"

using photon::task::collect_of;
using photon::task::is_held;
using photon::task::is_here;
using photon::task::Lock;
using photon::task::Message;
using photon::task::of;
using photon::task::Pe;
using photon::task::refuse;
using photon::task::Scope;

namespace {

ph_status check(Pe& pe, const char* call, const ph_task_reduction* args) noexcept {
  if (args == nullptr || args->size != sizeof *args || args->merge == nullptr)
    return pe.fail(PH_ERR_ARGUMENT,
                   "%s: args or merge is null, or args->size is not that of the struct", call);
  if ((args->flags & ~PH_TASK_TO_ALL) != 0)
    return pe.fail(PH_ERR_ARGUMENT, "%s: unknown flags 0x%x", call, args->flags);
  if (args->to >= pe.shared().pes_of_job())
    return pe.fail(PH_ERR_RANK, "%s: there is no PE %u: the job has %u", call, args->to,
                   pe.shared().pes_of_job());
  return PH_OK;
}

// With checked arguments.
struct Part {
  Scope scope;
  std::uint64_t fixed_bytes;
  Message& message;
};
ph_status contribute(Pe& pe, const char* call, const ph_task_reduction& args,
                     const Part& part) noexcept {
  const ph_status status = collect_of(pe).reductions.contribute(
      part.scope, args.name, {args.merge, args.user, part.fixed_bytes, args.to, args.flags},
      part.message);
  if (status == PH_OK) return status;
  if (status == PH_ERR_MEMORY) return pe.fail(status, "%s: no memory for a part", call);
  return pe.fail(
      status,
      "%s: a process next to this one in the tree of reductions is lost, and all have to "
      "take part: end the job, or go on without reductions",
      call);
}

ph_status reduce(Pe& pe, const char* call, ph_task_message* message, const ph_task_reduction* args,
                 Scope scope) noexcept {
  if (!is_here(pe, call)) return PH_ERR_STATE;
  if (!is_held(message)) return refuse(pe, call, message);
  const ph_status status = check(pe, call, args);
  return status != PH_OK ? status : contribute(pe, call, *args, {scope, 0, of(message)});
}

Lock& of(ph_task_lock* lock) noexcept { return *reinterpret_cast<Lock*>(lock); }

ph_status in_task(Pe& pe, const char* call) noexcept {
  if (!is_here(pe, call)) return PH_ERR_STATE;
  return pe.task_depth() != 0 ? PH_OK : pe.fail(PH_ERR_STATE, "%s: no task runs", call);
}

}  // namespace

ph_status ph_task_reduce(ph_task_pe* pe, ph_task_message* message, const ph_task_reduction* args) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  return reduce(of(pe), "ph_task_reduce", message, args, Scope::pes);
}

ph_status ph_task_reduce_node(ph_task_pe* pe, ph_task_message* message,
                              const ph_task_reduction* args) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  return reduce(of(pe), "ph_task_reduce_node", message, args, Scope::processes);
}

ph_status ph_task_reduce_struct(ph_task_pe* pe, const ph_task_structure* structure,
                                const ph_task_reduction* args) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  constexpr const char* kCall = "ph_task_reduce_struct";
  Pe& one = of(pe);
  if (!is_here(one, kCall)) return PH_ERR_STATE;
  if (structure == nullptr || structure->data == nullptr || structure->size_bytes == 0)
    return one.fail(PH_ERR_ARGUMENT, "%s: the structure or its data is null, or it has no bytes",
                    kCall);
  if (const ph_status status = check(one, kCall, args); status != PH_OK) return status;
  Message* message = one.pool().alloc(structure->size_bytes);
  if (message == nullptr) return one.fail(PH_ERR_MEMORY, "%s: no memory for a copy", kCall);
  message->wire.handler = structure->handler;
  std::memcpy(photon::task::body_of(*message), structure->data, structure->size_bytes);
  const ph_status status =
      contribute(one, kCall, *args, {Scope::pes, structure->size_bytes, *message});
  if (status != PH_OK) one.pool().free(*message);
  return status;
}

ph_status ph_task_node_barrier(ph_task_pe* pe) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  if (!is_here(of(pe), "ph_task_node_barrier")) return PH_ERR_STATE;
  of(pe).shared().crew->meet(of(pe));
  return PH_OK;
}

ph_status ph_task_barrier(ph_task_pe* pe) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  Pe& one = of(pe);
  if (!is_here(one, "ph_task_barrier")) return PH_ERR_STATE;
  const ph_status status = one.shared().crew->barrier(one);
  if (status == PH_OK) return status;
  return one.fail(status, "ph_task_barrier: not all processes have come: %s",
                  ph_status_text(status));
}

ph_status ph_task_lock_create(ph_task_pe* pe, ph_task_lock** lock) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  Pe& one = of(pe);
  if (!is_here(one, "ph_task_lock_create")) return PH_ERR_STATE;
  if (lock == nullptr) return one.fail(PH_ERR_ARGUMENT, "ph_task_lock_create: lock is null");
  *lock = nullptr;
  try {
    *lock = reinterpret_cast<ph_task_lock*>(collect_of(one).shared.locks.create());
    return PH_OK;
  } catch (const std::bad_alloc&) {
    return one.fail(PH_ERR_MEMORY, "ph_task_lock_create: no memory");
  }
}

ph_status ph_task_lock_destroy(ph_task_pe* pe, ph_task_lock* lock) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  Pe& one = of(pe);
  if (!is_here(one, "ph_task_lock_destroy")) return PH_ERR_STATE;
  const ph_status status = collect_of(one).shared.locks.destroy(reinterpret_cast<Lock*>(lock));
  if (status == PH_ERR_STATE)
    return one.fail(status,
                    "ph_task_lock_destroy: a PE has the lock or waits for it: destroy it when all "
                    "have given it back");
  if (status != PH_OK)
    return one.fail(status, "ph_task_lock_destroy: there is no such lock in this process");
  return PH_OK;
}

ph_status ph_task_lock_acquire(ph_task_pe* pe, ph_task_lock* lock) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  Pe& one = of(pe);
  if (!is_here(one, "ph_task_lock_acquire")) return PH_ERR_STATE;
  if (lock == nullptr) return one.fail(PH_ERR_ARGUMENT, "ph_task_lock_acquire: lock is null");
  if (of(lock).acquire(one.rank()) == PH_OK) return PH_OK;
  return one.fail(PH_ERR_STATE,
                  "ph_task_lock_acquire: PE %u has this lock already, and would wait for itself",
                  one.number());
}

ph_status ph_task_lock_try(ph_task_pe* pe, ph_task_lock* lock) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  Pe& one = of(pe);
  if (!is_here(one, "ph_task_lock_try")) return PH_ERR_STATE;
  if (lock == nullptr) return one.fail(PH_ERR_ARGUMENT, "ph_task_lock_try: lock is null");
  const ph_status status = of(lock).try_acquire(one.rank());
  if (status != PH_ERR_STATE) return status;
  return one.fail(status, "ph_task_lock_try: PE %u has this lock already", one.number());
}

ph_status ph_task_lock_release(ph_task_pe* pe, ph_task_lock* lock) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  Pe& one = of(pe);
  if (!is_here(one, "ph_task_lock_release")) return PH_ERR_STATE;
  if (lock == nullptr) return one.fail(PH_ERR_ARGUMENT, "ph_task_lock_release: lock is null");
  if (of(lock).release(one.rank()) == PH_OK) return PH_OK;
  return one.fail(PH_ERR_STATE, "ph_task_lock_release: PE %u does not have this lock",
                  one.number());
}

ph_status ph_task_quiesce(ph_task_pe* pe, uint32_t handler) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  Pe& one = of(pe);
  if (!is_here(one, "ph_task_quiesce")) return PH_ERR_STATE;
  if (handler >= one.handlers().size())
    return one.fail(PH_ERR_ARGUMENT,
                    "ph_task_quiesce: there is no handler %u: %zu are registered here", handler,
                    one.handlers().size());
  Message* answer = one.pool().alloc(0);
  if (answer != nullptr) {
    answer->wire.handler = handler;
    try {
      collect_of(one).quiescence.ask(*answer);
      return PH_OK;
    } catch (const std::bad_alloc&) {
      one.pool().free(*answer);
    }
  }
  return one.fail(PH_ERR_MEMORY, "ph_task_quiesce: no memory for the answer");
}

ph_status ph_task_set_aside(ph_task_pe* pe) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  const ph_status status = in_task(of(pe), "ph_task_set_aside");
  if (status == PH_OK) ++of(pe).balance().processed;
  return status;
}

// Counted anew, before anything that it sends: so the sums are even only while it waits.
ph_status ph_task_take_up(ph_task_pe* pe) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  const ph_status status = in_task(of(pe), "ph_task_take_up");
  if (status == PH_OK) ++of(pe).balance().created;
  return status;
}
