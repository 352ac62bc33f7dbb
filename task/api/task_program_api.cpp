// These calls are for layers above the tasks.
#include <new>

#include "task/api/checks.hpp"
#include "task/run/crew.hpp"

using photon::task::is_here;
using photon::task::of;
using photon::task::Pe;

ph_status ph_task_process_state(ph_task_pe* pe, uint32_t process, ph_contact_state* state) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  Pe& one = of(pe);
  if (!is_here(one, "ph_task_process_state")) return PH_ERR_STATE;
  if (state == nullptr) return one.fail(PH_ERR_ARGUMENT, "ph_task_process_state: state is null");
  *state = PH_PEER_UNKNOWN;
  if (process >= one.shared().processes)
    return one.fail(PH_ERR_RANK, "ph_task_process_state: there is no process %u: the job has %u",
                    process, one.shared().processes);
  if (process == one.shared().process) {
    *state = PH_PEER_CONNECTED;
    return PH_OK;
  }
  const ph_status status = ph_peer_state(one.machine().lane(), process, state);
  if (status == PH_OK) return status;
  return one.fail(status, "ph_task_process_state: the state of process %u is not known: %s",
                  process, ph_status_text(status));
}

ph_status ph_task_tell(ph_task_pe* pe, ph_status status, const char* text) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  if (!is_here(of(pe), "ph_task_tell")) return PH_ERR_STATE;
  return of(pe).fail(status, "%s", text == nullptr ? ph_status_text(status) : text);
}

ph_status ph_task_skip_barriers(ph_task_pe* pe) {
  if (pe == nullptr) return PH_ERR_ARGUMENT;
  Pe& one = of(pe);
  if (!is_here(one, "ph_task_skip_barriers")) return PH_ERR_STATE;
  if (one.rank() == 0)
    return one.fail(PH_ERR_ARGUMENT,
                    "ph_task_skip_barriers: the first PE of a process meets those of the others");
  try {
    one.shared().crew->excuse(one);
    return PH_OK;
  } catch (const std::bad_alloc&) {
    return one.fail(PH_ERR_MEMORY, "ph_task_skip_barriers: no memory");
  }
}
