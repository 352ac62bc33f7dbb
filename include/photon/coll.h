/**
 * Collective operations: what all members of a team do together.
 *
 *   one-shot:  ph_coll_begin() --> under way --> over: completion
 *   prepared:  ph_coll_prepare() --> idle -- ph_coll_start() --> under way --> over: completion,
 * idle idle -- ph_coll_free() --> none
 *
 * Every member of the team begins every operation, with the same kind, root, count, type, operation
 * and PH_REPRODUCIBLE. One-shot operations of a team match by their order on it, prepared ones by
 * the order in which they were prepared, and may then be started in any order.
 *
 * Which buffers a kind has, in elements of `type` (N members; "root": only there):
 *
 *   kind                  in                     out
 *   barrier               -                      -
 *   bcast                 -                      count (the root's are sent)
 *   reduce                count                  count at root
 *   allreduce, scan,
 *   exscan                count                  count
 *   gather                count                  N * count at root
 *   gatherv               in_counts[0]           out_counts[i] at out_offsets[i], at root
 *   scatter               N * count at root      count
 *   scatterv              in_counts[i] at        out_counts[0]
 *                         in_offsets[i], at root
 *   allgather             count                  N * count
 *   allgatherv            in_counts[0]           out_counts[i] at out_offsets[i]
 *   alltoall              N * count              N * count
 *   alltoallv             in_counts[i] at ...    out_counts[i] at out_offsets[i]
 *   reduce_scatter_block  N * count              count
 *   reduce_scatter        sum of in_counts       in_counts[own number]
 *
 * Offsets that are null: blocks lie one behind the other. exscan leaves `out` of member 0 as it is.
 *
 * Completion: one of a request (`request` not null; it is PH_REQUEST_NONE if the operation was over
 * when the call returned), a handler, or else the id `local`, probed as PH_LOCAL with this rank as
 * its peer, unless PH_NO_LCE asks for none. When an operation has completed, also with an error, no
 * live member touches this member's buffers any more.
 * Promises: every member gets the same bits, and gets them again on every run with the same team
 * and buffers. PH_REPRODUCIBLE: the bits of a loop over the members in team order, for each
 * element, whatever the size, the transport and the layout. A function that does not commute is
 * applied in team order.
 * Failure: a member that dies or leaves ends each operation under way of its team, at each member
 * that has not completed it, with PH_ERR_PEER or PH_ERR_DEPARTED; later ones are refused by begin.
 * Source: LibPhotonNBC (collectives as cached schedules over put with completion).
 */
#ifndef PHOTON_COLL_H
#define PHOTON_COLL_H

#include "atomic.h"
#include "request.h"
#include "rma.h"
#include "team.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What is done. */
#ifdef __cplusplus
typedef enum ph_coll_kind : int { /* any int may stand in it, as in C */
#else
typedef enum ph_coll_kind {
#endif
                                  PH_COLL_BARRIER = 1,
                                  PH_COLL_BCAST = 2,
                                  PH_COLL_REDUCE = 3,
                                  PH_COLL_ALLREDUCE = 4,
                                  PH_COLL_SCAN = 5,
                                  PH_COLL_EXSCAN = 6,
                                  PH_COLL_GATHER = 7,
                                  PH_COLL_GATHERV = 8,
                                  PH_COLL_SCATTER = 9,
                                  PH_COLL_SCATTERV = 10,
                                  PH_COLL_ALLGATHER = 11,
                                  PH_COLL_ALLGATHERV = 12,
                                  PH_COLL_ALLTOALL = 13,
                                  PH_COLL_ALLTOALLV = 14,
                                  PH_COLL_REDUCE_SCATTER_BLOCK = 15,
                                  PH_COLL_REDUCE_SCATTER = 16
} ph_coll_kind;

/**
 * As `in`: the input stands in `out`, where the result will be: of reduce at the root, allreduce,
 * scan, exscan, reduce_scatter(_block) (whose `out` has room for the whole input then); of
 * gather(v) at the root and allgather(v) the own block stands at its place; of alltoall(v) `out`
 * holds what is sent (out_counts and out_offsets say where), and is replaced.
 * As `out`: of scatter(v) at the root: the own block stays where it is.
 */
#define PH_IN_PLACE ((void *)(intptr_t)-1)

/** Flag: fold in team order, always with the same bits. */
#define PH_REPRODUCIBLE 0x10000U

/**
 * Flag of alltoallv, allgatherv, gatherv: out_counts is room for each source when it begins, and
 * says how many elements came when it is over. All members give it, or none.
 */
#define PH_COUNTS_FROM_SENDERS 0x20000U

/**
 * A fold of the user's: out[i] = left[i] op right[i], where `left` is of members before those of
 * `right`. `out` may be `left` or `right`. It calls nothing of Photon's, and runs in any thread
 * that makes progress, under the lane's lock; for a provider without it, so that it may run in two
 * threads at once. An exception that it throws (C++) fails the operation
 * with PH_ERR_ARGUMENT at this member, and at all that have not completed it.
 */
typedef void (*ph_fold_function)(void *user, const void *left, const void *right, void *out,
                                 uint64_t count);

/** An operation of the user's. */
typedef struct ph_fold {
  size_t size; /**< sizeof(ph_fold) of the caller. */
  ph_fold_function function;
  void *user;
  uint64_t element_bytes; /**< Of PH_BYTES; else 0. */
  int commutes;           /**< Not 0: the members' order does not matter. */
} ph_fold;

/**
 * A completion handler. It is run by a thread that is inside a call which makes progress, at the
 * end of that call, without any lock, and never inside the call that began the operation. It may
 * begin the next one. It does not wait for one: while it runs no other handler, and no provider
 * (coll_provider.h), runs on that context or lane.
 */
typedef void (*ph_coll_handler)(void *user, ph_status status);

/** One operation. Zero what you do not use. */
typedef struct ph_coll_args {
  size_t size; /**< sizeof(ph_coll_args) of the caller. */
  ph_coll_kind kind;
  uint32_t root; /**< A member's number. */
  const void *in;
  void *out;
  uint64_t count;              /**< Elements; see the table. */
  const uint64_t *in_counts;   /**< Copied, as are the two offsets. */
  const uint64_t *in_offsets;  /**< In elements. */
  uint64_t *out_counts;        /**< Copied, but for PH_COUNTS_FROM_SENDERS, which writes them. */
  const uint64_t *out_offsets; /**< In elements. */
  ph_type type;
  ph_op op;
  const ph_fold *fold; /**< Instead of `op`; copied. */
  uint32_t flags;      /**< PH_REPRODUCIBLE, PH_COUNTS_FROM_SENDERS, PH_NO_LCE. */
  uint32_t reserved;   /**< 0 */
  ph_id local;
  ph_request *request;
  ph_coll_handler handler;
  void *user; /**< The handler's. */
} ph_coll_args;

/**
 * Begin an operation.
 * Ownership:  buffers are the library's until the completion; args and all arrays that it names are
 *             read before this returns, but for out_counts with PH_COUNTS_FROM_SENDERS.
 * Status:     PH_OK. PH_AGAIN: nothing was begun (as many operations of the team, or completions,
 *             are under way as may be): make progress, then call again. PH_ERR_ARGUMENT: the error
 *             says which argument. PH_ERR_PEER, PH_ERR_DEPARTED: a member is lost.
 *             PH_ERR_MEMORY; PH_ERR_STATE; PH_ERR_FORKED.
 *             It may complete with PH_ERR_ARGUMENT: another member has begun another operation.
 * Threads:    any; calls of one team are ordered by the caller. Never blocks.
 */
PH_API ph_status ph_coll_begin(ph_team *team, const ph_coll_args *args);

/**
 * Begin an operation and wait for its end.
 * Effect:     as ph_coll_begin() without a completion; local and handler must not be set.
 * Status:     as the operation ended. PH_TIMEOUT: it goes on; *args->request, which must not be
 * null unless timeout_us is PH_FOREVER, names it now, and is PH_REQUEST_NONE otherwise.
 */
PH_API ph_status ph_coll_run(ph_team *team, const ph_coll_args *args, int64_t timeout_us);

/** A prepared operation. Opaque. */
typedef struct ph_coll ph_coll;

/**
 * Prepare an operation that will be started many times. Local: no message is sent.
 * Effect:     all that ph_coll_begin() would reserve is reserved. Buffers are read at each start.
 * Status:     as ph_coll_begin().
 */
PH_API ph_status ph_coll_prepare(ph_team *team, const ph_coll_args *args, ph_coll **coll);

/**
 * Start a prepared operation, with the completion that its args named.
 * Status:     as ph_coll_begin(); PH_ERR_STATE: it is under way. Allocates nothing after the first.
 */
PH_API ph_status ph_coll_start(ph_coll *coll);

/**
 * Give a prepared operation other arguments, from its next start on. Local: no message is sent.
 * Effect:     it keeps its place in the order of `prepare`; members that start it together have
 *             changed it alike. So a place can be kept for what is not known yet.
 * Status:     as ph_coll_prepare(): after an error the old arguments stay. PH_ERR_STATE: it is
 *             under way.
 */
PH_API ph_status ph_coll_change(ph_coll *coll, const ph_coll_args *args);

/** Free a prepared operation. Local. PH_ERR_STATE: it is under way. Null is PH_OK. */
PH_API ph_status ph_coll_free(ph_coll *coll);

/**
 * The algorithms that a kind can be done by, which the setting coll_<kind> may name: number
 * `index`, from 0 on; null: there are no more. Never freed. Threads: any.
 */
PH_API const char *ph_coll_algorithm_at(ph_coll_kind kind, size_t index);

/** What would be done, and by how many. Zero what you do not use. */
typedef struct ph_coll_question {
  size_t size; /**< sizeof(ph_coll_question) of the caller. */
  ph_coll_kind kind;
  uint32_t members;
  uint64_t size_bytes;    /**< count elements; not looked at for kinds with counts of their own. */
  uint32_t flags;         /**< PH_REPRODUCIBLE, PH_COUNTS_FROM_SENDERS. */
  uint32_t several_hosts; /**< Not 0: not all members are on one host, and it is known on which. */
  uint32_t keeps_order;   /**< Not 0: a function that does not commute. */
  uint32_t reserved;      /**< 0 */
} ph_coll_question;

/** How, and why so. The texts are never freed. */
typedef struct ph_coll_answer {
  size_t size;           /**< sizeof(ph_coll_answer) of the caller. */
  const char *algorithm; /**< The one that is taken. */
  const char *wanted;    /**< The same, but where that cannot do such a call. */
  const char *source;    /**< Who wants it: "setting", "table" (coll_table), "built-in". */
} ph_coll_answer;

/**
 * Ask by which algorithm an operation is done. Local.
 * Status:     PH_OK. PH_ERR_ARGUMENT (null, a kind or flag that there is not, no members);
 *             PH_ERR_STATE; PH_ERR_FORKED.
 * Threads:    any. Does not block.
 */
PH_API ph_status ph_coll_choice(ph_context *context, const ph_coll_question *question,
                                ph_coll_answer *answer);

#ifdef __cplusplus
}
#endif
#endif
