/**
 * Teams: ordered sets of ranks that do collective operations together (coll.h).
 *
 *   none -- ph_team_world(), ph_team_split(), ph_team_of() --> alive -- ph_team_free() --> none
 *
 * A team belongs to one context or lane, whose calls alone make progress for it. Its members are
 * numbered from 0 in team order; a member's number is not its rank. Every member has a handle of
 * its own. A team holds at most 4 KiB and 16 bytes for each member; 12 bytes more for each where
 * it is on several hosts and they are known; and from its first call of ph_team_agree() or
 * ph_team_shrink() on 32 bytes more for each.
 */
#ifndef PHOTON_TEAM_H
#define PHOTON_TEAM_H

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A team, at one of its members. Opaque. */
typedef struct ph_team ph_team;

/** The colour of a member that wants no part in any team of a split. */
#define PH_NO_COLOUR INT64_MIN

/**
 * The team of all ranks of the job, in their order.
 * Effect:     *team is the same handle at each call. It needs no message and no other rank's call.
 * Ownership:  the library's, until the context or lane ends.
 * Status:     PH_OK; PH_ERR_ARGUMENT (team is null); PH_ERR_MEMORY; PH_ERR_STATE; PH_ERR_FORKED.
 * Threads:    any. Does not block.
 */
PH_API ph_status ph_team_world(ph_context *context, ph_team **team);

/**
 * Divide a team: members of one colour become a team, ordered by key, then by their old order.
 * Effect:     collective over `parent`: every member calls, in the same order among its other
 *             one-shot operations on it. *team is null for PH_NO_COLOUR.
 * Ownership:  free it by ph_team_free(). It does not depend on `parent` any more.
 * Status:     PH_OK. PH_TIMEOUT: not all members have called; the split goes on, and the same call
 *             made again waits for it, nothing else may be begun on `parent` by this member before.
 *             PH_ERR_PEER, PH_ERR_DEPARTED: a member is lost. PH_ERR_ARGUMENT (null, freed);
 *             PH_ERR_MEMORY; PH_ERR_STATE; PH_ERR_FORKED. PH_AGAIN: as many operations of the team
 *             are under way as may be. *team is null but for PH_OK.
 * Threads:    any, one at a time for each team. Waits for timeout_us (0: one look; PH_FOREVER).
 */
PH_API ph_status ph_team_split(ph_team *parent, int64_t colour, int64_t key, int64_t timeout_us,
                               ph_team **team);

/** What ph_team_of() makes a team of. Zero what you do not use. */
typedef struct ph_team_of_args {
  size_t size;          /**< sizeof(ph_team_of_args) of the caller. */
  const ph_rank *ranks; /**< In team order; the calling rank is among them. */
  uint32_t count;
  uint32_t reserved; /**< 0 */
  uint64_t tag;      /**< Tells apart calls of equal lists that are made at the same time. */
} ph_team_of_args;

/**
 * Make a team of a list of ranks. Only these call, each with the same list and tag.
 * Status:     as ph_team_split(); PH_TIMEOUT: not all of the list have called; the same call made
 *             again goes on. PH_ERR_ARGUMENT: no list, a rank twice, or the caller is not in it.
 *             PH_ERR_RANK: a rank that is none of the job.
 * Threads:    any, one at a time for equal lists and tags. Waits for timeout_us.
 */
PH_API ph_status ph_team_of(ph_context *context, const ph_team_of_args *args, int64_t timeout_us,
                            ph_team **team);

/**
 * Give up a team at this member. Local: no other member is asked or told.
 * Effect:     the handle is not used any more. Records that still come for the team are dropped,
 *             but word of failures is passed on to members that still use it.
 * Status:     PH_OK, also for null. PH_ERR_STATE: an operation, a split or an agreement of it is
 *             under way, or a prepared operation was not freed. PH_ERR_ARGUMENT: it was freed, or
 *             is the team of all ranks.
 * Threads:    any. Does not block.
 */
PH_API ph_status ph_team_free(ph_team *team);

/**
 * Agree on bits, and on who is lost: all members that live get the same, whoever dies meanwhile.
 * Effect:     every member that lives calls, in the same order among its calls of this and of
 *             ph_team_shrink() on the team. *bits becomes the bitwise and of the bits of all that
 *             live, and perhaps of some that died after they had called. ph_team_lost() says who is
 *             lost from then on. It works, too, where a lost member has ended all other operations.
 *             A member that has left, or freed the team, counts as lost; one that is stopped, or
 *             has not called yet, is waited for.
 * Status:     PH_OK: every other member that lives gets the same, also if this one dies then.
 *             PH_TIMEOUT: it goes on, and the same call made again waits for it; the bits of the
 *             first call count. PH_ERR_PEER: the others count this member as lost, for their link
 *             was cut. PH_ERR_ARGUMENT (null, freed; others have called ph_team_shrink() instead);
 *             PH_ERR_MEMORY: call again; PH_ERR_STATE (a call of ph_team_shrink() is under way);
 *             PH_ERR_FORKED. *bits changes with PH_OK alone.
 * Threads:    any, one at a time for each team. Waits for timeout_us (0: one look; PH_FOREVER).
 * Source:     Chandra and Toueg 1996 (a coordinator in turn), with acknowledged decisions.
 */
PH_API ph_status ph_team_agree(ph_team *team, uint64_t *bits, int64_t timeout_us);

/**
 * Make a team of the members that live, in their order.
 * Effect:     as ph_team_agree(). *smaller has the same members at each, whoever dies meanwhile;
 *             one that dies after the agreement may still be in it.
 * Ownership:  free it by ph_team_free(). `team` stays, and is freed as before.
 * Status:     as ph_team_agree(), whose call may be under way instead. *smaller is null but for
 *             PH_OK.
 * Threads:    as ph_team_agree().
 */
PH_API ph_status ph_team_shrink(ph_team *team, int64_t timeout_us, ph_team **smaller);

/**
 * How the last ph_team_agree() or ph_team_shrink() has found a member: all get the same.
 * Status:     PH_OK: it lives, or nothing was agreed on. PH_ERR_PEER, PH_ERR_DEPARTED: it is lost.
 *             PH_ERR_ARGUMENT: the team is null or freed, or there is no such member.
 * Threads:    any. Does not block.
 */
PH_API ph_status ph_team_lost(const ph_team *team, uint32_t member);

/** This member's number, and the number of members; UINT32_MAX, and 0, of null or a freed team. */
PH_API uint32_t ph_team_rank(const ph_team *team);
PH_API uint32_t ph_team_size(const ph_team *team);

/** The rank of a member; PH_ANY_RANK where there is no such member. */
PH_API ph_rank ph_team_member(const ph_team *team, uint32_t member);

#ifdef __cplusplus
}
#endif
#endif
