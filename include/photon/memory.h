/**
 * Memory that peers may write and read.
 */
#ifndef PHOTON_MEMORY_H
#define PHOTON_MEMORY_H

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a registration grants to peers. */
enum {
  PH_ACCESS_READ = 1,  /**< ph_get */
  PH_ACCESS_WRITE = 2, /**< ph_put */
  PH_ACCESS_ALL = 3
};

/** A registered region, as its owner sends it to peers: plain data, the same on every rank. */
typedef struct ph_region {
  uint64_t address; /**< In the owner's address space. */
  uint64_t size_bytes;
  uint64_t key; /**< Random; names the registration. */
} ph_region;

/** A place in a peer's region. */
typedef struct ph_target {
  uint64_t address; /**< In the owner's address space. */
  uint64_t key;
} ph_target;

/** The place `offset_bytes` into a region (not checked here; the operation checks). */
static inline ph_target ph_at(const ph_region *region, uint64_t offset_bytes) {
  ph_target target = {region->address + offset_bytes, region->key};
  return target;
}

/**
 * Make memory of this process accessible to peers.
 * Effect:     *region describes [base, base + size_bytes). Registering the same range with the
 *             same access again returns the same key and counts; other ranges may nest and
 *             overlap, each with its own key.
 * Ownership:  the caller's; must stay mapped, to the same pages, until ph_unregister() returned.
 *             If it is unmapped or protected before, operations of peers end with PH_ERR_ACCESS
 *             where that is noticed (docs/unregistering.md, "Memory that is gone"), else this
 *             process ends as by an access of its own.
 * Status:     PH_ERR_ARGUMENT (null, size 0, wrap-around, no access), PH_ERR_MEMORY (the setting
 *             `max_regions`), PH_ERR_STATE, PH_ERR_FORKED.
 * Threads:    any; takes the lane's lock; no system call.
 */
PH_API ph_status ph_register(ph_context *context, void *base, size_t size_bytes, uint32_t access,
                             ph_region *region);

/**
 * Take one ph_register() back. When the count reaches zero the key is stale at once, and the call
 * returns after copies that peers on this host were making under it have ended; later accesses
 * fail with PH_ERR_KEY at their initiator.
 * Status: PH_ERR_KEY (no such registration), PH_TIMEOUT (a stopped peer holds a copy open for
 *         longer than `unregister_timeout_ms`: the memory must be kept; call again),
 *         PH_ERR_ARGUMENT for memory of ph_alloc(), PH_ERR_STATE, PH_ERR_FORKED.
 * Threads: any; may wait for a copy in progress (microseconds).
 */
PH_API ph_status ph_unregister(ph_context *context, uint64_t key);

/**
 * Take one ph_register() back without waiting for anybody: for owners who know that nothing is
 * under way.
 * Effect:   as ph_unregister(), but no peer's copy is waited for. When the count reaches zero the
 *           key is stale at once: later accesses fail with PH_ERR_KEY at their initiator.
 * The caller promises that no operation under this key is under way: whoever was given the key has
 *           said that its operations have ended, or was never told. Where that is not so, bytes may
 *           be read from and written to this memory after the call.
 * Ownership: the memory is the caller's alone when the call returns.
 * Status:   PH_ERR_KEY (no such registration), PH_ERR_ARGUMENT for memory of ph_alloc(),
 *           PH_ERR_STATE, PH_ERR_FORKED.
 * Threads:  any. Over shared memory it issues no barrier, makes no system call and waits for the
 *           lane's lock alone. Over networks each open lane lets go of what it or a peer's NIC
 *           knows of the key: over tcp at once, over libfabric within 20 ms a lane.
 */
PH_API ph_status ph_revoke(ph_context *context, uint64_t key);

/**
 * The smallest registration that contains [base, base + size_bytes).
 * Status: PH_ERR_NOT_FOUND if none does. Threads: any.
 */
PH_API ph_status ph_find_region(ph_context *context, const void *base, size_t size_bytes,
                                ph_region *region);

/**
 * Allocate zeroed memory that peers on this host write and read directly, and register it with
 * PH_ACCESS_ALL. 64-byte aligned; region->address is the pointer. All ranks of the job on this host
 * can map all memory of ph_alloc(): keys guard against mistakes there, not against malice.
 * Ownership: the caller's until ph_free() or ph_finalize().
 * Status:    PH_ERR_MEMORY (settings `arena_bytes`, `max_regions`), PH_ERR_ARGUMENT (size 0),
 *            PH_ERR_STATE, PH_ERR_FORKED.
 * Threads:   any.
 */
PH_API ph_status ph_alloc(ph_context *context, size_t size_bytes, ph_region *region);

/** Give memory of ph_alloc() back; as ph_unregister() otherwise. Null is ignored. */
PH_API ph_status ph_free(ph_context *context, void *base);

#ifdef __cplusplus
}
#endif
#endif
