/** Counters: what was done, how it travelled, and what it waited for.
 *
 * Counting is off unless the setting `stats` is 1 (PHOTON_STATS=1; then the counters are also
 * written to stderr when the context is finalized or destroyed) or ph_count() was called. While it
 * is off an operation pays a test at most, and the fast paths pay nothing.
 */
#ifndef PHOTON_STATS_H
#define PHOTON_STATS_H

#include <photon/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * One counter: a sum since counting began, or, named most_..., a high-water mark. Lines, probed
 * ids, turns, sleeps, refusals, dropped and rejected_... are counted always. rejected_... are
 * connections (tcp) or messages (ofi) that were turned away, at this context's or lane's port.
 * peers_... are no sums: the peers that are connected now, by the way that ph_path_to() tells.
 */
typedef struct ph_counter {
  const char *name; /**< Never freed. */
  const char *help; /**< One sentence with the unit. Never freed. */
  uint64_t value;
} ph_counter;

/**
 * Begin (`on` not 0) or stop counting. What was counted stays.
 * Status:  PH_OK, PH_ERR_STATE, PH_ERR_MEMORY.
 * Threads: any. Allocates about 250 bytes for each peer met when it begins.
 */
PH_API ph_status ph_count(ph_context *context, int on);

/**
 * The counters of one peer, or with PH_ANY_RANK those of all peers together followed by the rank's
 * own; behind these stand those of the library's services, as active messages. At most `capacity`
 * are written; *count is how many there are, so a call with capacity 0 asks for the room that is
 * needed. Names and their order are those of this version of the library; later ones may have more.
 *
 * Ownership: `counters` is the caller's; may be null if capacity is 0.
 * Status:    PH_OK; PH_ERR_RANK; PH_ERR_ARGUMENT (a null argument); PH_ERR_STATE; PH_ERR_MEMORY.
 * Threads:   any; the values are those of one moment. Never blocks, allocates.
 */
PH_API ph_status ph_counters(ph_context *context, ph_rank rank, ph_counter *counters,
                             size_t capacity, size_t *count);

/** Collective operations of one kind, begun by this member, that one algorithm does. */
typedef struct ph_coll_counter {
  const char *kind;      /**< "allreduce". Never freed. */
  const char *algorithm; /**< "ring". Never freed. */
  uint64_t operations;
  uint64_t size_bytes; /**< Of the larger of the two buffers, summed up. */
} ph_coll_counter;

/**
 * The counters of the collective operations of this context, or of this lane: those that are not 0,
 * counted always. At most `capacity` are written; *count is how many there are.
 *
 * Ownership: `counters` is the caller's; may be null if capacity is 0.
 * Status:    PH_OK; PH_ERR_ARGUMENT (a null argument); PH_ERR_STATE; PH_ERR_MEMORY.
 * Threads:   any; the values are those of one moment. Never blocks.
 */
PH_API ph_status ph_coll_counters(ph_context *context, ph_coll_counter *counters, size_t capacity,
                                  size_t *count);

#ifdef __cplusplus
}
#endif

#endif
