// Sends, priorities and the loop.
#include <optional>

#include "task/api/checks.hpp"
#include "task/run/relay.hpp"
#include "task/run/sends.hpp"

using photon::task::is_held;
using photon::task::is_here;
using photon::task::Message;
using photon::task::no_pe;
using photon::task::of;
using photon::task::Pe;
using photon::task::refuse;
using photon::task::told;

namespace photon::task {

ph_status tell_failed(Pe& pe, const char* call, ph_status status) noexcept {
  if (status == PH_ERR_MEMORY) return pe.fail(status, "%s: no memory for a copy", call);
  const char* what = is_lost(status) ? "the target's process is lost, and what was sent was freed"
                                     : "nothing was sent, and the message is still the caller's";
  return pe.fail(status, "%s: %s: %s", call, what, ph_status_text(status));
}

ph_status no_pe(Pe& pe, const char* call, uint32_t to) noexcept {
  return pe.fail(PH_ERR_RANK, "%s: there is no PE %u: the job has %u", call, to,
                 pe.shared().pes_of_job());
}

namespace {

PriorityKind kind_of(ph_task_strategy strategy) noexcept {
  switch (strategy) {
    case PH_TASK_INT_FIFO:
    case PH_TASK_INT_LIFO: return PriorityKind::number;
    case PH_TASK_LONG_FIFO:
    case PH_TASK_LONG_LIFO: return PriorityKind::long_number;
    case PH_TASK_BITS_FIFO:
    case PH_TASK_BITS_LIFO: return PriorityKind::bit_vector;
    case PH_TASK_FIFO:
    case PH_TASK_LIFO: break;
  }
  return PriorityKind::none;
}

bool is_known(ph_task_strategy strategy) noexcept {
  return strategy >= PH_TASK_FIFO && strategy <= PH_TASK_LONG_LIFO;
}

PriorityQueue::Place place_of(ph_task_strategy strategy) noexcept {
  return strategy % 2 == 0 ? PriorityQueue::Place::fifo : PriorityQueue::Place::lifo;
}

}  // namespace

ph_status read_priority(Pe& pe, const char* call, const ph_task_priority* priority,
                        Turn& turn) noexcept {
  if (priority == nullptr || !is_known(priority->strategy))
    return pe.fail(PH_ERR_ARGUMENT, "%s: priority is null, or its strategy is unknown", call);
  const std::optional<Priority> order =
      priority_of(kind_of(priority->strategy), priority->bits, priority->value);
  if (!order)
    return pe.fail(PH_ERR_ARGUMENT,
                   "%s: %u bits do not fit strategy %d: an int has 32, a long 64, none 0, and a "
                   "vector at most %u",
                   call, priority->bits, static_cast<int>(priority->strategy), kMostPriorityBits);
  turn.priority = *order;
  turn.place = place_of(priority->strategy);
  return PH_OK;
}

}  // namespace photon::task

namespace {

ph_status enqueue(Pe& pe, const char* call, ph_task_message* message,
                  const ph_task_priority* priority, bool is_of_process) noexcept {
  if (!is_here(pe, call)) return PH_ERR_STATE;
  if (!is_held(message)) return refuse(pe, call, message);
  photon::task::Turn turn{.is_of_process = is_of_process};
  if (const ph_status status = photon::task::read_priority(pe, call, priority, turn);
      status != PH_OK)
    return status;
  const ph_status status = photon::task::enqueue(pe, of(message), turn);
  if (status == PH_OK) [[likely]]
    return status;
  return pe.fail(status, "%s: no memory for a copy, or for the priority queue", call);
}

}  // namespace

ph_status ph_task_send(ph_task_pe* pe, uint32_t to, ph_task_message* message) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  Pe& one = of(pe);
  if (!is_here(one, "ph_task_send")) return PH_ERR_STATE;
  if (to >= one.shared().pes_of_job()) return no_pe(one, "ph_task_send", to);
  if (!is_held(message)) return refuse(one, "ph_task_send", message);
  return told(one, "ph_task_send", photon::task::send(one, to, of(message)));
}

ph_status ph_task_send_copy(ph_task_pe* pe, uint32_t to, const ph_task_message* message) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  Pe& one = of(pe);
  if (!is_here(one, "ph_task_send_copy")) return PH_ERR_STATE;
  if (to >= one.shared().pes_of_job()) return no_pe(one, "ph_task_send_copy", to);
  if (!is_held(message)) return refuse(one, "ph_task_send_copy", message);
  return told(one, "ph_task_send_copy", photon::task::send_copy(one, to, of(message)));
}

ph_status ph_task_send_node(ph_task_pe* pe, uint32_t process, ph_task_message* message) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  Pe& one = of(pe);
  if (!is_here(one, "ph_task_send_node")) return PH_ERR_STATE;
  if (process >= one.shared().processes)
    return one.fail(PH_ERR_RANK, "ph_task_send_node: there is no process %u: the job has %u",
                    process, one.shared().processes);
  if (!is_held(message)) return refuse(one, "ph_task_send_node", message);
  return told(one, "ph_task_send_node", photon::task::send_node(one, process, of(message)));
}

ph_status ph_task_broadcast(ph_task_pe* pe, ph_task_message* message, uint32_t flags) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  Pe& one = of(pe);
  if (!is_here(one, "ph_task_broadcast")) return PH_ERR_STATE;
  if ((flags & ~(PH_TASK_WITH_SELF | PH_TASK_TO_PROCESSES | PH_TASK_KEEP)) != 0)
    return one.fail(PH_ERR_ARGUMENT, "ph_task_broadcast: unknown flags 0x%x", flags);
  if (!is_held(message)) return refuse(one, "ph_task_broadcast", message);
  const ph_status status = photon::task::broadcast(one, of(message), flags & ~PH_TASK_KEEP);
  if (status == PH_OK && (flags & PH_TASK_KEEP) == 0) one.pool().free(of(message));
  return told(one, "ph_task_broadcast", status);
}

ph_status ph_task_enqueue(ph_task_pe* pe, ph_task_message* message,
                          const ph_task_priority* priority) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  return enqueue(of(pe), "ph_task_enqueue", message, priority, false);
}

ph_status ph_task_enqueue_node(ph_task_pe* pe, ph_task_message* message,
                               const ph_task_priority* priority) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  return enqueue(of(pe), "ph_task_enqueue_node", message, priority, true);
}

ph_status ph_task_run(ph_task_pe* pe, int64_t count, uint64_t* ran) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  Pe& one = of(pe);
  if (ran != nullptr) *ran = 0;
  if (!is_here(one, "ph_task_run")) return PH_ERR_STATE;
  if (one.exit_status())
    return one.fail(PH_ERR_STATE,
                    "ph_task_run: ph_task_exit() has ended the runs of this job: call "
                    "ph_task_end(), or return from main");
  const std::uint64_t tasks = one.run(count);
  if (ran != nullptr) *ran = tasks;
  return PH_OK;
}

ph_status ph_task_stop(ph_task_pe* pe) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  Pe& one = of(pe);
  if (!is_here(one, "ph_task_stop")) return PH_ERR_STATE;
  if (one.stop()) return PH_OK;
  return one.fail(PH_ERR_STATE,
                  "ph_task_stop: no ph_task_run() is under way: call it in a handler");
}
