/**
 * Providers: collective operations done in another way than the library's own. A provider is a
 * table of functions; it needs public headers alone. It moves the bytes. All else stays the
 * library's: that operations match, how their ends are told (ids, requests, handlers), PH_AGAIN,
 * what happens when members fail, and ph_coll_free(). examples/coll_pwc is a whole provider.
 *
 *   registered -- the setting `coll` names it --> chosen, for all teams of the context
 *   for a team:        join() --> its operations --> leave()
 *   for an operation:  takes() --> begin() --> advance(), PH_AGAIN --> ... --> over
 *                                              another member has failed --> cancel() --> over
 *
 * A provider is asked for each kind, for operations of teams of more than one member. What it does
 * not take the library does itself. Arguments are checked before, as for the library's own ways:
 * what a provider is shown can be done. Each member also tells the next one of the team, by the
 * library, what it has begun; so members that have called differently hear of it, also where a
 * provider takes only one of the calls.
 *
 * Where it runs: takes() runs under the lane's lock, and must neither call Photon nor block. All
 * other functions run outside all locks, at the end of a call that makes progress on the team's
 * context or lane, in the thread that made that call. Only one of them runs at a time for each
 * context or lane; the progress thread runs none of them. They must not block either.
 * What it may call: anything that does not block, on lanes of its own (ph_lane_open(), at the first
 * join()), and ph_register(), ph_alloc() and their opposites. On the team's own context or lane it
 * must not post, probe or wait: what is probed there is the program's.
 * What it costs: news on other lanes wakes nobody. So while one of its operations is under way, a
 * thread that waits on the team's context or lane looks at it all the time for 200 microseconds,
 * and then 20,000 times a second.
 */
#ifndef PHOTON_COLL_PROVIDER_H
#define PHOTON_COLL_PROVIDER_H

#include "coll.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A team, as a provider sees it. It does not change, and is valid from join() to leave(). */
typedef struct ph_coll_team {
  size_t size;          /**< sizeof(ph_coll_team) of the library. */
  ph_context *context;  /**< The context or lane that the team belongs to. */
  const ph_rank *ranks; /**< The members' ranks, in team order. */
  uint32_t count;       /**< Of members. */
  uint32_t own;         /**< This member's number. */
  uint32_t number;      /**< Names the team: the same at all its members, and another one for each
                             team that shares a member with it. */
  uint32_t reserved;
} ph_coll_team;

/** One operation. From begin() on it does not change, and is valid until the operation is over. */
typedef struct ph_coll_call {
  size_t size; /**< sizeof(ph_coll_call) of the library. */
  ph_coll_kind kind;
  uint32_t root;
  uint64_t count; /**< Elements, as in ph_coll_args; 0 for kinds with counts of their own. */
  ph_type type;
  ph_op op;               /**< 0 if a function of the program's folds. */
  uint64_t element_bytes; /**< Size of an element; 1 for a barrier. */
  uint32_t flags;         /**< PH_REPRODUCIBLE, PH_COUNTS_FROM_SENDERS */
  int commutes;           /**< 0: it folds by a function that must be applied in team order. */
  uint32_t team_count;    /**< Members of the team. */
  /* What follows is 0 when takes() is asked, for members may differ in it. */
  /** A hash of the call. The provider's messages carry it: where it differs from the receiver's
   *  own, the members have begun different operations, and the provider says PH_ERR_ARGUMENT. */
  uint32_t digest;
  uint32_t channel;  /**< 0 for one-shot operations; else the number of a prepared one. */
  uint32_t sequence; /**< Counts in the channel. Team, channel and sequence name the operation. */
  const void *in;    /**< May be PH_IN_PLACE. */
  void *out;         /**< May be PH_IN_PLACE, of scatter(v) at the root. */
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

/** A provider's table. `name` is copied; `user`, and all that the functions need, must stay until
 *  the context or lane has ended. */
typedef struct ph_coll_provider {
  size_t size;      /**< sizeof(ph_coll_provider) of the caller. */
  const char *name; /**< 1 to 63 bytes; not "default", which is the library's own way. */
  void *user;       /**< The first argument of each function. */
  /** Whether the provider takes an operation (not 0) or leaves it to the library (0). The answer
   *  must depend only on what the function is shown, which is the same at all members. */
  int (*takes)(void *user, const ph_coll_call *call);
  /** Called before the first operation of a team at this member. It sets *state to whatever the
   *  provider keeps for the team. Other members may not have come so far. An error fails the
   *  operation, and join() is called again before the next one. */
  ph_status (*join)(void *user, const ph_coll_team *team, void **state);
  /** Free the state: the team was freed here, or its context ends. It must not call Photon. */
  void (*leave)(void *user, void *state);
  /** Begin an operation, and set *op to what names it from now on. PH_AGAIN: nothing was begun; it
   *  is called again later. An error ends the operation, of which nothing was begun. */
  ph_status (*begin)(void *user, void *state, const ph_coll_call *call, void **op);
  /** Go on with an operation as far as it goes. PH_AGAIN: it is not over. Any other status ends it:
   *  no live member touches this one's buffers any more, and nothing is called for `op` again. An
   *  error fails the operation at all members that have not completed it. The library notices a
   *  member that has died: the provider says PH_AGAIN, and cancel() follows. It does not look for a
   *  member that has left: the provider says PH_ERR_DEPARTED if it needs more of that member. */
  ph_status (*advance)(void *user, void *state, void *op);
  /** Called instead of advance() once the operation has failed. PH_OK: it is over, as above.
   *  PH_AGAIN: not yet. When the context or lane ends, it is called once, under the lane's
   *  lock, and the operation is over whatever it returns. */
  ph_status (*cancel)(void *user, void *state, void *op);
  /** May be null. Called after a join() while no operation of the provider is under way: at first
   *  often, then each millisecond that a call makes progress in. Members whose operations are not
   *  over may wait for what this one has queued on a lane of the provider's, which nobody else
   *  moves. */
  void (*progress)(void *user);
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
