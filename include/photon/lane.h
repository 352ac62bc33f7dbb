/**
 * Lanes: for each thread that wants it rings, queues and a lock of its own. A lane is used through
 * a handle like a context's: every call of rma.h, request.h, atomic.h and memory.h takes it.
 *
 *   ph_lane_open -> [running] -- ph_lane_close, or ph_finalize of the context --> [closed]
 *
 * Lane n of a rank talks with lane n of every other rank, and with no other: what is put by it is
 * probed there by it. Order, ledgers, requests, fences and errors are each lane's own; between two
 * lanes nothing is ordered. Lane 0 is the context itself.
 *
 * What ph_register() and ph_alloc() expose is common to all lanes of a context, by whichever it
 * was exposed; a ph_region serves on all of them, and may be taken back by any.
 */
#ifndef PHOTON_LANE_H
#define PHOTON_LANE_H

#include "context.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Open lane `number` (not 0) of this rank.
 * Effect:     *lane is a handle for every call but ph_allgather(), ph_barrier(), ph_finalize() and
 *             ph_lane_open(), which are the context's: PH_ERR_ARGUMENT. Not collective: peers open
 *             theirs when they like, and what was sent to one not yet open waits for it (64
 *             messages of each rank for all such lanes). At most
 *             `max_lanes` are open at a time, the context's own included. A number is used once in
 *             the life of a context: after it was closed it is refused.
 * Ownership:  the handle is the caller's until ph_lane_close(); what was not closed goes with
 *             ph_context_destroy().
 * Status:     PH_ERR_STATE (this number is open, or was closed), PH_ERR_MEMORY (max_lanes are
 *             open), PH_ERR_ARGUMENT, PH_ERR_SYSTEM, PH_ERR_FORKED. *lane is null then.
 * Threads:    any, for a short while in the context's own lane. A lane may be used by any number of
 *             threads, as a context may; who uses one alone shares no lock and no cache line with
 *             others. Allocates. With the setting `progress_thread` a lane has a progress thread as
 *             the context has; where none can be started it goes on without, and the log says so.
 */
PH_API ph_status ph_lane_open(ph_context *context, uint32_t number, ph_context **lane);

/**
 * Close a lane: as ph_finalize() does for a context, and free the handle, whatever the status.
 * Effect:     what was accepted is delivered, within `finalize_timeout_ms`; peers take this rank as
 *             departed from the lane (PH_ERR_DEPARTED). Completions not yet probed are discarded.
 *             Registrations stay. Of a lane that ph_finalize() has closed only the handle is freed.
 *             Serves no other lane meanwhile.
 * Status:     as ph_finalize(); words of an error: ph_last_error() of the context. PH_ERR_ARGUMENT:
 *             not a lane. PH_ERR_FORKED: nothing was done.
 * Threads:    one caller; other threads' calls on the lane return PH_ERR_STATE while it lasts, and
 *             none may be in progress when it returns. Blocks.
 */
PH_API ph_status ph_lane_close(ph_context *lane);

/** The number of a lane's handle; 0 for a context or null. Any thread, never blocks. */
PH_API uint32_t ph_lane_of(const ph_context *context);

#ifdef __cplusplus
}
#endif
#endif
