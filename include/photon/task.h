/**
 * Message-driven tasks: libphoton_task, a library of its own beside libphoton. A program sends a
 * message to a processing element (PE), and there the handler that the message names runs with it.
 * docs/tasks.md is its design.
 *
 *   message: held by the program -- send, broadcast, enqueue --> queued --> held by the handler
 *            held -- ph_task_free, the last reference --> free
 *
 * A PE is a thread. Process p of a job of k PEs each has the PEs p * k to p * k + k - 1, and all
 * processes have equally many. Every call but ph_task_start() names the PE of the calling thread,
 * and no other thread may make it: sends, runs and stops say PH_ERR_STATE there. Handlers run in
 * ph_task_run() and nowhere else.
 *
 * Order: from one PE to another, messages of at most `am_carried_max` bytes (with the 8 bytes of
 *        their head) that ph_task_send() and ph_task_send_copy() took are met in the order of the
 *        calls; larger ones when all of them is there. Broadcasts, messages to a process and
 *        priorities go ways of their own: between them, and between them and these, there is none.
 *        A send is never refused for want of room: the message waits in its own link.
 * Errors: a status, and ph_task_error() has the words of the latest one of that PE. What a call
 *        refuses remains the caller's, but for PH_ERR_PEER, PH_ERR_DEPARTED and PH_ERR_PROTOCOL:
 *        then the target's process is lost, and the message was freed.
 * A message whose handler was never registered at its target ends that process with words.
 */
#ifndef PHOTON_TASK_H
#define PHOTON_TASK_H

#include "context.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A processing element: one thread that runs tasks. Opaque. */
typedef struct ph_task_pe ph_task_pe;

/** A message. The program never looks into its 32 bytes; its body stands behind them. */
typedef struct ph_task_message ph_task_message;

enum {
  PH_TASK_HEADER_BYTES = 32, /**< From a message to its body, which is 64-byte aligned. */
  PH_TASK_MAX_PES = 254,     /**< PEs of one process. */
  PH_TASK_MAX_HANDLERS = 65536
};

/** ph_task_broadcast(): the calling PE (or process) gets one as well. */
#define PH_TASK_WITH_SELF 1U
/** ph_task_broadcast(): one for each process, which any PE of it runs. */
#define PH_TASK_TO_PROCESSES 2U
/** ph_task_broadcast(): the message stays the caller's. */
#define PH_TASK_KEEP 4U

/** Runs a task. The message is the handler's: it sends it on, keeps it or frees it. */
typedef void (*ph_task_handler)(ph_task_pe *pe, ph_task_message *message, void *user);

/** What a PE's thread runs; see ph_task_start(). */
typedef void (*ph_task_main)(ph_task_pe *pe, void *user);

/** ph_task_config.guards. */
enum { PH_TASK_GUARDS_ON = 0, PH_TASK_GUARDS_OFF = 1, PH_TASK_GUARDS_MOST = 2 };

/** What ph_task_start() takes. Zero what you do not use. */
typedef struct ph_task_config {
  size_t size;             /**< sizeof(ph_task_config) of the caller. */
  ph_context *context;     /**< Null: the library makes one, by `photon`, and ends it. */
  const ph_config *photon; /**< May be null; read during the call only. */
  uint32_t pes;            /**< Of this process; 0: one. */
  uint32_t fifo_most;      /**< Tasks without a priority in a row while one with a priority waits;
                                0: 64. */
  uint64_t pool_bytes;     /**< Most bytes of large free blocks that a PE keeps; 0: 64 MiB. */
  uint64_t arena_bytes;    /**< Most memory of ph_alloc() for messages of this process, each slab
                                of 256 KiB and each larger block one registration; the heap has
                                the rest. 0: 256 MiB. */
  uint64_t cache_bytes;    /**< Most bytes of registrations that a PE keeps (ph_task_keep()); 0:
                                1 GiB. */
  ph_task_main main;       /**< Of the PEs of ranks 1 upward; may be null for one PE. */
  void *user;              /**< Of `main`. */
  uint64_t stack_bytes;    /**< Of a thread; 0: 64 KiB; PH_TASK_STACK_LEAST_BYTES to 2^36. */
  uint32_t guards;         /**< PH_TASK_GUARDS_ON: a page below each stack that must not be touched;
                                PH_TASK_GUARDS_OFF: none; PH_TASK_GUARDS_MOST: none below stacks
                                for whose pages vm.max_map_count has no room. */
} ph_task_config;

/** Who a PE is. */
typedef struct ph_task_place {
  size_t size;                    /**< Set by the caller: sizeof(ph_task_place). */
  uint32_t pe, pes;               /**< Own number, and how many the job has. */
  uint32_t process, processes;    /**< The same of processes. */
  uint32_t rank, pes_per_process; /**< Within the process. */
} ph_task_place;

/** How often what was met; all counts of one PE, since its start. */
typedef struct ph_task_counts {
  size_t size;      /**< Set by the caller: sizeof(ph_task_counts). */
  uint64_t tasks;   /**< Handlers that have returned. */
  uint64_t looks;   /**< At the network and the inbox. */
  uint64_t sleeps;  /**< Times that the PE had nothing to do and waited. */
  uint64_t waited;  /**< Messages that found no room at their send. */
  uint64_t dropped; /**< Messages to or from processes that were lost. */
  /** Of buffers (task_buffer.h). */
  uint64_t operations;      /**< Gets and puts that were begun here. */
  uint64_t turned;          /**< Those of them that the other side was asked to issue. */
  uint64_t stale_dones;     /**< Dones of buffers that were gone. */
  uint64_t cache_hits;      /**< Registrations in kept ranges that were there. */
  uint64_t cache_misses;    /**< Those that had to be made. */
  uint64_t cache_evictions; /**< Those that were given up for others. */
} ph_task_counts;

/**
 * Start the PEs of this process. Collective over all processes.
 * Effect:    *pe is the PE of rank 0, which is the calling thread from now on. Each other PE is a
 *            new thread that runs `main`; when that has returned, the PE serves its peers until the
 *            end. A PE owns a lane of the context, from number 0x54000000 on; lane 0 and its ids
 *            stay the program's.
 * Ownership: a context that the program brings stays its own: it finalizes it after the end, for
 *            messages lie in its memory.
 * Status:    PH_ERR_CONFIG (processes differ in their number of PEs; too few lanes, which the words
 *            name as `max_lanes`; a context with am=threaded), PH_ERR_ARGUMENT, PH_ERR_MEMORY,
 *            PH_ERR_SYSTEM, as ph_context_create(). *pe is null then, and *error (may be null)
 *            says why. An error of one process is an error of all.
 * Threads:   one; blocks until all processes have called.
 */
PH_API ph_status ph_task_start(const ph_task_config *config, ph_task_pe **pe, ph_error *error);

/**
 * End. Called by the PE of rank 0 of each process, outside handlers. Collective over all processes
 * that live.
 * Effect:    waits until `main` has returned on all PEs of this process and all processes have
 *            called or are lost, serving peers; then all is given back, tasks in queues unrun. Runs
 *            no handler. All messages, and *pe, are gone.
 * Status:    PH_OK; PH_ERR_STATE (another PE, or in a handler: nothing was done); as ph_finalize().
 */
PH_API ph_status ph_task_end(ph_task_pe *pe);

/** Fills *shape. PH_ERR_ARGUMENT. */
PH_API ph_status ph_task_shape(const ph_task_pe *pe, ph_task_place *shape);

/** Fills *counts. PH_ERR_ARGUMENT. */
PH_API ph_status ph_task_counters(const ph_task_pe *pe, ph_task_counts *counts);

/**
 * The latest error of this PE; status PH_OK if none. In a thread that is not the PE's: the latest
 * of the calls that were refused for that.
 */
PH_API void ph_task_error(const ph_task_pe *pe, ph_error *error);

/**
 * Give a handler the next number, from 0 on. All PEs of the job register the same ones in the same
 * order; `user` may differ.
 * Status:  PH_ERR_ARGUMENT (null), PH_ERR_MEMORY (PH_TASK_MAX_HANDLERS, or no memory).
 */
PH_API ph_status ph_task_register(ph_task_pe *pe, ph_task_handler handler, void *user,
                                  uint32_t *number);

/**
 * Compare what was registered. Collective over all PEs of the job, outside handlers; a barrier.
 * Effect:  runs no handler; peers are served. Make this call after registering and before sending.
 * Status:  PH_ERR_CONFIG (the PEs of a process differ in a handler, or processes in their number:
 *          on all of them), PH_ERR_PEER, PH_ERR_DEPARTED (a process is lost), PH_ERR_STATE.
 */
PH_API ph_status ph_task_agree(ph_task_pe *pe);

/**
 * Make a message with a body of size_bytes, one reference and handler 0.
 * Status:  PH_ERR_MEMORY, PH_ERR_ARGUMENT. *message is null then.
 */
PH_API ph_status ph_task_alloc(ph_task_pe *pe, uint64_t size_bytes, ph_task_message **message);

/** One reference more: the message is over when each was given up. */
PH_API ph_status ph_task_retain(ph_task_pe *pe, ph_task_message *message);

/**
 * One reference less; any PE of the process may do it. Null is ignored.
 * Status:  PH_ERR_ARGUMENT (no message of the pool), PH_ERR_STATE (it is free, or was given away).
 */
PH_API ph_status ph_task_free(ph_task_pe *pe, ph_task_message *message);

/** The message names its handler itself. Nothing is checked here. */
PH_API void ph_task_set_handler(ph_task_message *message, uint32_t number);
PH_API uint32_t ph_task_handler_of(const ph_task_message *message);
PH_API uint64_t ph_task_size(const ph_task_message *message);
PH_API uint32_t ph_task_source(const ph_task_message *message);

static inline void *ph_task_body(ph_task_message *message) {
  return (char *)message + PH_TASK_HEADER_BYTES;
}

/**
 * Give a message to a PE, which may be the own one.
 * Ownership: the library's, from PH_OK on.
 * Status:    PH_ERR_RANK (no such PE), PH_ERR_ARGUMENT (no message of the pool), PH_ERR_STATE (it
 *            is free, or was given away; the context was finalized), PH_ERR_PEER, PH_ERR_DEPARTED,
 *            PH_ERR_PROTOCOL (that process is lost: the message was freed), PH_ERR_MEMORY. Of any
 *            other error of ph_am_send() the message remains the caller's, too.
 */
PH_API ph_status ph_task_send(ph_task_pe *pe, uint32_t to, ph_task_message *message);

/** The same with a copy: the message stays the caller's. */
PH_API ph_status ph_task_send_copy(ph_task_pe *pe, uint32_t to, const ph_task_message *message);

/** Give a message to a process: the first of its PEs that has time runs it. */
PH_API ph_status ph_task_send_node(ph_task_pe *pe, uint32_t process, ph_task_message *message);

/**
 * Send a message to all other PEs; flags: PH_TASK_WITH_SELF, PH_TASK_TO_PROCESSES, PH_TASK_KEEP.
 * It goes down a tree of processes with four branches. A process that is lost is passed over; what
 * was under way in it then is lost for those below it.
 * Status:  as ph_task_send(), but never PH_ERR_PEER nor PH_ERR_DEPARTED. PH_ERR_MEMORY: nothing was
 *          sent; if memory ends when some have the message, the process ends with words.
 */
PH_API ph_status ph_task_broadcast(ph_task_pe *pe, ph_task_message *message, uint32_t flags);

/** What kind of priority a message is enqueued with, and where among its equals. */
#ifdef __cplusplus
typedef enum ph_task_strategy
    : int { /* any int may stand in it, as in C */
#else
typedef enum ph_task_strategy {
#endif
            PH_TASK_FIFO = 0, /**< No priority: as the int 0. */
            PH_TASK_LIFO = 1,
            PH_TASK_INT_FIFO = 2, /**< An int32_t; smaller ones first. */
            PH_TASK_INT_LIFO = 3,
            PH_TASK_BITS_FIFO =
                4, /**< A bit vector: words of 32 bits, the highest bit of the first first. */
            PH_TASK_BITS_LIFO = 5,
            PH_TASK_LONG_FIFO = 6, /**< An int64_t. */
            PH_TASK_LONG_LIFO = 7
    } ph_task_strategy;

/** A priority. All kinds are one order (docs/tasks.md, "Priorities"). */
typedef struct ph_task_priority {
  ph_task_strategy strategy;
  uint32_t bits;     /**< 0, 32, 64, or those of the vector, at most 65,536. */
  const void *value; /**< At any address. Words beyond the first 64 bits are read until the task
                          has its turn; usually they lie in the message. */
} ph_task_priority;

/**
 * Put a message into the priority queue of this PE.
 * Status:  PH_ERR_ARGUMENT (also: bits that do not fit the strategy), PH_ERR_STATE, PH_ERR_MEMORY.
 */
PH_API ph_status ph_task_enqueue(ph_task_pe *pe, ph_task_message *message,
                                 const ph_task_priority *priority);

/** Put a message into the priority queue of this process, of which all its PEs take. */
PH_API ph_status ph_task_enqueue_node(ph_task_pe *pe, ph_task_message *message,
                                      const ph_task_priority *priority);

/**
 * Run tasks: `count` of them; 0: until nothing is left to do here; below 0: until ph_task_stop().
 * Effect:  an idle PE sleeps. Runs may be nested, in handlers. *ran (may be null): how many.
 * Status:  PH_OK, PH_ERR_ARGUMENT, PH_ERR_STATE (ph_task_exit() has ended the job's runs).
 */
PH_API ph_status ph_task_run(ph_task_pe *pe, int64_t count, uint64_t *ran);

/**
 * The innermost ph_task_run() returns when the task that runs now has returned.
 * Status:  PH_ERR_ARGUMENT, PH_ERR_STATE (none is under way).
 */
PH_API ph_status ph_task_stop(ph_task_pe *pe);

#ifdef __cplusplus
}
#endif

#include "task_buffer.h" /* the rest of it, which needs what stands above */
#include "task_collect.h"
#include "task_program.h"
#include "task_send.h"
#include "task_thread.h"

#endif
