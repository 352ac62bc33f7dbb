/**
 * Teams: ordered sets of ranks that do collective operations together (coll.h).
 *
 *   none -- ph_team_world(), ph_team_split(), ph_team_of() --> alive -- ph_team_free() --> none
 *
 * A team belongs to one context or lane, and calls on that context or lane alone make progress for
 * it. Its members are numbered from 0 in team order; a member's number is not its rank. Every
 * member has a handle of its own. A team takes at most 4 KiB and 16 bytes a member; where its
 * members are on several hosts, and known to be, 12 bytes more a member; from its first
 * ph_team_agree() or ph_team_shrink() on, 32 bytes more a member.
 * A member that calls ph_finalize() leaves all its teams. What it has done is delivered, but others
 * cannot begin anything more on those teams: let a barrier be the last operation (coll.h).
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
 * Effect:     *team is the same handle at each call. No message is sent, and no other rank has to
 *             call.
 * Ownership:  the library's, until the context or lane ends.
 * Status:     PH_OK; PH_ERR_ARGUMENT (team is null); PH_ERR_MEMORY; PH_ERR_STATE; PH_ERR_FORKED.
 * Threads:    any. Does not block.
 */
PH_API ph_status ph_team_world(ph_context *context, ph_team **team);

/**
 * Divide a team: members of one colour become a team, ordered by key, then by their old order.
 * Effect:     collective over `parent`: every member calls, at the same place in the order of its
 *             one-shot operations on `parent`. *team is null for PH_NO_COLOUR, and unless the
 *             status is PH_OK.
 * Ownership:  the caller frees *team by ph_team_free(), before or after `parent`.
 * Status:     PH_OK. PH_TIMEOUT: not all members have called. The split goes on; make the same call
 *             again to wait for it. Until then this member can begin nothing else on `parent`.
 *             PH_AGAIN: nothing was begun, for as many operations of `parent` are under way as the
 *             setting coll_window allows: make progress, then call again.
 *             PH_ERR_PEER, PH_ERR_DEPARTED: a member has died, or has left. PH_ERR_ARGUMENT: a
 *             pointer is null, or `parent` was freed. PH_ERR_MEMORY; PH_ERR_STATE; PH_ERR_FORKED.
 * Threads:    any, one at a time for each team. Waits at most timeout_us (0: one look; PH_FOREVER:
 *             without a limit).
 */
PH_API ph_status ph_team_split(ph_team *parent, int64_t colour, int64_t key, int64_t timeout_us,
                               ph_team **team);

/** The list that ph_team_of() makes a team of. Zero what you do not use. */
typedef struct ph_team_of_args {
  size_t size;          /**< sizeof(ph_team_of_args) of the caller. */
  const ph_rank *ranks; /**< In team order; the calling rank is among them. */
  uint32_t count;       /**< Of ranks. */
  uint32_t reserved;    /**< 0 */
  uint64_t tag;         /**< Tells apart calls with equal lists that are under way together. */
} ph_team_of_args;

/**
 * Make a team of a list of ranks. These ranks alone call, all with the same list and tag.
 * Ownership:  the caller frees *team by ph_team_free(). *team is null unless the status is PH_OK.
 * Status:     PH_OK. PH_TIMEOUT: not all of the list have called; make the same call again to go on
 *             waiting. PH_ERR_ARGUMENT: a pointer is null, the list is empty, names a rank twice,
 *             or lacks the calling rank. PH_ERR_RANK: the list names a rank that the job lacks.
 *             Others as for ph_team_split().
 * Threads:    any, one at a time for equal lists and tags. Waits at most timeout_us.
 */
PH_API ph_status ph_team_of(ph_context *context, const ph_team_of_args *args, int64_t timeout_us,
                            ph_team **team);

/**
 * Give up a team at this member. Local: no other member is asked or told.
 * Effect:     the handle must not be used any more. Messages that still come for the team are
 *             dropped, but word of a failure is passed on to members that still use it. An
 *             operation that this member has not begun, and that needs it, ends with
 *             PH_ERR_ARGUMENT where others begin it.
 * Status:     PH_OK, also for null. PH_ERR_STATE: an operation, a split or an agreement of the team
 *             is under way, or a prepared operation was not freed. PH_ERR_ARGUMENT: the team was
 *             freed before, or is the team of all ranks, which is the library's.
 * Threads:    any. Does not block.
 */
PH_API ph_status ph_team_free(ph_team *team);

/**
 * Agree on bits, and on who is lost: all members that live get the same, whoever dies meanwhile.
 * Effect:     every member that lives calls, in the same order among its calls of this function and
 *             of ph_team_shrink() on the team. *bits becomes the bitwise and of the bits of all
 *             that live, and perhaps of some that died after they had called. From then on
 *             ph_team_lost() says who is lost. It works also on a team on which a lost member has
 *             ended all other operations. A member that has left, or has freed the team, counts as
 *             lost. A member that is stopped, or has not called yet, is waited for.
 * Status:     PH_OK: every other member that lives gets the same, even if this one dies now.
 *             PH_TIMEOUT: the agreement goes on; make the same call again to wait for it (the bits
 *             of the first call count). PH_ERR_PEER: the others count this member as lost, for its
 *             link to them was cut. PH_ERR_ARGUMENT: a pointer is null, the team was freed, or
 *             others have called ph_team_shrink() instead. PH_ERR_STATE: a call of ph_team_shrink()
 *             is under way. PH_ERR_MEMORY: call again. PH_ERR_FORKED.
 *             *bits changes only if the status is PH_OK.
 * Threads:    any, one at a time for each team. Waits at most timeout_us (0: one look; PH_FOREVER:
 *             without a limit).
 * Source:     Chandra and Toueg 1996 (a coordinator in turn), with acknowledged decisions.
 */
PH_API ph_status ph_team_agree(ph_team *team, uint64_t *bits, int64_t timeout_us);

/**
 * Make a team of the members that live, in their order.
 * Effect:     an agreement as by ph_team_agree(). *smaller has the same members everywhere, whoever
 *             dies meanwhile; a member that dies after the agreement may still be one of them.
 * Ownership:  the caller frees *smaller by ph_team_free(). `team` stays, and is freed by itself.
 * Status:     as ph_team_agree(). PH_ERR_STATE: a call of ph_team_agree() is under way.
 *             *smaller is null unless the status is PH_OK.
 * Threads:    as ph_team_agree().
 */
PH_API ph_status ph_team_shrink(ph_team *team, int64_t timeout_us, ph_team **smaller);

/**
 * Whether a member was lost at the last ph_team_agree() or ph_team_shrink(). All get the same
 * answer.
 * Status:     PH_OK: it lives, or nothing was agreed on yet. PH_ERR_PEER: it had died.
 *             PH_ERR_DEPARTED: it had left, or had freed the team.
 *             PH_ERR_ARGUMENT: the team is null or freed, or there is no such member.
 * Threads:    any. Does not block.
 */
PH_API ph_status ph_team_lost(const ph_team *team, uint32_t member);

/** This member's number in the team; UINT32_MAX if the team is null or freed. */
PH_API uint32_t ph_team_rank(const ph_team *team);

/** How many members the team has; 0 if it is null or freed. */
PH_API uint32_t ph_team_size(const ph_team *team);

/** The rank of a member; PH_ANY_RANK where there is no such member. */
PH_API ph_rank ph_team_member(const ph_team *team, uint32_t member);

#ifdef __cplusplus
}
#endif
#endif
