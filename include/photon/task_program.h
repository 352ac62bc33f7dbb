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

/**
 * From now on no barrier of the process waits for this PE, nor this PE in any. This is for one that
 * has left its program while others may be in barriers of the program. A barrier that waits for
 * this PE alone ends. The PE goes on serving peers where it runs tasks. It cannot be undone.
 * Status:  PH_ERR_ARGUMENT (it is the first PE of its process, which meets those of the others),
 *          PH_ERR_MEMORY (nothing was changed), PH_ERR_STATE (by another thread than the PE's).
 */
PH_API ph_status ph_task_skip_barriers(ph_task_pe *pe);

#ifdef __cplusplus
}
#endif
#endif
