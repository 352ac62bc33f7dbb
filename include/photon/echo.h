/**
 * Echo: asks the library at a rank to answer, whatever its application does with its ids. It says
 * how far away that library is, and whether the rank still makes progress; and it is the smallest
 * service that stands on the engine (docs/adding-a-service.md).
 *
 *   ph_echo() -- the rank makes progress --> answered -- ph_echo_answer() --> taken
 *
 * An answer needs no call of the other application but one that makes progress (any probe, test or
 * wait, or its progress thread). It takes no ledger slot and no completion of either side.
 * Order: answers to ph_echo() of one rank come in the order of the calls, and so do those to
 * ph_echo_body(), and what ph_echo_tell() says.
 */
#ifndef PHOTON_ECHO_H
#define PHOTON_ECHO_H

#include "rma.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  PH_ECHO_MOST_ASKED = 65536, /**< Answers that one lane may have under way or untaken. */
  PH_ECHO_MOST_BODIES = 64,   /**< Bodies under way to one rank. */
  PH_ECHO_MOST_TOLD = 16384   /**< Values told to one rank that its handler has not been run for. */
};

/** One answer. */
typedef struct ph_echo_result {
  ph_rank rank;     /**< Who was asked. */
  ph_status status; /**< PH_OK, or why there is none: PH_ERR_PEER, PH_ERR_DEPARTED ... */
  uint64_t value;   /**< Of ph_echo(): what was sent. Of ph_echo_body(): the caller's. */
  uint64_t sum;     /**< Of ph_echo_body(): of the bytes, as they arrived (ph_echo_sum()). */
} ph_echo_result;

/**
 * Asks `rank` to send `value` back. Never blocks; the fast path allocates nothing.
 * Status: PH_OK: ph_echo_answer() will tell, with an error if the rank is lost first. PH_AGAIN:
 * nothing was sent: there is no room in the ring, or PH_ECHO_MOST_ASKED answers are under way. As
 * for any first contact: PH_ERR_RANK, PH_ERR_PEER, PH_ERR_DEPARTED, PH_ERR_NOT_FOUND. PH_ERR_STATE
 * after ph_finalize().
 * Threads: any.
 */
PH_API ph_status ph_echo(ph_context *context, ph_rank rank, uint64_t value);

/**
 * Sends a body of 1 or more bytes, which its target adds up. It stays yours, unchanged until the
 * answer. `value` comes back with it.
 * Status: as ph_echo(); PH_AGAIN also when PH_ECHO_MOST_BODIES are under way to that rank;
 * PH_ERR_ARGUMENT: no bytes, or null. An answer with PH_ERR_ARGUMENT: the memory was gone before
 * all of it was sent.
 */
PH_API ph_status ph_echo_body(ph_context *context, ph_rank rank, ph_const_block body,
                              uint64_t value);

/**
 * Makes progress and takes an answer if there is one: PH_OK; else PH_AGAIN, and `result` is
 * unchanged. PH_ERR_ARGUMENT: `result` is null. Never blocks. Threads: any; each answer is taken
 * once.
 */
PH_API ph_status ph_echo_answer(ph_context *context, ph_echo_result *result);

/**
 * The same, but it waits: PH_TIMEOUT after `timeout_us`, PH_FOREVER: never. Where nothing was asked
 * it waits all the same: another thread may ask.
 */
PH_API ph_status ph_echo_wait(ph_context *context, ph_echo_result *result, int64_t timeout_us);

/** The function that ph_echo_listen() runs. It may post, probe and wait. It can close neither its
 * lane nor the context: PH_ERR_STATE. */
typedef void (*ph_echo_handler)(void *user, ph_rank from, uint64_t value);

/**
 * From now on `handler` is run for each value that comes by ph_echo_tell(): by a thread that is
 * inside a call of this lane which makes progress, at the end of that call, without any lock, one
 * at a time, in the order of the sender's calls. Null: values are dropped again, as they are before
 * the first call. Values that have come before a change of the handler go to the new one.
 * PH_ERR_STATE after ph_finalize(), which runs no handler.
 */
PH_API ph_status ph_echo_listen(ph_context *context, ph_echo_handler handler, void *user);

/**
 * Sends `value` to the handler of `rank`. Nothing comes back. Status: as ph_echo(); PH_AGAIN also
 * when PH_ECHO_MOST_TOLD values to that rank wait for its handler: there is room again when a call
 * of its application has begun to run the handler for them, and this rank makes progress. Where
 * nobody listens they are dropped, and none waits.
 */
PH_API ph_status ph_echo_tell(ph_context *context, ph_rank rank, uint64_t value);

/** What ph_echo_body() is answered with: for comparison. */
PH_API uint64_t ph_echo_sum(ph_const_block body);

#ifdef __cplusplus
}
#endif

#endif
