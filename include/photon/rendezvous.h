/**
 * Rendezvous: announce a buffer to a peer, who puts into it or gets from it and says when it is
 * done with it. The handshake is apart from the transfer, so that either can overlap computation.
 * Source of the idea: Kissel and Swany, "Photon: Remote Memory Access Middleware for
 * High-Performance Runtime Systems", 2016, section III.B.
 *
 *   owner: announced -- the peer's finish --> over: the buffer is its owner's again
 *   peer:  waiting --- ph_test_buffer(), ph_wait_buffer() --> taken -- any transfers, ph_finish()
 * --> over
 *
 * Promises (docs/rendezvous.md):
 *  - An announcement is taken once, by one thread. Those of one rank that match are taken in the
 *    order in which they were announced.
 *  - The owner hears of ph_finish() after every byte of the transfers posted before it to that rank
 *    has landed.
 *  - Neither side needs to register anything, and neither call waits for the other side.
 */
#ifndef PHOTON_RENDEZVOUS_H
#define PHOTON_RENDEZVOUS_H

#include "memory.h"
#include "request.h"
#include "rma.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What is announced. */
#ifdef __cplusplus
typedef enum ph_buffer_kind
    : int { /* any int may stand in it, as in C */
#else
typedef enum ph_buffer_kind {
#endif
            PH_RECV_BUFFER = 1, /**< A buffer that the peer may put into. */
            PH_SEND_BUFFER = 2, /**< A buffer that the peer may get from. */
            PH_SEND_REQUEST = 3 /**< No buffer: "I want to send you so much". Nothing to finish. */
    } ph_buffer_kind;

/** ph_match: any tag. Nothing can be announced under it. */
#define PH_ANY_TAG UINT64_MAX

/** ph_match: any size. */
#define PH_ANY_SIZE UINT64_MAX

/** Arguments of ph_announce(). Zero what you do not use. */
typedef struct ph_announce_args {
  size_t size; /**< sizeof(ph_announce_args) of the caller. */
  ph_buffer_kind kind;
  uint64_t tag;        /**< Anything but PH_ANY_TAG. */
  void *buffer;        /**< Ignored for PH_SEND_REQUEST; may be null if size_bytes is 0. */
  uint64_t size_bytes; /**< Less than 2^62. */
  ph_id local;
  uint32_t flags;      /**< PH_NO_LCE. */
  ph_request *request; /**< As in ph_put_args. */
} ph_announce_args;

/** Which announcement to take. */
typedef struct ph_match {
  ph_buffer_kind kind;
  ph_rank rank;        /**< Who announced it, or PH_ANY_RANK. */
  uint64_t tag;        /**< Or PH_ANY_TAG. */
  uint64_t size_bytes; /**< Just this size, or PH_ANY_SIZE. */
} ph_match;

/** An announcement that was taken. Plain data; means something in this context only. */
typedef struct ph_buffer {
  uint64_t token; /**< Until ph_finish(); 0 for PH_SEND_REQUEST. */
  ph_rank rank;   /**< Who announced it. */
  ph_buffer_kind kind;
  uint64_t tag;
  uint64_t size_bytes;
  ph_target target; /**< Its first byte; nothing where `data` says more. */
  const void *data; /**< A small send buffer came along: its bytes, until ph_finish(). Else null. */
} ph_buffer;

/**
 * Tell `rank` of a buffer, or of the wish to send.
 * Effect:     one small record, taken in by any probe or wait of the peer. If the smallest live
 *             registration around the range grants what is needed it is used, and has to live as
 *             long; else the range is registered until the announcement is over, for this lane and
 *             its peer only. A send buffer of at most `packed_max` bytes is copied along. At most
 *             three quarters of `requests`, or of 65,536, are under way: then PH_AGAIN.
 * Ownership:  the buffer is lent until the local completion: PH_RECV_BUFFER may be written,
 *             PH_SEND_BUFFER must stay unchanged.
 * Completion: local = the peer has finished it, and every byte of its transfers has landed; for
 *             what was copied along and for PH_SEND_REQUEST: at once. PH_ERR_DEPARTED,
 *             PH_ERR_PEER and others if the peer left or was lost before; of what was complete at
 *             once a second completion says so, as of a put, if the link to the peer is lost before
 *             it is known to have read it, and the peer may live.
 *             PH_ERR_NOT_FOUND after ph_cancel(): the peer had not taken it, and will not.
 * Status:     PH_AGAIN (`requests` operations are under way; an announcement is until its peer has
 *             finished it, also one that was complete at once), PH_ERR_ARGUMENT (an unknown kind
 *             or flag, PH_ANY_TAG, a null buffer, a size of 2^62 or more, a range that wraps
 *             around), PH_ERR_RANK, PH_ERR_MEMORY (the setting `max_regions`), PH_ERR_ID_SIZE,
 *             PH_ERR_PEER, PH_ERR_DEPARTED, PH_ERR_STATE, PH_ERR_FORKED.
 * Cancel:     ph_cancel() takes back what is still queued here (PH_CANCELLED). If the record has
 *             gone it says PH_TOO_LATE and asks the peer: what was not taken ends with
 *             PH_ERR_NOT_FOUND, what was taken ends by its finish.
 * Threads:    any. Never blocks. Order: announcements to one peer arrive in their order.
 */
PH_API ph_status ph_announce(ph_context *context, ph_rank rank, const ph_announce_args *args);

/**
 * Take the oldest announcement that matches. Makes progress if there is none.
 * Effect:  *buffer says what was announced; what was taken must be finished, but for
 *          PH_SEND_REQUEST.
 * Status:  PH_OK; PH_AGAIN: none yet. PH_ERR_PEER, PH_ERR_DEPARTED, PH_ERR_PROTOCOL: match->rank is
 *          gone, and left nothing that matches. Of a rank that is gone only small send buffers
 *          stay, whose bytes came along. PH_ERR_ARGUMENT, PH_ERR_RANK, PH_ERR_STATE, PH_ERR_FORKED.
 * Threads: any number; each announcement is given once. Never blocks.
 */
PH_API ph_status ph_test_buffer(ph_context *context, const ph_match *match, ph_buffer *buffer);

/** ph_test_buffer() that sleeps as ph_wait() does; PH_TIMEOUT after timeout_us (or PH_FOREVER). */
PH_API ph_status ph_wait_buffer(ph_context *context, const ph_match *match, ph_buffer *buffer,
                                int64_t timeout_us);

/**
 * ph_put() into a receive buffer that was taken, from its byte `offset` on; args->target is
 * ignored.
 * Status: as ph_put(); PH_ERR_NOT_FOUND (not taken, finished, or of another context),
 *         PH_ERR_ACCESS (no receive buffer), PH_ERR_RANGE (it would leave the buffer).
 */
PH_API ph_status ph_put_buffer(ph_context *context, const ph_buffer *buffer, uint64_t offset,
                               const ph_put_args *args);

/**
 * ph_get() from a send buffer that was taken; args->source is ignored. One whose bytes came along
 * is read here at once; of a rank that has left or is lost, read `data`.
 * Status: as ph_get(), and as ph_put_buffer().
 */
PH_API ph_status ph_get_buffer(ph_context *context, const ph_buffer *buffer, uint64_t offset,
                               const ph_get_args *args);

/**
 * Say that this side is done with the buffer (FIN).
 * Effect:  the owner's request is over after every byte of what was put to and got from its rank
 *          before this call, through the same handle, has landed; the caller waits for nothing.
 *          The buffer is not this side's any more when the call returns, but for transfers under
 *          way.
 * Status:  PH_AGAIN (nothing was done; progress and retry), PH_ERR_NOT_FOUND (not taken, finished
 *          before, or of another context), PH_ERR_ARGUMENT, PH_ERR_STATE, PH_ERR_FORKED.
 *          PH_ERR_PEER, PH_ERR_DEPARTED, PH_ERR_PROTOCOL: its owner is gone; it is over all the
 *          same.
 * Threads: any. Never blocks.
 */
PH_API ph_status ph_finish(ph_context *context, const ph_buffer *buffer);

#ifdef __cplusplus
}
#endif
#endif
