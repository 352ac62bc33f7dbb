/**
 * Put and get with completion (PWC, GWC): move bytes and tell both sides.
 * Source of the idea: Kissel and Swany, "Photon: Remote Memory Access Middleware for
 * High-Performance Runtime Systems", 2016, section III.
 *
 * Promises (docs/memory-model.md):
 *  - A probed remote id happens-after every byte of its operation is visible to the prober.
 *  - Remote ids of puts to one peer are probed in posting order, unless PH_ORDER_NONE.
 *  - Bytes of overlapping operations are unordered, unless ph_fence() or ph_flush() stands between.
 *  - A local id means: put, the source may be reused; get, the data has landed.
 *  - The local id of a put that had to be queued comes when it has gone out: it holds nothing any
 *    more. So who waits for the local id of each put never meets PH_AGAIN, however slow the target:
 *    the id waits for it. (PH_DELIVERED, gets and atomics tell of a landing and do not wait for
 *    their remote id, which may hold one of `requests` when the overflow is full.)
 *  - An operation that was accepted (PH_OK) is never dropped. If it fails later, a completion of
 *    kind PH_LOCAL with an error status says so, even under PH_NO_LCE, and even after the local id
 *    that freed the source (a second completion then; never with PH_DELIVERED). A put that fails
 *    before it has gone out completes once. One that has gone out and is not known to have arrived
 *    when its peer is lost (unreachable for `tcp_silence_s`, cut off, or dead) is told so, too. Of
 *    small puts through shared memory, and of ids without bytes under PH_NO_LCE, ph_flush() and
 *    ph_finalize() alone say so, and only where the peer's process may live.
 *  - What cannot go at once (no credit, behind a fence, more bytes than one call copies) is queued
 *    and goes as this rank probes, waits, flushes or finalizes: go on with one of them.
 *  - The call from inside a probe callback is legal and never recurses into progress.
 */
#ifndef PHOTON_RMA_H
#define PHOTON_RMA_H

#include "memory.h"
#include "request.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  PH_NO_LCE = 1,          /**< No local completion event. */
  PH_NO_RCE = 2,          /**< No remote completion event. */
  PH_DELIVERED = 4,       /**< Put: the local id waits until the bytes landed at the target. */
  PH_NOTICE_ACCEPTED = 8, /**< Get: the local id waits until the owner's ledger took the notice. */
  PH_ORDER_NONE = 16,     /**< This put's remote id may overtake and be overtaken. */
  PH_ALONE = 32 /**< The bytes go by ways that need nobody at the target, or not at all. */
};

/*
 * PH_ALONE, of puts and gets and their vectored forms, however small: the bytes are moved by this
 * process (mapped memory), by the kernel (CMA) or by NICs, and never by a record that the
 * target's process has to place or answer. So a put arrives, and a get ends, although the target
 * makes no call.
 *  - PH_ERR_NOT_FOUND: there is no such way to all of the bytes, and nothing was sent. Over tcp
 *    there is none; over libfabric there is from the setting ofi_direct_least_bytes on.
 *  - PH_AGAIN: also while the peer has not met this rank yet (first contact, which needs progress
 *    of both): after it this call says PH_OK or PH_ERR_NOT_FOUND.
 *  - If the way goes while the operation is under way, the operation fails: PH_ERR_SYSTEM where the
 *    kernel or our own NIC refuses the rest, be it that the peer has ended and nobody knows it
 *    here; PH_ERR_PEER or PH_ERR_DEPARTED where that is known. Some bytes may have moved.
 *  - A remote id needs its target all the same: it travels as a record and is seen when the target
 *    probes. What was posted to the same rank before, and waits for it, goes first.
 *  - Over libfabric the first operation under a key asks its owner for the NIC's own key, which
 *    takes the owner's progress; some providers move bytes in the target's process (docs/ofi.md).
 */

/** Arguments of ph_put(). Zero what you do not use. */
typedef struct ph_put_args {
  size_t size;        /**< sizeof(ph_put_args) of the caller. */
  const void *source; /**< May be null if size_bytes is 0. Need not be registered. */
  size_t size_bytes;
  ph_target target; /**< Ignored if size_bytes is 0. */
  ph_id local;
  ph_id remote;
  uint32_t flags;
  /**
   * Null: the local completion is probed. Else it goes to *request (see request.h), which is
   * PH_REQUEST_NONE if the operation was over when the call returned; `local` then names it only
   * in an error that comes after its request was taken. Not together with PH_NO_LCE.
   */
  ph_request *request;
} ph_put_args;

/** Arguments of ph_get(). */
typedef struct ph_get_args {
  size_t size;       /**< sizeof(ph_get_args) of the caller. */
  void *destination; /**< May be null if size_bytes is 0. Need not be registered. */
  size_t size_bytes;
  ph_target source; /**< In the owner's memory. Ignored if size_bytes is 0. */
  ph_id local;
  ph_id remote; /**< Probed by the owner of the memory after it was read. */
  uint32_t flags;
  ph_request *request; /**< As in ph_put_args. */
} ph_get_args;

/** A block of own memory, passed in registers. */
typedef struct ph_block {
  void *data;
  size_t size_bytes;
} ph_block;

/** A block of own memory that is only read. */
typedef struct ph_const_block {
  const void *data;
  size_t size_bytes;
} ph_const_block;

/** Two 8-byte ids. */
typedef struct ph_u64_ids {
  uint64_t local;
  uint64_t remote;
} ph_u64_ids;

/**
 * Write source into target memory on `rank`, then post `remote` to its ledger.
 * Ownership:  source stays yours; unchanged until `local` is probed. (One of at most packed_max
 *             bytes is copied at the call, and yours again on return.)
 * Completion: local = source reusable (PH_DELIVERED: landed), and nothing is held for it any more.
 *             remote = probed at the target after all bytes are visible. size_bytes 0 with a remote
 *             id is a bare notification.
 * Status:     PH_AGAIN (nothing was sent: `requests` operations are under way, unprobed or, those
 *             with a request, not taken; probe or take, and retry), PH_ERR_ARGUMENT,
 *             PH_ERR_RANK, PH_ERR_KEY, PH_ERR_RANGE, PH_ERR_ACCESS,
 *             PH_ERR_ID_SIZE, PH_ERR_PEER, PH_ERR_DEPARTED, PH_ERR_STATE, PH_ERR_FORKED,
 *             PH_ERR_NOT_FOUND (PH_ALONE, and no such way). Where the key cannot be checked here,
 *             its errors come as a completion.
 * Threads:    any. Never blocks; copies at most 256 KiB itself, the rest in later probes.
 * Order:      per peer, see the promises above.
 */
PH_API ph_status ph_put(ph_context *context, ph_rank rank, const ph_put_args *args);

/** ph_put() with 8-byte ids, default flags and arguments in registers: the fast path. */
PH_API ph_status ph_put_u64(ph_context *context, ph_rank rank, ph_const_block source,
                            ph_target target, ph_u64_ids ids);

/** Post an 8-byte id to `rank`'s ledger: a put of size 0 under PH_NO_LCE. Status as ph_put(). */
PH_API ph_status ph_notify(ph_context *context, ph_rank rank, uint64_t remote);

/**
 * Read from memory of `rank` into destination, then post `remote` to the owner's ledger.
 * Ownership:  destination is the library's until `local` is probed.
 * Completion: local = data landed (PH_NOTICE_ACCEPTED: and the owner's ledger took the notice).
 *             remote = probed by the owner, who may then reuse the memory.
 * Status, threads: as ph_put().
 */
PH_API ph_status ph_get(ph_context *context, ph_rank rank, const ph_get_args *args);

/** ph_get() with 8-byte ids, default flags and arguments in registers. */
PH_API ph_status ph_get_u64(ph_context *context, ph_rank rank, ph_block destination,
                            ph_target source, ph_u64_ids ids);

/** Which completions a probe looks for; may be or-ed. */
enum {
  PH_LOCAL = 1,  /**< Of operations this rank posted. */
  PH_REMOTE = 2, /**< Of operations others posted to this rank. */
  PH_EITHER = 3,
  /**
   * Beside one of these, for a thread that looks after a lane whose own thread computes: the lane
   * stays that thread's, which enters it as fast as before, as with PH_AM_VISIT (am.h). If somebody
   * is inside, the probe does nothing and says PH_AGAIN. Completions that it takes are its own.
   */
  PH_VISIT = 4
};

/** One completion. */
typedef struct ph_completion {
  uint64_t id;         /**< The id's first 8 bytes, zero-padded: ids up to 8 bytes live here. */
  const void *long_id; /**< Null for ids up to 8 bytes, else all of its bytes. */
  uint32_t id_size_bytes;
  uint32_t kind;        /**< PH_LOCAL or PH_REMOTE. */
  ph_rank peer;         /**< LOCAL: the operation's target. REMOTE: its initiator. */
  ph_status status;     /**< PH_OK; LOCAL may carry an error (nothing further was delivered). */
  uint32_t outstanding; /**< Operations of this rank to `peer` still to complete locally. */
  uint32_t reserved;
} ph_completion;

/** What to probe for. */
typedef struct ph_query {
  ph_rank peer;   /**< One peer, or PH_ANY_RANK. */
  uint32_t kinds; /**< PH_LOCAL, PH_REMOTE or PH_EITHER; in a probe perhaps with PH_VISIT. */
  /**
   * Room for long ids: capacity * max_cid_size bytes; long_id points into it. May be null if the
   * setting max_cid_size is at most 8.
   */
  void *id_buffer;
} ph_query;

/**
 * Advance everything and take completions.
 * Effect:   up to `capacity` completions are written and *count says how many; 0 is normal.
 *           LOCAL ones come first; after they alone filled a probe, REMOTE ones have their turn
 *           within the next two for the same peer: neither kind keeps the other away. Work per
 *           call is bounded. A probe for one kind or peer still serves all others; what it meets
 *           for them is kept for their probe.
 * Status:   PH_OK, PH_ERR_ARGUMENT, PH_ERR_RANK, PH_ERR_STATE, PH_ERR_FORKED. With PH_VISIT
 *           also PH_AGAIN: somebody is inside, nothing was done and *count is 0.
 * Threads:  any number; each completion is given once. Never blocks (with more ranks than cores it
 *           yields the processor after a run of empty probes).
 */
PH_API ph_status ph_probe(ph_context *context, ph_query query, ph_completion *completions,
                          size_t capacity, size_t *count);

/** One completion with an id of at most 8 bytes, in registers. */
typedef struct ph_u64_completion {
  uint64_t id;  /**< Zero-padded. */
  ph_rank peer; /**< As in ph_completion. */
  uint8_t kind; /**< PH_LOCAL or PH_REMOTE; 0: there was none. */
  uint8_t id_size_bytes;
  /** A ph_status: of the completion; of the call if there was none (PH_OK: nothing came). */
  int16_t status;
} ph_u64_completion;

/**
 * ph_probe() for one completion, with arguments and result in registers: the fast path for who
 * takes them one by one.
 * Effect:   as ph_probe() with a capacity of 1; but LOCAL ones that wait may come 64 times in
 *           sequence before REMOTE ones that have come and peers that want to be served have their
 *           turn, some 300 times before a rank that was never met does; and 31 REMOTE ones of a
 *           peer before others have theirs (255 before those of another host have, of which nothing
 *           has come for a millisecond, where peers of this host keep the caller busy).
 * Status:   as ph_probe(); PH_ERR_ID_SIZE (the setting max_cid_size is more than 8: use
 *           ph_probe()).
 * Threads:  as ph_probe().
 */
PH_API ph_u64_completion ph_probe_u64(ph_context *context, ph_rank peer, uint32_t kinds);

/**
 * The next LOCAL completion that ph_probe_u64() would give, if it lies at hand and is plain: its id
 * has 8 bytes, its status is PH_OK. For layers over this interface: it waits for nothing and serves
 * nobody, so their own probe can begin with it and then has next to nothing to keep meanwhile.
 * Effect:   1 with *id set, which must not be null, and the completion is taken; or 0, which
 *           says nothing: ask ph_probe_u64(). It makes no progress; nobody can live on it alone.
 * Threads:  any; it finds something only in the thread that probes most.
 */
PH_API int ph_take_local_u64(ph_context *context, ph_rank peer, uint64_t *id);

/**
 * How many operations posted to `rank`, or to all with PH_ANY_RANK, are under way or wait to be
 * probed. Makes no progress.
 * Status:  PH_OK, PH_ERR_ARGUMENT (count is null), PH_ERR_RANK, PH_ERR_STATE, PH_ERR_FORKED.
 * Threads: any. Never blocks, never allocates.
 */
PH_API ph_status ph_outstanding(ph_context *context, ph_rank rank, uint64_t *count);

/** Receives one completion; it and its long_id are valid during the call. May post and probe. */
typedef void (*ph_handler)(void *user, const ph_completion *completion);

/**
 * Probe and call `handler` for each completion found, at most 64 a call, outside all locks.
 * `query.id_buffer` is ignored. *count may be null. Status and threads as ph_probe().
 */
PH_API ph_status ph_probe_each(ph_context *context, ph_query query, ph_handler handler, void *user,
                               size_t *count);

/**
 * Sleep until a ph_probe(query) would find something; takes nothing itself. So it is no cure for
 * PH_AGAIN: only taking completions makes room.
 * Effect:   spins for about a wake-up's cost, then sleeps in the kernel; serves peers meanwhile.
 *           Another thread may take what woke this one; ph_wake() ends it, too (progress.h).
 * Status:   PH_OK, PH_TIMEOUT after timeout_us (0: do not sleep; PH_FOREVER), errors as ph_probe().
 *           PH_ERR_PEER or PH_ERR_DEPARTED if query.peer can send nothing any more; with
 *           PH_ANY_RANK if nobody can, and one at least was lost.
 * Threads:  any number may wait.
 */
PH_API ph_status ph_wait(ph_context *context, ph_query query, int64_t timeout_us);

/**
 * Order bytes: what was put to `rank` before is written there before what is put or got after.
 * Never blocks; later operations queue as needed. Status: PH_AGAIN and errors as ph_put().
 */
PH_API ph_status ph_fence(ph_context *context, ph_rank rank);

/**
 * Return when everything put to `rank` (or PH_ANY_RANK) before the call has landed there.
 * Needs the target's progress for staged operations (table in docs/memory-model.md). Blocks up to
 * timeout_us; for the non-blocking form put 0 bytes with PH_DELIVERED | PH_NO_RCE.
 * Status: PH_OK, PH_TIMEOUT, PH_AGAIN and errors as ph_put(). With PH_ANY_RANK also, once for each,
 *         the error of a rank that was lost with something on its way to it.
 */
PH_API ph_status ph_flush(ph_context *context, ph_rank rank, int64_t timeout_us);

#ifdef __cplusplus
}
#endif
#endif
