/**
 * Vectored put and get: many pieces of memory in one operation.
 *
 * One operation is accepted or refused as a whole, takes one request and ends with one local
 * completion and one remote id, which is probed when every byte of every piece is visible. A list
 * names each piece; a strided form names blocks that repeat in up to PH_MAX_DIMENSIONS directions.
 * Source of the idea: Nieplocha et al., "ARMCI", 1999 (vector and strided); Bonachea, "Proposal for
 * Extending the UPC Memory Copy Library Functions", 2004 (GASNet VIS).
 *
 *  - Everything that can be checked at the call is checked before anything starts, for every piece:
 *    null memory, sums that overflow, counts, and where keys can be seen here keys, ranges, access.
 *    ph_last_error() names the segment, or the block in the order of the transfer, counted from 0.
 *  - Where only the peer can check, one piece that it refuses fails the operation, once, and its
 *    remote id is not delivered; other pieces may have been written.
 *  - The description (list, dimensions, ids) is copied at the call; the bytes are not.
 *  - Pieces go in no order, as bytes of overlapping operations do. A destination of a strided form
 *    must not overlap itself (PH_ERR_ARGUMENT); where destinations of a list overlap, each shared
 *    byte is one of those that go there. Sources may overlap and repeat.
 *  - Memory that a NIC reads is shown to it piece by piece unless it lies in one
 *    registration: register what you send from (docs/posted-writes.md).
 */
#ifndef PHOTON_VECTOR_H
#define PHOTON_VECTOR_H

#include "memory.h"
#include "request.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A piece of a put. */
typedef struct ph_put_segment {
  const void *source; /**< May be null if size_bytes is 0. Need not be registered. */
  size_t size_bytes;
  ph_target target; /**< Ignored if size_bytes is 0. */
} ph_put_segment;

/** A piece of a get. */
typedef struct ph_get_segment {
  void *destination; /**< May be null if size_bytes is 0. Need not be registered. */
  size_t size_bytes;
  ph_target source; /**< In the owner's memory. Ignored if size_bytes is 0. */
} ph_get_segment;

/** Arguments of ph_put_vector(). Zero what you do not use. */
typedef struct ph_put_vector_args {
  size_t size;                    /**< sizeof(ph_put_vector_args) of the caller. */
  const ph_put_segment *segments; /**< May be null if segments_count is 0. */
  size_t segments_count;          /**< At most the setting max_segments. */
  ph_id local;
  ph_id remote;
  uint32_t flags;      /**< As in ph_put_args. */
  ph_request *request; /**< As in ph_put_args; its result's size_bytes is the sum. */
} ph_put_vector_args;

/** Arguments of ph_get_vector(). */
typedef struct ph_get_vector_args {
  size_t size;                    /**< sizeof(ph_get_vector_args) of the caller. */
  const ph_get_segment *segments; /**< May be null if segments_count is 0. */
  size_t segments_count;          /**< At most the setting max_segments. */
  ph_id local;
  ph_id remote;
  uint32_t flags;      /**< As in ph_get_args. */
  ph_request *request; /**< As in ph_put_args; its result's size_bytes is the sum. */
} ph_get_vector_args;

enum { PH_MAX_DIMENSIONS = 8 };

/** One direction in which blocks repeat. Strides may be negative; 0 only where it is a source. */
typedef struct ph_dimension {
  size_t count;
  ptrdiff_t local_stride_bytes;  /**< From one to the next, in memory of this process, */
  ptrdiff_t remote_stride_bytes; /**< and in memory of the peer. */
} ph_dimension;

/** Arguments of ph_put_strided(). Zero what you do not use. */
typedef struct ph_put_strided_args {
  size_t size;        /**< sizeof(ph_put_strided_args) of the caller. */
  const void *source; /**< The first block: index 0 in every dimension. */
  ph_target target;   /**< Where the first block goes. */
  size_t block_bytes; /**< Contiguous on both sides. */
  size_t dimensions_count;
  /** [0] varies fastest. The product of the counts is at most the setting max_segments. */
  ph_dimension dimensions[PH_MAX_DIMENSIONS];
  ph_id local;
  ph_id remote;
  uint32_t flags;      /**< As in ph_put_args. */
  ph_request *request; /**< As in ph_put_args; its result's size_bytes is the sum. */
} ph_put_strided_args;

/** Arguments of ph_get_strided(). */
typedef struct ph_get_strided_args {
  size_t size;        /**< sizeof(ph_get_strided_args) of the caller. */
  void *destination;  /**< Of the first block: index 0 in every dimension. */
  ph_target source;   /**< The first block in the owner's memory. */
  size_t block_bytes; /**< Contiguous on both sides. */
  size_t dimensions_count;
  /** [0] varies fastest. The product of the counts is at most the setting max_segments. */
  ph_dimension dimensions[PH_MAX_DIMENSIONS];
  ph_id local;
  ph_id remote;
  uint32_t flags;      /**< As in ph_get_args. */
  ph_request *request; /**< As in ph_put_args; its result's size_bytes is the sum. */
} ph_get_strided_args;

/**
 * Write a list of segments into memory of `rank`, then post `remote` to its ledger.
 * Ownership:  the list is yours again when the call returned; the sources stay unchanged until the
 *             local completion.
 * Completion: local = all sources reusable (PH_DELIVERED: all bytes landed). remote = probed at the
 *             target after the bytes of all segments are visible. Without any byte it is a bare
 *             notification, as ph_put() of size 0.
 * Status:     as ph_put(); PH_ERR_ARGUMENT also for too many segments.
 * Threads:    any. Never blocks; copies at most piece_bytes itself, the rest in later probes. May
 *             allocate room for its list, reused later; if that fails, PH_ERR_MEMORY, nothing sent.
 * Order:      as one ph_put(); the segments among themselves are unordered.
 */
PH_API ph_status ph_put_vector(ph_context *context, ph_rank rank, const ph_put_vector_args *args);

/**
 * Read a list of segments from memory of `rank`, then post `remote` to the owner's ledger.
 * Ownership:  the list is yours again when the call returned; the destinations are the library's
 *             until the local completion.
 * Completion: local = the data of all segments has landed. remote = probed by the owner, who may
 *             then reuse all of the memory.
 * Status, threads: as ph_put_vector(). Order: as ph_get().
 */
PH_API ph_status ph_get_vector(ph_context *context, ph_rank rank, const ph_get_vector_args *args);

/**
 * ph_put_vector() of blocks that repeat in some dimensions: block (i0, i1, ...) lies at
 * source + i0 * dimensions[0].local_stride_bytes + i1 * dimensions[1].local_stride_bytes + ...
 * here, and likewise there. No dimensions: one block. A count of 0: no bytes.
 * Status:     as ph_put_vector(); PH_ERR_ARGUMENT also for a destination that overlaps itself. That
 *             is judged by its strides alone: in order of their size each must span all that the
 *             smaller ones, and the block, fill.
 * Ownership, completion, threads, order: as ph_put_vector().
 */
PH_API ph_status ph_put_strided(ph_context *context, ph_rank rank, const ph_put_strided_args *args);

/** ph_get_vector() of blocks that repeat as in ph_put_strided(). All else as there. */
PH_API ph_status ph_get_strided(ph_context *context, ph_rank rank, const ph_get_strided_args *args);

#ifdef __cplusplus
}
#endif
#endif
