/**
 * Peers' memory as one's own: a pointer into memory of ph_alloc() of a rank on this host.
 *
 *   unmapped -- ph_map --> mapped, any number of times -- as many ph_unmap, our finalize -->
 * unmapped
 */
#ifndef PHOTON_MAP_H
#define PHOTON_MAP_H

#include "memory.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A pointer to memory of ph_alloc() of `rank`, for plain loads, stores and atomic instructions.
 * Effect:     *local is where all of `region` stands in this process: the region as its owner's
 *             ph_alloc() gave it, or a part of it under the same key. Mapping it again gives the
 *             same pointer and counts. A rank can map its own memory.
 * Ownership:  the owner's. The pointer stays good until ph_unmap(), or this rank's ph_finalize(),
 *             also when the owner frees the memory, finalizes or is killed. After the owner's
 *             ph_free() the bytes are given to nobody else before all who mapped them have let go.
 * Order:      none of the library's: who needs one uses atomic instructions, or ids: what was
 *             stored before a put or a notification to the owner is seen by who has probed its id.
 * Status:     PH_AGAIN (the peer has not met this rank yet: probe and call again),
 *             PH_ERR_NOT_FOUND (the memory is not ph_alloc's, or none of the peer's is mapped here:
 *             another host, no shared memory, no address space; ph_path_to() says which),
 *             PH_ERR_KEY, PH_ERR_RANGE (it leaves the region), PH_ERR_ARGUMENT (null, size 0, a
 *             lane), PH_ERR_RANK, PH_ERR_PEER, PH_ERR_DEPARTED, PH_ERR_MEMORY (the most regions of
 *             one peer that are mapped at a time are 480), PH_ERR_STATE, PH_ERR_FORKED.
 * Threads:    any; name the context, not a lane. Never blocks; allocates.
 */
PH_API ph_status ph_map(ph_context *context, ph_rank rank, const ph_region *region, void **local);

/**
 * Give one ph_map() back.
 * Effect:     the last one of a pointer ends it. Null is ignored.
 * Status:     PH_ERR_NOT_FOUND (nothing is mapped there, or no more), PH_ERR_ARGUMENT (a lane),
 *             PH_ERR_STATE, PH_ERR_FORKED.
 * Threads:    any; nobody uses the pointer any more. Never blocks.
 */
PH_API ph_status ph_unmap(ph_context *context, void *local);

#ifdef __cplusplus
}
#endif
#endif
