/**
 * Requests: operations whose local completion is asked for by name instead of being probed.
 *
 * An operation posted with a place for its request (ph_put_args::request and the like) gives no
 * PH_LOCAL completion; its initiator tests or waits for that request, and nobody else's probe or
 * wait takes it. Everything else about the operation is as without.
 *
 *   none -- posted --> under way -- over --> done -- test, wait --> none
 *     \------ over when the call returns -----------------------/
 *                      under way -- ph_cancel(), nothing has gone --> none
 *
 * A request holds one of the setting `requests` until it was taken: take what you start.
 */
#ifndef PHOTON_REQUEST_H
#define PHOTON_REQUEST_H

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Names one operation of this rank until it was taken; a stale one is told apart. Plain data. */
typedef uint64_t ph_request;

/** No request. What a posting call leaves behind if the operation was over when it returned. */
#define PH_REQUEST_NONE ((ph_request)0)

/** How an operation ended. */
typedef struct ph_result {
  ph_status status;    /**< Of the operation. */
  ph_rank peer;        /**< Its target or source; PH_ANY_RANK for PH_REQUEST_NONE. */
  uint64_t size_bytes; /**< That it moved, where status is PH_OK. */
  size_t index;        /**< ph_wait_any(), ph_wait_some(): which request of the list. */
} ph_result;

/** A caller's array of requests; entries that are PH_REQUEST_NONE are passed over. */
typedef struct ph_request_list {
  ph_request *items;
  size_t count;
} ph_request_list;

/** What ph_cancel() found. */
typedef enum ph_outcome {
  PH_CANCELLED = 0,    /**< Nothing had gone, nothing will; the request is PH_REQUEST_NONE. */
  PH_ALREADY_DONE = 1, /**< It is over: take it as ever. */
  PH_TOO_LATE = 2      /**< It is on its way: it will be over by itself. */
} ph_outcome;

/**
 * Is it over? Makes progress if it is not.
 * Effect:  if it is over, *request becomes PH_REQUEST_NONE and *result (may be null) says how.
 * Status:  PH_AGAIN: not yet. Else the operation's own: PH_OK (also for PH_REQUEST_NONE), or the
 *          error it ended with. PH_ERR_NOT_FOUND: no such request (taken already, by any thread).
 *          PH_ERR_ARGUMENT, PH_ERR_STATE, PH_ERR_FORKED.
 * Threads: any; each request is given to one of them. Never blocks.
 */
PH_API ph_status ph_test(ph_context *context, ph_request *request, ph_result *result);

/**
 * ph_test() that sleeps as ph_wait() does. PH_TIMEOUT after timeout_us (0: one look; PH_FOREVER):
 * the request goes on. It ends by itself when its peer is lost.
 */
PH_API ph_status ph_wait_request(ph_context *context, ph_request *request, ph_result *result,
                                 int64_t timeout_us);

/**
 * Wait until one of the list is over, and take that one: the first in the list if there are more.
 * Status: as ph_wait_request(), of the one that result->index names. PH_ERR_NOT_FOUND with
 *         result->index == list.count: all entries are PH_REQUEST_NONE; else result->index is a
 *         stale entry, and nothing was taken. `result` must not be null.
 */
PH_API ph_status ph_wait_any(ph_context *context, ph_request_list list, ph_result *result,
                             int64_t timeout_us);

/**
 * Wait until at least one of the list is over, and take all that are.
 * Effect: results[0 .. *done) say which and how; `results` has room for list.count.
 * Status: PH_OK if something was taken, whatever the operations ended with; PH_TIMEOUT;
 *         PH_ERR_NOT_FOUND: all entries are PH_REQUEST_NONE, or one is stale (nothing was taken).
 */
PH_API ph_status ph_wait_some(ph_context *context, ph_request_list list, ph_result *results,
                              size_t *done, int64_t timeout_us);

/**
 * Take an operation back, if nothing of it has gone yet: it waits for credit, for its turn or
 * behind a fence. *outcome says what became of it. What is cancelled leaves no bytes and no id
 * anywhere; its source and destination are the caller's again.
 * PH_TOO_LATE of an announcement or of a message to a mailbox that has gone: its peer is asked for
 * it, and the request ends with PH_ERR_NOT_FOUND if that was in time (ph_announce(),
 * ph_mailbox_put()).
 * Status: PH_OK (read *outcome), PH_ERR_NOT_FOUND, PH_ERR_ARGUMENT, PH_ERR_STATE, PH_ERR_FORKED.
 * Threads: any. Never blocks, never makes progress.
 */
PH_API ph_status ph_cancel(ph_context *context, ph_request *request, ph_outcome *outcome);

#ifdef __cplusplus
}
#endif
#endif
