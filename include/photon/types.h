/**
 * Photon's basic types: status codes, ranks, ids, errors. C11, libc only.
 */
#ifndef PHOTON_TYPES_H
#define PHOTON_TYPES_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define PH_API __attribute__((visibility("default")))
#else
#define PH_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** One rank's membership in one job. Opaque; see context.h. */
typedef struct ph_context ph_context;

/** A process's number in its job: 0 .. ph_size_of() - 1. */
typedef uint32_t ph_rank;

enum {
  PH_MAX_ID_BYTES = 1024,   /**< Upper bound of the setting `max_cid_size`. */
  PH_ERROR_TEXT_BYTES = 512 /**< Room for one error message, terminator included. */
};

/** Probe, wait and flush: every peer. */
#define PH_ANY_RANK ((ph_rank)0xffffffffu)

/** Wait without a time limit. */
#define PH_FOREVER INT64_MAX

/**
 * What a call returns. Zero is success; positive values are no errors (nothing was lost, the
 * caller goes on); negative values are errors, and ph_last_error() says what, where and what to do.
 */
#ifdef __cplusplus
typedef enum ph_status
    : int { /* any int may stand in it, as in C */
#else
typedef enum ph_status {
#endif
            PH_OK = 0,
            PH_AGAIN = 1,         /**< Nothing was started: probe, then call again. */
            PH_TIMEOUT = 2,       /**< The time given ran out; nothing was lost. */
            PH_ERR_ARGUMENT = -1, /**< A null pointer, an unknown flag or kind, a contradiction. */
            PH_ERR_RANK = -2,     /**< No such rank in this job. */
            PH_ERR_KEY = -3,    /**< The key names no registration of that peer (wrong or stale). */
            PH_ERR_RANGE = -4,  /**< The access leaves the registered region. */
            PH_ERR_ACCESS = -5, /**< The region does not grant this, or its memory is gone. */
            PH_ERR_ID_SIZE = -6,   /**< An id is longer than the setting `max_cid_size`. */
            PH_ERR_STATE = -7,     /**< No context, finalized, or what is named is still in use. */
            PH_ERR_FORKED = -8,    /**< The context belongs to the parent process. */
            PH_ERR_CONFIG = -9,    /**< A setting has a value that cannot be used. */
            PH_ERR_MEMORY = -10,   /**< Out of memory, of arena space or of registration slots. */
            PH_ERR_PEER = -11,     /**< The peer died or its connection broke. */
            PH_ERR_DEPARTED = -12, /**< The peer has finalized. */
            PH_ERR_PROTOCOL = -13, /**< A peer sent, or has in shared memory, what is malformed. */
            PH_ERR_SYSTEM = -14,   /**< A system call failed; the error carries its errno. */
            PH_ERR_BOOTSTRAP =
                -15, /**< The job could not be formed (launcher, exchange, versions). */
            PH_ERR_NOT_FOUND = -16, /**< The thing named does not exist here. */
            PH_ERR_EPOCH = -17,     /**< The epoch or incarnation that a message names is over. */
            PH_ERR_NO_BUFFER = -18  /**< A mailbox has no buffer for a message. */
    } ph_status;

/** One line for a status, static storage, never null; "unknown status" for other numbers. */
PH_API const char *ph_status_text(ph_status status);

/**
 * A completion id: up to `max_cid_size` bytes that mean something to the program only.
 * The bytes are copied before the call returns. `size_bytes` 0 is a valid, empty id.
 */
typedef struct ph_id {
  const void *data;
  uint32_t size_bytes;
} ph_id;

/** A failure in words. `text` names the operation, peer, size and the next step. */
typedef struct ph_error {
  ph_status status;
  int native_errno; /**< errno of the system call behind it, else 0. */
  ph_rank rank;     /**< The peer concerned, else PH_ANY_RANK. */
  char text[PH_ERROR_TEXT_BYTES];
} ph_error;

/** The library's version as major * 10000 + minor * 100 + patch; any time, any thread. */
PH_API uint32_t ph_version(void);

#ifdef __cplusplus
}
#endif
#endif
