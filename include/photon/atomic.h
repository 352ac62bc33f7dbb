/**
 * Atomic operations on words of a peer's registered memory.
 *
 * They are atomic against each other and against the owner's own atomic instructions on that word,
 * whatever way they travel: either the owner's processor carries them out, in any of its probes,
 * or, on memory that the initiator has mapped (ph_alloc), the initiator's does by itself. Puts and
 * gets of the same word are not atomic against them.
 */
#ifndef PHOTON_ATOMIC_H
#define PHOTON_ATOMIC_H

#include "memory.h"
#include "request.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What becomes of the word. Integers wrap around. */
#ifdef __cplusplus
typedef enum ph_op
    : int { /* any int may stand in it, as in C */
#else
typedef enum ph_op {
#endif
            PH_OP_ADD = 1,
            PH_OP_SWAP = 2,
            PH_OP_COMPARE_SWAP = 3, /**< `operand` is stored if the word equals `compare`. */
            PH_OP_MIN = 4,
            PH_OP_MAX = 5,
            PH_OP_AND = 6,
            PH_OP_OR = 7,
            PH_OP_XOR = 8,
            PH_OP_MULTIPLY = 9, /**< From here on: collectives only (coll.h). */
            PH_OP_LOGICAL_AND = 10,
            PH_OP_LOGICAL_OR = 11,
            PH_OP_LOGICAL_XOR = 12,
            PH_OP_MINLOC = 13, /**< Of pairs: the least value; of equal ones the least index. */
            PH_OP_MAXLOC = 14
    } ph_op;

/**
 * The type of a word or an element. ph_atomic() knows the first six, and PH_FLOAT and PH_DOUBLE
 * with PH_OP_ADD only; collectives know all (coll.h).
 */
#ifdef __cplusplus
typedef enum ph_type : int { /* any int may stand in it, as in C */
#else
typedef enum ph_type {
#endif
                             PH_INT32 = 1,
                             PH_UINT32 = 2,
                             PH_INT64 = 3,
                             PH_UINT64 = 4,
                             PH_FLOAT = 5,
                             PH_DOUBLE = 6,
                             PH_INT8 = 7,
                             PH_UINT8 = 8,
                             PH_INT16 = 9,
                             PH_UINT16 = 10,
                             PH_HALF = 11,     /**< IEEE binary16 */
                             PH_BFLOAT16 = 12, /**< The upper half of a float. */
                             PH_LONG_DOUBLE = 13,
                             PH_COMPLEX_FLOAT = 14, /**< Real part, imaginary part. */
                             PH_COMPLEX_DOUBLE = 15,
                             PH_COMPLEX_LONG_DOUBLE = 16,
                             PH_FLOAT_INT = 17,  /**< struct { float value; int32_t index; } */
                             PH_DOUBLE_INT = 18, /**< struct { double value; int32_t index; } */
                             PH_INT32_INT = 19,  /**< struct { int32_t value; int32_t index; } */
                             PH_INT64_INT = 20,  /**< struct { int64_t value; int32_t index; } */
                             PH_BYTES = 21       /**< Bytes, or elements of a ph_fold: not folded
                                                    otherwise. */
} ph_type;

/** One word: the member that `type` names. */
typedef union ph_value {
  int32_t int32;
  uint32_t uint32;
  int64_t int64;
  uint64_t uint64;
  float float32;
  double float64;
} ph_value;

/** Arguments of ph_atomic(). Zero what you do not use. */
typedef struct ph_atomic_args {
  size_t size;      /**< sizeof(ph_atomic_args) of the caller. */
  ph_target target; /**< Aligned to the word's size. */
  ph_op op;
  ph_type type;
  ph_value operand;
  ph_value compare; /**< PH_OP_COMPARE_SWAP only. */
  void *fetched;    /**< Room for a word: what it held before. Null: not wanted. */
  ph_id local;
  ph_id remote;
  uint32_t flags;      /**< PH_NO_LCE, PH_NO_RCE, PH_ORDER_NONE. */
  ph_request *request; /**< As in ph_put_args. */
} ph_atomic_args;

/**
 * Change a word of `rank` and fetch what it held, then post `remote` to its ledger.
 * Ownership:  *fetched is the library's until the local completion.
 * Completion: local = carried out, and *fetched is there. remote = probed at the target after that;
 *             in posting order with the ids of puts, unless PH_ORDER_NONE.
 * Access:     the region must grant PH_ACCESS_WRITE, and PH_ACCESS_READ if something is fetched.
 * Status:     as ph_put(); PH_ERR_ARGUMENT also for an operation that the type does not know, or a
 *             place that is not aligned.
 * Threads:    any. Never blocks. The target's progress is needed where the word is not in mapped
 *             memory (table in docs/memory-model.md).
 * Order:      atomics of one rank to one peer are carried out in posting order; against bytes of
 *             puts and gets they are unordered, unless ph_fence() or ph_flush() stands between.
 */
PH_API ph_status ph_atomic(ph_context *context, ph_rank rank, const ph_atomic_args *args);

#ifdef __cplusplus
}
#endif
#endif
