/**
 * Threads of tasks: functions with a stack of their own, which may stop in the middle and go on
 * when somebody awakens them. They belong to <photon/task.h>, which includes this header.
 *
 *   made -- awaken --> ready -- its turn --> running -- its function returns --> over
 *   running -- suspend --> suspended -- awaken --> ready;  running -- yield --> ready
 *   running -- join --> joining -- the other one is over --> ready
 *   made, suspended -- resume --> running, inside of that call
 *   made, ready, suspended, joining -- free, drop --> over
 *
 * A thread belongs to the PE that has made it and never leaves it. Threads of one PE run one at a
 * time, and one runs until it suspends, yields, joins or returns. To be ready is to have a message
 * in a queue of the PE, which ph_task_run() takes as it takes tasks. The modes of the
 * floating-point units are kept for each thread; it begins with those of its maker.
 * A thread may call what a handler may call, ph_task_run() too: the handlers that run there are no
 * part of the thread, and can neither suspend it nor yield.
 * A thread that is not over is freed by an exception through its frames: by ph_task_thread_free(),
 * or at the end of its PE. So a function that a thread may stop in must not be noexcept, nor one
 * that has called it, or the process ends there; and C code that a thread may stop in has to be
 * compiled with -fexceptions, or its frames cannot be left.
 */
#ifndef PHOTON_TASK_THREAD_H
#define PHOTON_TASK_THREAD_H

#include "task.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  PH_TASK_STACK_LEAST_BYTES = 16384,       /**< Of a thread. */
  PH_TASK_THREAD_VARIABLES_BYTES = 1048576 /**< Most bytes of a thread's variables together. */
};

/** Names a thread: plain data that messages may carry. All zero: no thread. */
typedef struct ph_task_thread {
  uint32_t pe;         /**< That has made it. */
  uint32_t number;     /**< Of that PE; an overflow names it. Used again when a thread is over. */
  uint32_t generation; /**< How often it was used. */
} ph_task_thread;

/** What a thread runs. An exception that leaves it ends the process. */
typedef void (*ph_task_thread_function)(ph_task_pe *pe, void *user);

/** What ph_task_thread_create() takes. Zero what you do not use. */
typedef struct ph_task_thread_args {
  size_t size; /**< sizeof(ph_task_thread_args) of the caller. */
  ph_task_thread_function function;
  void *user;           /**< Of `function`. */
  uint64_t stack_bytes; /**< 0: as the config says; PH_TASK_STACK_LEAST_BYTES to 2^36. */
  const ph_task_priority *priority; /**< As ph_task_thread_strategy(); may be null. */
} ph_task_thread_args;

/**
 * Make a thread, which waits to be awakened.
 * Effect:    *thread names it. Stacks are kept for later threads until the end. With guards, which
 *            are on unless the config says otherwise, a thread that overflows its stack ends the
 *            process with its number; each takes two of the mappings that the kernel allows
 *            (vm.max_map_count), and the words of PH_ERR_MEMORY say so. Without guards it is looked
 *            at each switch whether the word below the stack has changed, which ends the process
 *            with the number, too; but an overflow may pass over that word.
 * Ownership: `user` stays the caller's. Bits of a priority are copied.
 * Status:    PH_ERR_ARGUMENT (null; a stack that is too small; bits that do not fit the strategy),
 *            PH_ERR_MEMORY, PH_ERR_STATE (the PE has ended).
 */
PH_API ph_status ph_task_thread_create(ph_task_pe *pe, const ph_task_thread_args *args,
                                       ph_task_thread *thread);

/** The thread that calls; all zero in handlers and outside of ph_task_run(). */
PH_API ph_task_thread ph_task_thread_self(const ph_task_pe *pe);

/**
 * Stop until somebody awakens this thread.
 * Effect:  an awakening by another PE that came too early ends this call at once. A thread that is
 *          freed here leaves its frames by an exception that is not the program's: whoever catches
 *          it with catch (...) has to throw it again.
 * Status:  PH_OK; PH_ERR_STATE: not in a thread.
 */
PH_API ph_status ph_task_thread_suspend(ph_task_pe *pe);

/**
 * Make a thread ready that waits: one that was made, or is suspended.
 * Effect:  of a thread of another PE nothing can be checked here but that PE. The awakening is sent
 *          as messages are. If it finds the thread running or ready there, it is kept and ends the
 *          next suspension; if the thread is over it is counted in `stale_tokens`.
 * Status:  of own threads PH_ERR_STATE (it runs, is ready, joins another one, or is over),
 *          PH_ERR_ARGUMENT (there was no such thread); of all PH_ERR_RANK, PH_ERR_MEMORY, and what
 *          ph_task_send() says of lost processes.
 */
PH_API ph_status ph_task_thread_awaken(ph_task_pe *pe, ph_task_thread thread);

/**
 * Let others run: ready again at once, behind them.
 * Status:  PH_ERR_STATE (not in a thread), PH_ERR_MEMORY: the thread goes on.
 */
PH_API ph_status ph_task_thread_yield(ph_task_pe *pe);

/**
 * Give a thread that waits its turn now: one that was made, or is suspended.
 * Effect:  the call returns when that thread suspends, yields, joins or is over. No queue is asked,
 *          so this is for programs that choose by themselves who runs. A handler may call it, and
 *          code outside of ph_task_run(), and a thread, which runs and does not stop meanwhile.
 * Status:  PH_ERR_STATE (that thread runs, is ready, joins another one, or is over; the PE has
 *          ended), PH_ERR_RANK (a thread of another PE), PH_ERR_ARGUMENT (there was no such
 *          thread).
 */
PH_API ph_status ph_task_thread_resume(ph_task_pe *pe, ph_task_thread thread);

/**
 * Wait in this thread until another thread of the PE is over.
 * Status:  PH_OK, also if it was over before; PH_ERR_STATE (not in a thread; the thread itself, or
 *          one that waits for it), PH_ERR_RANK (a thread of another PE), PH_ERR_ARGUMENT (there was
 *          no such thread).
 */
PH_API ph_status ph_task_thread_join(ph_task_pe *pe, ph_task_thread thread);

/**
 * End a thread that does not run. Needed only where its function shall not return.
 * Effect:  leaves its frames first, in this call, so that destructors of C++ run there.
 * Status:  PH_ERR_STATE (it runs: it ends when its function returns; it is over), PH_ERR_RANK,
 *          PH_ERR_ARGUMENT as ph_task_thread_join().
 */
PH_API ph_status ph_task_thread_free(ph_task_pe *pe, ph_task_thread thread);

/**
 * The same without leaving its frames: no destructor runs there, and what they own stays theirs for
 * ever. For threads whose frames no exception can leave, as those of functions that are noexcept.
 * It must not be inside ph_task_run().
 * Status:  as ph_task_thread_free().
 */
PH_API ph_status ph_task_thread_drop(ph_task_pe *pe, ph_task_thread thread);

/**
 * With which priority a thread of this PE is made ready, from the next time on. Null: none, as at
 * first; then it waits its turn where messages to the own PE do.
 * Status:  PH_ERR_ARGUMENT, PH_ERR_RANK, PH_ERR_STATE (it is over), PH_ERR_MEMORY.
 */
PH_API ph_status ph_task_thread_strategy(ph_task_pe *pe, ph_task_thread thread,
                                         const ph_task_priority *priority);

/**
 * Register a variable of which each thread has its own, zero at first. Threads made before
 * have none. *variable numbers it, on this PE alone.
 * Status:  PH_ERR_ARGUMENT (null, or size 0), PH_ERR_MEMORY (also: more than
 *          PH_TASK_THREAD_VARIABLES_BYTES).
 */
PH_API ph_status ph_task_thread_variable(ph_task_pe *pe, size_t size_bytes, uint32_t *variable);

/**
 * The call returns the address of that variable: inside a thread the thread's own, which lasts
 * until the thread is over; outside of threads the one of the PE, which lasts until the end. The
 * address is a multiple of 16. Null means that there is no such variable; ph_task_error() has the
 * words.
 */
PH_API void *ph_task_thread_value(ph_task_pe *pe, uint32_t variable);

/** Counts of the threads of one PE. */
typedef struct ph_task_thread_counts {
  size_t size;           /**< Set by the caller: sizeof(ph_task_thread_counts). */
  uint64_t threads;      /**< That are not over. */
  uint64_t stacks;       /**< That have memory: of threads, and free ones. */
  uint64_t switches;     /**< Turns of threads. */
  uint64_t stale_tokens; /**< Awakenings of threads that were over. */
} ph_task_thread_counts;

/** Fills *counts. PH_ERR_ARGUMENT. */
PH_API ph_status ph_task_thread_counters(const ph_task_pe *pe, ph_task_thread_counts *counts);

#ifdef __cplusplus
}
#endif
#endif
