/**
 * Collective operations: what all members of a team do together.
 *
 *   one-shot:   ph_coll_begin() --> under way --> over: completion
 *   prepared:   ph_coll_prepare() --> idle
 *               idle -- ph_coll_start() --> under way --> over: completion --> idle
 *               idle -- ph_coll_free() --> none
 *
 * Every member of the team begins every operation, with the same kind, root, count, type, operation
 * (or function) and the same of the flags PH_REPRODUCIBLE and PH_COUNTS_FROM_SENDERS. One-shot
 * operations match by their order on the team: the third that one member begins is the third of
 * all. Prepared operations match by the order in which they were prepared; each is started equally
 * often by all members, and different ones may be started in any order.
 *
 * The table shows which buffers a kind has, in elements of `type`, in a team of N members. "At
 * root" means that other members' buffers are not looked at, and may be null. The kinds whose names
 * end in v, and reduce_scatter, have counts of their own and do not look at `count`.
 *
 *   kind                  in                        out
 *   barrier               none                      none
 *   bcast                 none                      count (sent by the root, else received)
 *   reduce                count                     count, at root
 *   allreduce             count                     count
 *   scan, exscan          count                     count
 *   gather                count                     N * count, at root
 *   gatherv               in_counts[0]              out_counts[i] at out_offsets[i], at root
 *   scatter               N * count, at root        count
 *   scatterv              in_counts[i] at           out_counts[0]
 *                         in_offsets[i], at root
 *   allgather             count                     N * count
 *   allgatherv            in_counts[0]              out_counts[i] at out_offsets[i]
 *   alltoall              N * count                 N * count
 *   alltoallv             in_counts[i] at           out_counts[i] at out_offsets[i]
 *                         in_offsets[i]
 *   reduce_scatter_block  N * count                 count
 *   reduce_scatter        sum of in_counts          in_counts[own number]
 *
 * Counts and offsets are arrays of N entries, but for those of which the table names entry 0 alone.
 * Where offsets are null, blocks lie one behind the other. `in` and `out` must not overlap; for
 * one buffer there is PH_IN_PLACE. Member m receives from scan the fold of members 0 to m, and from
 * exscan that of members 0 to m - 1; exscan leaves `out` of member 0 as it is. Of
 * reduce_scatter(_block) member m receives block m of the fold.
 *
 * This table shows the operations by which a type (PH_...) can be folded. A function of the
 * program's own (ph_fold) takes any type.
 *
 *   INT8 ... INT64, UINT8 ... UINT64      ADD, MULTIPLY, MIN, MAX, AND, OR, XOR,
 *                                         LOGICAL_AND, LOGICAL_OR, LOGICAL_XOR
 *   HALF, BFLOAT16, FLOAT, DOUBLE,        ADD, MULTIPLY, MIN, MAX,
 *   LONG_DOUBLE                           LOGICAL_AND, LOGICAL_OR, LOGICAL_XOR
 *   COMPLEX_FLOAT, COMPLEX_DOUBLE,
 *   COMPLEX_LONG_DOUBLE                   ADD, MULTIPLY
 *   FLOAT_INT, DOUBLE_INT, INT32_INT,
 *   INT64_INT                             MINLOC, MAXLOC
 *   BYTES                                 none: by a function alone
 *
 * Completion: an operation tells its end in one of these ways.
 *   - by a request, if `request` is not null (request.h). It is PH_REQUEST_NONE if the operation
 *     was over when the call returned; ph_wait_request() and ph_test() then say PH_OK at once, and
 *     ph_wait_any() passes over it.
 *   - by a handler, if `handler` is not null;
 *   - by nothing, with the flag PH_NO_LCE;
 *   - else by the id `local`, probed as PH_LOCAL with this rank as its peer.
 * When an operation has completed, also with an error, no live member touches this member's buffers
 * any more. It says nothing about other members: a root may be done before others have begun.
 * Promises: every member gets the same bits, and gets them again on every run with the same team
 * and buffers. With PH_REPRODUCIBLE they are the bits of a loop over the members in team order, for
 * each element, whatever the size, the transport and the placement of ranks on hosts. A function
 * that does not commute is applied in team order.
 * Failure: a member that dies ends each operation under way of its team, at each member that has
 * not completed it, with PH_ERR_PEER; one that leaves (ph_finalize()) ends those that need more of
 * it, with PH_ERR_DEPARTED. Later operations are refused. So a member that is done, such as the
 * root of a bcast, must not leave before the others have begun: let a barrier be the last operation
 * of a program.
 * Mistakes: members that begin different operations as the same one hear of it by PH_ERR_ARGUMENT,
 * in words that name both, when a message of the one meets the other. Members that wait for each
 * other without any message (two that each take the other for the root of a bcast) may wait for
 * ever, unless the setting coll_check is on.
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
 * Given instead of a buffer: input and result share one. Each member may choose for itself. As
 * `in`:
 *   - of allreduce, scan, exscan, and of reduce at the root: the input stands in `out`, and is
 *     replaced by the result;
 *   - of reduce_scatter(_block): the same. `out` has room for the whole input then; the result
 *     stands at its beginning, and what is behind it is undefined;
 *   - of allgather(v), and of gather(v) at the root: this member's own block stands in `out`
 *     already, at its place;
 *   - of alltoall(v): `out` holds what is sent, and each block is replaced by the one that its
 *     member sends. out_counts and out_offsets say where; in_counts and in_offsets are not used.
 * As `out`, of scatter(v) at the root: this member's own block stays where it is, in `in`.
 */
#define PH_IN_PLACE ((void *)(intptr_t)-1)

/** Flag of the kinds that fold: the bits are those of a loop over the members in team order. */
#define PH_REPRODUCIBLE 0x10000U

/**
 * Flag of alltoallv, allgatherv, gatherv: receivers need not know the counts. When the operation
 * begins, out_counts[i] says for how many elements of member i there is room in `out`; when it has
 * completed, how many came. The array must stay until then. A member that sends more than there is
 * room for ends the operation with PH_ERR_ARGUMENT. All members give the flag, or none. With
 * PH_IN_PLACE out_counts[i] of alltoallv is also how many elements are sent to member i.
 */
#define PH_COUNTS_FROM_SENDERS 0x20000U

/**
 * A fold of the user's: out[i] = left[i] op right[i] for `count` elements. `left` comes from
 * members that stand before those of `right` in team order (unless it commutes). `out` may be
 * `left` or `right`. The function must not call Photon. It runs in any thread that makes progress,
 * under the lane's lock. A provider (coll_provider.h) calls it without that lock, so that it may
 * run in two threads at once. An exception that it throws (C++) fails the operation with
 * PH_ERR_ARGUMENT at this member, and at all that have not completed it.
 */
typedef void (*ph_fold_function)(void *user, const void *left, const void *right, void *out,
                                 uint64_t count);

/** An operation of the user's. */
typedef struct ph_fold {
  size_t size; /**< sizeof(ph_fold) of the caller. */
  ph_fold_function function;
  void *user;
  uint64_t element_bytes; /**< Size of an element where the type is PH_BYTES; else 0. */
  int commutes;           /**< Not 0: the members' order does not matter. */
} ph_fold;

/**
 * A completion handler. It is run by a thread that is inside a call which makes progress, at the
 * end of that call, without any lock, and never inside the call that began the operation. It may
 * begin the next operation. It must not wait for one: while it runs no other handler, and no
 * provider (coll_provider.h), runs on that context or lane.
 */
typedef void (*ph_coll_handler)(void *user, ph_status status);

/** One operation. Zero what you do not use. */
typedef struct ph_coll_args {
  size_t size; /**< sizeof(ph_coll_args) of the caller. */
  ph_coll_kind kind;
  uint32_t root; /**< A member's number. */
  const void *in;
  void *out;
  uint64_t count;              /**< Elements; the table above says of which buffer. */
  const uint64_t *in_counts;   /**< The call copies it, as it does both arrays of offsets. */
  const uint64_t *in_offsets;  /**< In elements. */
  uint64_t *out_counts;        /**< Copied, too; with PH_COUNTS_FROM_SENDERS also written. */
  const uint64_t *out_offsets; /**< In elements. */
  ph_type type;                /**< Of the elements; not used by barrier. */
  ph_op op;                    /**< Of the kinds that fold, unless `fold` is given. */
  const ph_fold *fold;         /**< Given instead of `op`; the call copies it. */
  uint32_t flags;              /**< PH_REPRODUCIBLE, PH_COUNTS_FROM_SENDERS, PH_NO_LCE. */
  uint32_t reserved;           /**< 0 */
  ph_id local;                 /**< One of the ways to tell the end ("Completion" above). */
  ph_request *request;         /**< Another one: where the request is written. */
  ph_coll_handler handler;     /**< Another one: what is called. */
  void *user;                  /**< The first argument of `handler`. */
} ph_coll_args;

/**
 * Begin an operation.
 * Ownership:  buffers are the library's until the completion; args and all arrays that it names are
 *             read before this returns, but for out_counts with PH_COUNTS_FROM_SENDERS.
 * Status:     PH_OK. PH_AGAIN: nothing was begun, for as many operations of the team are under way
 *             as the setting coll_window allows, or as many requests as the setting `requests`:
 *             make progress (ph_probe(), ph_test()), then call again. PH_ERR_ARGUMENT: the words of
 *             the error name the argument. PH_ERR_PEER, PH_ERR_DEPARTED: a member has died, or has
 *             left. PH_ERR_STATE: a split of the team is under way, or the context is finalized.
 *             PH_ERR_MEMORY; PH_ERR_FORKED.
 *             The completion of an operation that has begun may have PH_ERR_ARGUMENT: another
 *             member has begun another operation; or PH_ERR_PEER, PH_ERR_DEPARTED, PH_ERR_MEMORY.
 * Threads:    any, but one at a time for each team: the caller sees to the order. Never blocks.
 */
PH_API ph_status ph_coll_begin(ph_team *team, const ph_coll_args *args);

/**
 * Begin an operation and wait for its end.
 * Effect:     as ph_coll_begin() without a completion: args->local and args->handler must not be
 *             set. With a time limit args->request must be; with PH_FOREVER it may be null.
 * Status:     how the operation ended, or why it was not begun. PH_TIMEOUT: it goes on, and
 *             *args->request names it from now on, as if ph_coll_begin() had begun it. In all other
 *             cases *args->request is PH_REQUEST_NONE.
 * Threads:    as ph_coll_begin(). Sleeps as ph_wait() does, at most timeout_us (0: one look).
 */
PH_API ph_status ph_coll_run(ph_team *team, const ph_coll_args *args, int64_t timeout_us);

/** A prepared operation. Opaque. */
typedef struct ph_coll ph_coll;

/**
 * Prepare an operation that will be started many times. Local: no message is sent.
 * Effect:     all that ph_coll_begin() would reserve is reserved. The buffers are read and written
 *             by each start, and args->request is written by each start; both must live as long.
 * Status:     as ph_coll_begin(), but never PH_AGAIN.
 * Threads:    as ph_coll_begin(). Never blocks.
 */
PH_API ph_status ph_coll_prepare(ph_team *team, const ph_coll_args *args, ph_coll **coll);

/**
 * Start a prepared operation, with the completion that its args named.
 * Status:     as ph_coll_begin(). PH_ERR_STATE: it is under way from an earlier start. From the
 *             second start on nothing is allocated.
 * Threads:    as ph_coll_begin(). Never blocks.
 */
PH_API ph_status ph_coll_start(ph_coll *coll);

/**
 * Give a prepared operation other arguments, from its next start on. Local: no message is sent.
 * Effect:     it keeps its place in the order of ph_coll_prepare(). All members must have changed
 *             it alike before they start it together. So an operation can be prepared for its place
 *             in the order before its arguments are known.
 * Status:     as ph_coll_prepare(). After an error the old arguments stay. PH_ERR_STATE: it is
 *             under way.
 */
PH_API ph_status ph_coll_change(ph_coll *coll, const ph_coll_args *args);

/** Free a prepared operation. Local. PH_ERR_STATE: it is under way. PH_OK also for null. */
PH_API ph_status ph_coll_free(ph_coll *coll);

/**
 * The name of algorithm number `index`, from 0 on, of those that can do a kind; the setting
 * coll_<kind> takes these names. Null: there are no more. The text is never freed. Threads: any.
 */
PH_API const char *ph_coll_algorithm_at(ph_coll_kind kind, size_t index);

/** An operation of which ph_coll_choice() tells the algorithm. Zero what you do not use. */
typedef struct ph_coll_question {
  size_t size; /**< sizeof(ph_coll_question) of the caller. */
  ph_coll_kind kind;
  uint32_t members;
  uint64_t size_bytes;    /**< Of `count` elements; kinds with counts of their own ignore it. */
  uint32_t flags;         /**< PH_REPRODUCIBLE, PH_COUNTS_FROM_SENDERS. */
  uint32_t several_hosts; /**< Not 0: the members are on several hosts, and all know which. */
  uint32_t keeps_order;   /**< Not 0: it folds by a function that does not commute. */
  uint32_t reserved;      /**< 0 */
} ph_coll_question;

/** The algorithm of an operation, and who has chosen it. The texts are never freed. */
typedef struct ph_coll_answer {
  size_t size;           /**< sizeof(ph_coll_answer) of the caller. */
  const char *algorithm; /**< The one that is taken. */
  const char *wanted; /**< The one that was chosen; another than `algorithm` if it cannot do it. */
  const char *source; /**< Who has chosen `wanted`: "setting", "table" (coll_table), "built-in". */
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
