/**
 * What PEs do beside tasks: timers and conditions. A part of <photon/task.h>; docs/tasks.md says how it works.
 *
 *   timer:     armed -- its time has come, once --> over
 *                    -- with a period ------------> armed again, then its function runs
 *                    -- ph_task_cancel() ---------> over
 *
 * Functions of timers and conditions run in ph_task_run() on the thread of
 * the PE, between tasks. They may do what a handler may do, and as in a handler the calls that are
 * for outside of handlers are refused there.
 */
#ifndef PHOTON_TASK_COLLECT_H
#define PHOTON_TASK_COLLECT_H

#include "task.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a timer or a condition calls. */
typedef void (*ph_task_function)(ph_task_pe *pe, void *user);

/**
 * Call a function once, when time_us microseconds have passed.
 * Effect:    it runs in ph_task_run() at the first look that the PE takes from then on: an idle PE
 *            wakes for it, and a PE that is inside a task comes to it after that task. Functions
 *            run in the order of their times, those of one time in the order of the calls; one that
 *            is armed with 0 by a function of a timer runs at the next look. A time that is longer
 *            than the clock can tell is never reached.
 *            An armed timer is not waited for by ph_task_quiesce() or ph_task_end().
 * Ownership: `user` stays the caller's. *timer (may be null) is its name, and never 0.
 * Status:    PH_ERR_ARGUMENT (function is null), PH_ERR_MEMORY.
 */
PH_API ph_status ph_task_after(ph_task_pe *pe, uint64_t time_us, ph_task_function function,
                               void *user, uint64_t *timer);

/**
 * Call a function again and again, the first time after period_us microseconds.
 * Effect:    it is armed again before it runs, so it may cancel itself. Where a PE comes too late
 *            for whole periods, these are left out.
 * Status:    as ph_task_after(); PH_ERR_ARGUMENT also where period_us is 0.
 */
PH_API ph_status ph_task_every(ph_task_pe *pe, uint64_t period_us, ph_task_function function,
                               void *user, uint64_t *timer);

/** When a PE calls a function; see ph_task_when(). */
typedef enum ph_task_condition {
  PH_TASK_BEGIN_IDLE = 0, /**< Nothing is left to do here. */
  PH_TASK_STILL_IDLE = 1, /**< Nothing has come since; before each further sleep. A PE that has a
                               function for this sleeps for at most 1 ms at a time. */
  PH_TASK_END_IDLE = 2,   /**< A message has come, and is run next. */
  PH_TASK_EACH_LOOP = 3   /**< At each look at the network: after at most 16 tasks. */
} ph_task_condition;

/**
 * Call a function whenever that holds, until it is cancelled.
 * Effect:    functions of one condition run in the order of the calls. Asking for counts, as
 *            ph_task_quiesce() does, neither begins nor ends idleness.
 * Ownership: `user` stays the caller's. *call (may be null) is its name, and never 0.
 * Status:    PH_ERR_ARGUMENT (function is null, an unknown condition), PH_ERR_MEMORY.
 */
PH_API ph_status ph_task_when(ph_task_pe *pe, ph_task_condition condition,
                              ph_task_function function, void *user, uint64_t *call);

/**
 * Cancel a timer of this PE. It may cancel itself.
 * Status:  PH_ERR_NOT_FOUND: it has run, was cancelled, or is no timer of this PE.
 */
PH_API ph_status ph_task_cancel(ph_task_pe *pe, uint64_t timer);

/** The same with a function of ph_task_when(). */
PH_API ph_status ph_task_cancel_when(ph_task_pe *pe, uint64_t call);

#ifdef __cplusplus
}
#endif
#endif
