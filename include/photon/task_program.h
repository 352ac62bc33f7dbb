/**
 * These calls are for layers above the tasks, such as <photon/task.hpp>. This is a part of
 * <photon/task.h>, whose words on errors and threads hold here too.
 */
#ifndef PHOTON_TASK_PROGRAM_H
#define PHOTON_TASK_PROGRAM_H

#include "context.h"
#include "task.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Tells what the lane of this PE knows of a process: whoever waits for an answer of it asks now and
 * then, for a death is no news that wakes a sleeper. The own process is PH_PEER_CONNECTED.
 * Status:  PH_ERR_ARGUMENT (state is null), PH_ERR_RANK (no such process), as ph_peer_state().
 */
PH_API ph_status ph_task_process_state(ph_task_pe *pe, uint32_t process, ph_contact_state *state);

/**
 * Make this the latest error of the PE, so that ph_task_error() has its words. Returns `status`.
 * Status:  PH_ERR_STATE: by another thread than the PE's; nothing was told.
 */
PH_API ph_status ph_task_tell(ph_task_pe *pe, ph_status status, const char *text);

#ifdef __cplusplus
}
#endif
#endif
