/**
 * What PEs do beside and between tasks: timers, conditions, reductions, barriers, locks, and
 * quiescence. A part of <photon/task.h>; docs/tasks.md says how it works.
 *
 *   timer:     armed -- its time has come, once --> over
 *                    -- with a period ------------> armed again, then its function runs
 *                    -- ph_task_cancel() ---------> over
 *   reduction: called on some PEs -- called on all --> merged --> the handler of the result runs
 *   quiesce:   asked -- nothing is left to do in the whole job --> the handler runs, once
 *
 * Functions of timers and conditions, and merge functions, run in ph_task_run() on the thread of
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
#ifdef __cplusplus
typedef enum ph_task_condition
    : int { /* any int may stand in it, as in C */
#else
typedef enum ph_task_condition {
#endif
            PH_TASK_BEGIN_IDLE = 0, /**< Nothing is left to do here. */
            PH_TASK_STILL_IDLE =
                1, /**< Nothing has come since; before each further sleep. A PE that has a
                               function for this sleeps for at most 1 ms at a time. */
            PH_TASK_END_IDLE = 2, /**< A message has come, and is run next. */
            PH_TASK_EACH_LOOP = 3 /**< At each look at the network: after at most 16 tasks. A PE
                               that has a function for this never sleeps: it looks again. */
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

/**
 * Merge the part of this PE with those that were merged elsewhere before, `count` of them, at
 * least one. Returns the result, which is `own`, one of `others`, or a new message. The library
 * frees all others of them. It returns no null, and it frees none of its arguments.
 * The parts of siblings come first, in the order of their ranks, and then those of processes.
 */
typedef ph_task_message *(*ph_task_merge)(ph_task_pe *pe, ph_task_message *own,
                                          ph_task_message **others, uint32_t count, void *user);

/** ph_task_reduction: all PEs get the result; of a reduction over processes one PE of each. */
#define PH_TASK_TO_ALL 1U

/** What ph_task_reduce() and its like take. Zero what you do not use. */
typedef struct ph_task_reduction {
  size_t size; /**< sizeof(ph_task_reduction) of the caller. */
  ph_task_merge merge;
  void *user;     /**< Of `merge`. */
  uint32_t to;    /**< The PE that gets the result. */
  uint32_t flags; /**< PH_TASK_TO_ALL. */
  uint64_t name;  /**< Reductions of different names may be called in different orders. */
} ph_task_reduction;

/**
 * Contribute a message to a reduction over all PEs. Each PE makes the same call.
 * Effect:    the k-th calls of one name on all PEs are one reduction; so many may be under way.
 *            When all have called, the result goes to PE `to`, or to all, where the handler runs
 *            that the result names: give the parts of all PEs the same handler. `merge` runs on
 *            the first PE of each process, once at most. A result may be of another size than its
 *            parts. A name costs memory until ph_task_end(), so use few again and again.
 * Ownership: the message is the library's, from PH_OK on.
 * Status:    PH_ERR_ARGUMENT (args, or what is in it; no message of the pool), PH_ERR_RANK (no PE
 *            `to`), PH_ERR_STATE (the message is free, or was given away), PH_ERR_MEMORY.
 *            PH_ERR_PEER, PH_ERR_DEPARTED: a neighbour of this process in the tree is lost.
 *            After the loss of a process no reduction that was under way need bring a result.
 */
PH_API ph_status ph_task_reduce(ph_task_pe *pe, ph_task_message *message,
                                const ph_task_reduction *args);

/**
 * The same over processes: one PE of each calls, whichever. `merge` runs on the first PE of the
 * process, and so `user` is used by that one. The k-th calls in the processes are one reduction.
 */
PH_API ph_status ph_task_reduce_node(ph_task_pe *pe, ph_task_message *message,
                                     const ph_task_reduction *args);

/** A structure of the program, and the handler of the result. */
typedef struct ph_task_structure {
  const void *data;    /**< Copied at the call. */
  uint64_t size_bytes; /**< At least 1; the same in all calls of a reduction. */
  uint32_t handler;
} ph_task_structure;

/**
 * ph_task_reduce() of a structure. Each part is a message with a copy of it as its body.
 * A part of another size, and a merge function that changes the size, end the process with words.
 */
PH_API ph_status ph_task_reduce_struct(ph_task_pe *pe, const ph_task_structure *structure,
                                       const ph_task_reduction *args);

/**
 * Wait until all PEs of this process have made this call.
 * Effect:    serves the lane of the PE meanwhile and runs nothing. It may be called in a handler:
 *            then the task goes on behind it.
 * Threads:   blocks, and all threads of the PE with it.
 */
PH_API ph_status ph_task_node_barrier(ph_task_pe *pe);

/**
 * The same of all PEs of the job.
 * Status:    PH_ERR_PEER, PH_ERR_DEPARTED: a process is lost. All PEs of this process have called.
 */
PH_API ph_status ph_task_barrier(ph_task_pe *pe);

/** A lock of the PEs of a process. Opaque. */
typedef struct ph_task_lock ph_task_lock;

/**
 * Make a lock. Any PE of the process may use it; it is free.
 * Ownership: ph_task_lock_destroy(), or ph_task_end(), ends it.
 * Status:    PH_ERR_ARGUMENT, PH_ERR_MEMORY.
 */
PH_API ph_status ph_task_lock_create(ph_task_pe *pe, ph_task_lock **lock);

/** Status: PH_ERR_STATE: a PE has it, or waits for it; PH_ERR_ARGUMENT: there is no such lock. */
PH_API ph_status ph_task_lock_destroy(ph_task_pe *pe, ph_task_lock *lock);

/**
 * Wait until no other PE has the lock, and take it.
 * Status:    PH_ERR_STATE: this PE has it already, PH_ERR_ARGUMENT (null).
 * Threads:   sleeps, and does not serve the lane of the PE meanwhile. So a PE should have a lock
 *            for a short time, and neither run tasks nor wait for others while it has one.
 */
PH_API ph_status ph_task_lock_acquire(ph_task_pe *pe, ph_task_lock *lock);

/** The same without waiting: PH_AGAIN: another PE has it. */
PH_API ph_status ph_task_lock_try(ph_task_pe *pe, ph_task_lock *lock);

/** Give the lock back. Status: PH_ERR_STATE: this PE does not have it, PH_ERR_ARGUMENT (null). */
PH_API ph_status ph_task_lock_release(ph_task_pe *pe, ph_task_lock *lock);

/**
 * Have a handler run once on this PE, with a message without a body, when nothing is left to do in
 * the whole job: no task runs, none is queued or under way, and no operation either.
 * Effect:    timers that are armed, threads that nobody has awakened, and what programs do outside
 *            of handlers are not waited for. All PEs of all processes have to be in ph_task_run()
 *            for it. Each call is answered once; several may be open on any PEs. The handlers that
 *            run for them are tasks as well. After the loss of a process it is about those that
 *            live.
 * Status:    PH_ERR_ARGUMENT (no such handler is registered here), PH_ERR_MEMORY.
 */
PH_API ph_status ph_task_quiesce(ph_task_pe *pe, uint32_t handler);

/**
 * Say that the task which runs waits for something now, or that it goes on. It calls them in pairs.
 * Effect:    ph_task_quiesce() does not wait for it in between, as it does not for a thread that is
 *            suspended. For handlers that have others run inside of them, by ph_task_run(), until
 *            one of these brings what they wait for.
 * Status:    PH_ERR_STATE: no task runs.
 */
PH_API ph_status ph_task_set_aside(ph_task_pe *pe);
PH_API ph_status ph_task_take_up(ph_task_pe *pe);

#ifdef __cplusplus
}
#endif
#endif
