/**
 * A job whose ranks find each other by addresses that the program hands around in its own way: by a
 * file, a socket, a key-value store, a job manager. No call is collective; ranks are met in any
 * order and at any time, and need not all be there.
 *
 *   a rank, seen from another one:
 *   unknown -- ph_connect(), or it begins itself --> known -- first operation --> contacted
 *
 * docs/bootstrap.md, "By addresses", has the rules.
 */
#ifndef PHOTON_ADDRESS_H
#define PHOTON_ADDRESS_H

#include "context.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PH_MAX_ADDRESS_BYTES = 512 /**< Room for any address, also of versions to come. */ };

/** What the program says of the job; the same on all ranks but for the rank. */
typedef struct ph_job {
  size_t size;          /**< sizeof(ph_job) of the caller. */
  ph_rank rank;         /**< This rank, below `ranks_count`; no other process has it, ever. */
  uint32_t ranks_count; /**< Ranks that the job can have, up to 4,194,304; not all need come. */
  const void *secret;   /**< What strangers cannot guess: who has it is believed. */
  size_t secret_bytes;  /**< 16 to 4096. Jobs with different secrets are different jobs. */
} ph_job;

/**
 * Join a job by addresses.
 * Effect:     *context becomes a running rank that knows itself alone. ph_allgather() and
 *             ph_barrier() are PH_ERR_STATE there; all else is as after ph_context_create().
 * Ownership:  as of ph_context_create(). `job` and its secret are read during the call only.
 * Status:     those of ph_context_create(); PH_ERR_ARGUMENT: `job` is no job, or `config` has a
 *             bootstrap as well; PH_ERR_CONFIG: the library was built without libcrypto, or the
 *             transport finds no interface (`tcp_interface`; `transport=shm` needs none).
 * Threads:    any; waits for nobody; allocates.
 */
PH_API ph_status ph_context_join(const ph_job *job, const ph_config *config, ph_context **context,
                                 ph_error *error);

/**
 * This rank's address.
 * Effect:     copied to `address`; *size_bytes is its size, also if `capacity_bytes` is too small.
 *             The same in every call and on every lane. Plain bytes: copy them, send them, keep
 *             them as long as the rank lives. Whoever reads them learns where the rank is, and
 *             nothing of the secret.
 * Ownership:  `address` is the caller's.
 * Status:     PH_OK; PH_ERR_RANGE (`capacity_bytes` is too small: PH_MAX_ADDRESS_BYTES is not);
 *             PH_ERR_ARGUMENT (a null pointer); PH_ERR_STATE (no context of ph_context_join(), or
 *             finalized); PH_ERR_FORKED.
 * Threads:    any; never blocks.
 */
PH_API ph_status ph_address(ph_context *context, void *address, size_t capacity_bytes,
                            size_t *size_bytes);

/**
 * Take the address of another rank.
 * Effect:     operations to that rank are accepted from now on, on all lanes. Nothing is sent: the
 *             rank is contacted when first used, and then learns our address: one side's knowledge
 *             is enough. *rank (may be null) is whose address it was. The same address again, and
 *             our own, change nothing. An error changes nothing, and leaves *rank as it was.
 * Ownership:  `address` is read during the call only.
 * Status:     PH_OK;
 *             PH_ERR_ARGUMENT: these bytes are no address, cut off or damaged, or a null pointer;
 *             PH_ERR_BOOTSTRAP: of another job, another version of the library, a job of another
 *             size, another user, or another one than this rank is known by;
 *             PH_ERR_RANK: of a rank that the job has not;
 *             PH_ERR_CONFIG: on another host, and one of the two has no address for other hosts;
 *             PH_ERR_PEER: of this host, has ended, and one of the two has no address for
 *             other hosts (else only the first message finds that out);
 *             PH_ERR_STATE (no context of ph_context_join(), or finalized), PH_ERR_SYSTEM,
 *             PH_ERR_MEMORY, PH_ERR_FORKED.
 * Threads:    any; never blocks, allocates.
 * Order:      before it, and before that rank has begun itself, operations to it are
 *             PH_ERR_NOT_FOUND and nothing was started; a wait for its completions goes on until
 *             it comes, or the time of the wait is over.
 */
PH_API ph_status ph_connect(ph_context *context, const void *address, size_t size_bytes,
                            ph_rank *rank);

#ifdef __cplusplus
}
#endif
#endif
