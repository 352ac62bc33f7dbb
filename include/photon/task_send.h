/**
 * Messages to several PEs, several messages to one, and the end of the whole job: a part of
 * <photon/task.h>, whose words on order, errors and threads hold here too.
 *
 *   group: made -- ph_task_multicast() --> its list goes ahead, once a process --> used, until the
 *          end
 */
#ifndef PHOTON_TASK_SEND_H
#define PHOTON_TASK_SEND_H

#include "rma.h"
#include "task.h"

#ifdef __cplusplus
extern "C" {
#endif

/** PEs, by their numbers, each once, in any order. The library copies what it needs. */
typedef struct ph_task_list {
  size_t size;         /**< sizeof(ph_task_list) of the caller. */
  const uint32_t *pes; /**< May be null if count is 0. */
  size_t count;
} ph_task_list;

enum { PH_TASK_ABORT_BYTES = 200 /**< Most of the words of ph_task_abort(). */ };

/**
 * Give several messages to one PE. To another process they travel as one, so each costs less.
 * Effect:    they are met in this order. To another process they have the order of one message of
 *            their size together, with 64 bytes more for each, which is rounded up to 64: above
 *            `am_carried_max` bytes none with what ph_task_send() sends before or behind them.
 *            Parts of a message that came so share its memory, which is free when the last part
 *            was freed.
 * Ownership: the library's, of all, from PH_OK on; of an error, of none, but as ph_task_send().
 * Status:    as ph_task_send(); PH_ERR_ARGUMENT (null, count 0), PH_ERR_STATE (a message stands
 *            twice), PH_ERR_MEMORY.
 */
PH_API ph_status ph_task_send_many(ph_task_pe *pe, uint32_t to, ph_task_message *const *messages,
                                   size_t count);

/**
 * Send a message for `handler` whose body is these blocks, one behind the other.
 * Ownership: the blocks are copied at the call.
 * Status:    as ph_task_send(); PH_ERR_ARGUMENT (null with bytes, or with a count), PH_ERR_MEMORY.
 */
PH_API ph_status ph_task_send_vector(ph_task_pe *pe, uint32_t to, uint32_t handler,
                                     const ph_const_block *blocks, size_t count);

/**
 * Send a message to each PE of a list, the own one too if it stands there. It goes down a tree of
 * the processes of these PEs, as ph_task_broadcast() does.
 * Flags:     PH_TASK_KEEP.
 * Ownership: the library's, from PH_OK on, but with PH_TASK_KEEP.
 * Status:    as ph_task_broadcast(); PH_ERR_ARGUMENT (list null or of another size, null PEs with a
 *            count, unknown flags, a PE stands twice), PH_ERR_RANK (no such PE).
 */
PH_API ph_status ph_task_send_list(ph_task_pe *pe, const ph_task_list *list,
                                   ph_task_message *message, uint32_t flags);

/**
 * Make a group of PEs, for messages of this PE to all of them.
 * Effect:    local. *group is its number for this PE, and means nothing elsewhere. The list travels
 *            once a process, ahead of the first message to the group.
 * Ownership: the group stays until the end.
 * Status:    PH_ERR_ARGUMENT (null; a PE stands twice), PH_ERR_RANK (no such PE), PH_ERR_MEMORY.
 */
PH_API ph_status ph_task_group(ph_task_pe *pe, const ph_task_list *list, uint32_t *group);

/**
 * Send a message to each PE of a group that this PE has made. Flags and status as
 * ph_task_send_list(); PH_ERR_NOT_FOUND: it has made no such group.
 */
PH_API ph_status ph_task_multicast(ph_task_pe *pe, uint32_t group, ph_task_message *message,
                                   uint32_t flags);

/**
 * End the runs of all PEs of the job. Anywhere, in a handler or outside.
 * Effect:    the runs of this PE end when the task that runs now has returned, and those of the
 *            others when they hear of it, behind what has come there before: each ph_task_run()
 *            that is under way returns, nested ones too, and later ones say PH_ERR_STATE. Tasks
 *            in queues stay unrun. Then the program ends each process as ever, by returning from
 *            `main` and by ph_task_end(). If several PEs call, each PE has the first that it heard.
 * Status:    PH_ERR_MEMORY.
 */
PH_API ph_status ph_task_exit(ph_task_pe *pe, int32_t status);

/** Fills *status with that of ph_task_exit(). PH_ERR_ARGUMENT; PH_ERR_STATE: none was heard of. */
PH_API ph_status ph_task_exit_status(ph_task_pe *pe, int32_t *status);

/**
 * End the whole job at once, with words (at most PH_TASK_ABORT_BYTES; null: none). Does not return.
 * Effect:    this process writes "PE n has aborted the job: words" to stderr and ends by abort().
 *            It tells the others first, each of which does the same when it next looks at the
 *            network; that takes a second at most, and whoever does not hear of it sees a process
 *            die.
 */
PH_API void ph_task_abort(ph_task_pe *pe, const char *text);

#ifdef __cplusplus
}
#endif
#endif
