/**
 * Providers: collective operations done in another way than the library's own. A provider is a
 * table of functions that stands on public headers alone. It moves the bytes; that operations
 * match, how they are told (ids, requests, handlers), PH_AGAIN, the ends by failures, and
 * ph_coll_free() stay the library's.
 *
 *   registered -- the setting `coll` names it --> chosen, for all teams of the context
 *   of a team:       join() --> its operations --> leave()
 *   of an operation: takes() --> begin() --> advance(), PH_AGAIN --> ... --> over
 *                                            another member has failed --> cancel() --> over
 *
 * Asked is for each kind, of teams of more than one. What a provider does not take the library
 * does. Arguments are checked before, as for the library's own ways: what is shown can be done.
 * Each member also tells the next of the team, by the library, what it has begun, so that members
 * that have called differently hear of it, also where a provider takes only one of the calls.
 *
 * Where it runs: takes() under the lane's lock, where it calls nothing of Photon's and nothing that
 * blocks. All others run outside all locks, at the end of a call that makes progress on the team's
 * context or lane, in the thread that made it, one of them at a time for each context or lane; the
 * progress thread runs none of them. They do not block either.
 * What it may call: anything that does not block, on lanes of its own (ph_lane_open(), at the first
 * join()), and ph_register(), ph_alloc() and their opposites. On the team's own context or lane it
 * posts, probes and waits for nothing: what is probed there is the program's. While one of its
 * operations is under way a thread that waits on the team's context or lane looks at it all the
 * time for 200 microseconds, and then 20,000 times a second, for news of other lanes wake nobody.
 */
#ifndef PHOTON_COLL_PROVIDER_H
#define PHOTON_COLL_PROVIDER_H

#include "coll.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A team, as its provider sees it. Constant, and valid from join() to leave(). */
typedef struct ph_coll_team {
  size_t size;          /**< sizeof(ph_coll_team) of the library. */
  ph_context *context;  /**< The team's: a context or a lane. */
  const ph_rank *ranks; /**< In team order. */
  uint32_t count;
  uint32_t own;    /**< This member's number. */
  uint32_t number; /**< The same at all members; no two teams that share a member have the same. */
  uint32_t reserved;
} ph_coll_team;

/** One operation. From begin() on it is constant, and valid until the operation is over. */
typedef struct ph_coll_call {
  size_t size; /**< sizeof(ph_coll_call) of the library. */
  ph_coll_kind kind;
  uint32_t root;
  uint64_t count; /**< As in ph_coll_args, elements; 0 of kinds with counts of their own. */
  ph_type type;
  ph_op op;               /**< 0: a function of the user's. */
  uint64_t element_bytes; /**< 1 of a barrier. */
  uint32_t flags;         /**< PH_REPRODUCIBLE, PH_COUNTS_FROM_SENDERS */
  int commutes;           /**< 0: a function that is applied in team order. */
  uint32_t team_count;    /**< Members. */
  /* takes() is asked without what follows: members may differ in it. */
  uint32_t digest;  /**< A hash of the call: messages carry it, and another one is a mistake of a
                         member's: PH_ERR_ARGUMENT. */
  uint32_t channel; /**< 0: one-shot operations; else which prepared one. */
  uint32_t
      sequence;   /**< Its number in the channel: with team and channel it names the operation. */
  const void *in; /**< Or PH_IN_PLACE. */
  void *out;      /**< The same, of scatter(v) at the root. */
  /** out[i] = left[i] op right[i] of `count` elements; `out` may be one of them. */
  ph_fold_function fold;
  void *fold_user;
  /* Of gatherv, scatterv, allgatherv, alltoallv and reduce_scatter; else 0 and null. Arrays have
     team_count entries, in elements; those that this member has none of are null: coll.h says which
     it has. Offsets are there wherever counts are. In place, alltoallv has the same ones twice. */
  uint64_t own_count;        /**< Of gatherv, allgatherv: what this member gives; of scatterv: what
                                  it gets; else 0. */
  const uint64_t *in_counts; /**< What goes to each: scatterv at the root, alltoallv,
                                  reduce_scatter. */
  const uint64_t *in_offsets;
  const uint64_t *out_counts; /**< What comes from each, without overlaps: gatherv at the root,
                                   allgatherv, alltoallv. */
  const uint64_t *out_offsets;
  uint64_t *told_counts; /**< PH_COUNTS_FROM_SENDERS, where there are out_counts, which are
                              room then: the provider writes what has come from each other
                              member, and ends with PH_ERR_ARGUMENT where it is more. */
} ph_coll_call;

/** The table. `name` is copied; `user`, and what the functions need, stay until the context or lane
 *  has ended. */
typedef struct ph_coll_provider {
  size_t size;      /**< sizeof(ph_coll_provider) of the caller. */
  const char *name; /**< 1 to 63 bytes; not "default", which is the library's own way. */
  void *user;       /**< The first argument of each function. */
  /** Not 0: the operation is this provider's. It depends only on what it is shown, which is alike
   *  at all members, and on nothing that may change. */
  int (*takes)(void *user, const ph_coll_call *call);
  /** Before the first operation of a team here: *state is whatever the provider keeps of it. Local:
   *  other members may be late. An error fails the operation, and is asked again for the next. */
  ph_status (*join)(void *user, const ph_coll_team *team, void **state);
  /** The team was freed here, or its context ends: free the state. Calls nothing of Photon's. */
  void (*leave)(void *user, void *state);
  /** Begin an operation: *op names it. PH_AGAIN: later. An error ends it, and nothing was begun. */
  ph_status (*begin)(void *user, void *state, const ph_coll_call *call, void **op);
  /** Go on as far as it goes. PH_AGAIN: it is not over. Else it is: no live member touches this
   *  one's buffers any more, and nothing is called for `op` again. An error fails the operation at
   *  all members that have not completed it. A member that has died is the library's to notice:
   *  PH_AGAIN, and cancel() follows. One that has left in order is not: PH_ERR_DEPARTED if more of
   *  it is needed. */
  ph_status (*advance)(void *user, void *state, void *op);
  /** In place of advance() from now on: the operation has failed. PH_OK: it is over, as above.
   *  PH_AGAIN: not yet. When the context or lane ends it comes once, under the lane's lock, and
   *  whatever it says is taken for the end. */
  ph_status (*cancel)(void *user, void *state, void *op);
} ph_coll_provider;

/**
 * Make a provider known to a context or lane, under its name.
 * Effect:     it is used where the setting `coll` is its name. There is none for the whole process,
 *             for there are no globals; so it comes after the context and before its first team.
 * Ownership:  the table is copied. What its functions need is the caller's, until the context or
 *             lane has ended.
 * Status:     PH_OK. PH_ERR_ARGUMENT: the table has another size, lacks a function, or its name is
 *             empty, too long, `default`, or known already. PH_ERR_STATE: there are teams already.
 *             PH_ERR_MEMORY; PH_ERR_FORKED.
 *             A name in `coll` that nobody has registered is an error of the first call that makes
 *             a team: PH_ERR_ARGUMENT, with words that list those known.
 * Threads:    any. Does not block.
 */
PH_API ph_status ph_coll_provider_register(ph_context *context, const ph_coll_provider *provider);

#ifdef __cplusplus
}
#endif
#endif
