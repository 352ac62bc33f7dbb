/**
 * Plain data of mailboxes: the choices of their owners, the arguments of the calls, and what events
 * say. mailbox.h has the calls, and says what is promised.
 */
#ifndef PHOTON_MAILBOX_TYPES_H
#define PHOTON_MAILBOX_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "rma.h"
#include "types.h"

/** The unit that a threshold counts. */
#ifdef __cplusplus
typedef enum ph_mailbox_unit
    : int { /* any int may stand in it, as in C */
#else
typedef enum ph_mailbox_unit {
#endif
            PH_MAILBOX_BYTES = 0,     /**< Bytes that landed; those that land twice count twice,
                                         but for PH_MAILBOX_COUNT_ONCE. */
            PH_MAILBOX_OPERATIONS = 1 /**< Messages that landed, those without bytes included. */
    } ph_mailbox_unit;

/** The side that says where in a buffer a message lands. */
#ifdef __cplusplus
typedef enum ph_mailbox_placing
    : int { /* any int may stand in it, as in C */
#else
typedef enum ph_mailbox_placing {
#endif
            PH_MAILBOX_STEERED = 0, /**< The sender: ph_mailbox_put() with an offset. */
            PH_MAILBOX_MANAGED = 1  /**< The receiver: ph_mailbox_append(), one behind the other. */
    } ph_mailbox_placing;

/** Why a buffer was handed over. */
#ifdef __cplusplus
typedef enum ph_mailbox_why
    : int { /* any int may stand in it, as in C */
#else
typedef enum ph_mailbox_why {
#endif
            PH_MAILBOX_COMPLETE = 0, /**< Its threshold was reached. */
            PH_MAILBOX_FULL =
                1, /**< Managed: the next message did not fit; or, divided, went on. */
            PH_MAILBOX_EARLY = 2,      /**< ph_mailbox_inc_epoch(). */
            PH_MAILBOX_CLOSED = 3,     /**< ph_mailbox_close(). */
            PH_MAILBOX_REWOUND = 4,    /**< ph_mailbox_rewind(): its contents are void. */
            PH_MAILBOX_INCOMPLETE = 5, /**< Its threshold was reached only with what senders have
                                         withdrawn. */
            PH_MAILBOX_LINGER = 6      /**< `linger_us` after its first byte. */
    } ph_mailbox_why;

/** Flags of ph_mailbox_args. */
enum {
  /** A message that finds no buffer is refused (PH_ERR_NO_BUFFER) instead of being kept. */
  PH_MAILBOX_REFUSE_EARLY = 1 << 0,
  /**
   * It also takes the messages that name no open mailbox of this lane; a lane has one such mailbox.
   * Each buffer is handed over with one message, and its event says the address that was `named`;
   * a put lands at its offset, an append at the front. `threshold` is 0 or one operation, `placing`
   * PH_MAILBOX_STEERED. A message that names an epoch or an incarnation of another address is
   * refused (PH_ERR_NOT_FOUND), and so is one of a rank that is not `source`.
   */
  PH_MAILBOX_CATCH_ALL = 1 << 1,
  /**
   * Managed: a message may be divided, so that the buffers are one stream of bytes. Where a buffer
   * ends the message goes on in the next; it is an operation of the buffer that its last byte
   * lands in. One that is larger than all that is posted lands as far as there is room, and the
   * rest waits as early messages do; where it may not wait it is refused, and none of it lands.
   * A message that names an epoch, or is larger than `mailbox_carried_max`, is not divided.
   */
  PH_MAILBOX_SPLIT = 1 << 2,
  /**
   * After ph_mailbox_close() messages to it are dropped and counted (`dropped` of ph_counters()),
   * those that waited included: to their senders they are over as if they had landed. A request
   * still ends with PH_ERR_NOT_FOUND. docs/mailbox.md says how long this is remembered. The setting
   * `mailbox_refusals` does the same for addresses that were never open.
   */
  PH_MAILBOX_SILENT_CLOSE = 1 << 3,
  /**
   * Steered: bytes that land where bytes have landed in that epoch, or are landing, do not count:
   * neither for a threshold of bytes nor in the event. The message itself does. Not for a catch-all
   * nor with PH_MAILBOX_READ. ph_mailbox_ranges() says what has landed.
   */
  PH_MAILBOX_COUNT_ONCE = 1 << 4,
  /**
   * Steered: a message that overlaps what has landed in that epoch, or is landing, is refused
   * (PH_ERR_RANGE), and touches nothing. One without bytes overlaps nothing. Else as
   * PH_MAILBOX_COUNT_ONCE; not both.
   */
  PH_MAILBOX_REFUSE_OVERLAP = 1 << 5,
  /** Its buffers are for ph_mailbox_get(): gets count, and messages are refused (PH_ERR_ACCESS).
   * Not for a managed mailbox, nor a catch-all. */
  PH_MAILBOX_READ = 1 << 8,
  /**
   * Steered, with one `source`: buffers are granted to it as they are posted. Where it can store
   * into them itself (shared memory; not over a network) it does so at the call, with messages of
   * 4 KiB and more that name no epoch and have a completion, while this rank makes no call at all.
   * They count when this rank makes progress, as all messages do, and where the guess was wrong it
   * reads the source: nothing else changes. It costs a registration for each posted buffer, and a
   * fence of the processes whenever another message lands, or a buffer is taken back.
   */
  PH_MAILBOX_GRANT_AHEAD = 1 << 9
};

/** ph_mailbox_put_args: whatever epoch is current when the message comes. */
#define PH_ANY_EPOCH UINT64_MAX

/** An open mailbox of this lane. Plain data; zero is none. */
typedef struct ph_mailbox {
  uint64_t bits;
} ph_mailbox;

/**
 * The paper's completion pointer: here the library says that a buffer is complete. It stands in
 * memory of the caller, at a multiple of 64 bytes; zero it before you post. The size is written
 * first and then, with release, the address; so whoever reads the address with acquire sees the
 * size and all bytes of the buffer.
 */
typedef struct ph_mailbox_pointer {
  void *address;       /**< Of the buffer (its first segment); null: not handed over yet. */
  uint64_t size_bytes; /**< One past the highest byte that landed. */
} ph_mailbox_pointer;

/** Arguments of ph_mailbox_open(). Zero what you do not use. */
typedef struct ph_mailbox_args {
  size_t size;        /**< sizeof(ph_mailbox_args) of the caller. */
  uint64_t address;   /**< Any number; the receiving lane has one mailbox under it at a time. */
  uint64_t threshold; /**< Of buffers posted with none; 0: bytes, the size of the buffer. */
  ph_mailbox_unit unit;
  ph_mailbox_placing placing;
  uint32_t flags;
  ph_rank source;    /**< Alone may send here (zeroed: rank 0), or PH_ANY_RANK. */
  uint32_t retained; /**< Buffers handed over last that ph_mailbox_rewind() may return to; at most
                        65,536. */
  /**
   * Managed: so long after the first byte has landed in the current buffer it is handed over as it
   * is (PH_MAILBOX_LINGER), by whatever makes progress then; as by ph_mailbox_inc_epoch(), what has
   * not landed whole lands in the next. 0: never.
   */
  uint64_t linger_us;
} ph_mailbox_args;

/** So many segments may a buffer have. */
enum { PH_MAILBOX_MOST_SEGMENTS = 1024 };

/** Arguments of ph_mailbox_post(). Zero what you do not use. */
typedef struct ph_mailbox_buffer {
  size_t size;                 /**< sizeof(ph_mailbox_buffer) of the caller. */
  void *data;                  /**< Null where there are segments. */
  uint64_t size_bytes;         /**< At least 1; 0 where there are segments. */
  uint64_t threshold;          /**< 0: the mailbox's. */
  ph_mailbox_pointer *pointer; /**< Or null: the event alone tells. */
  uint64_t cookie;             /**< Comes back with the event. */
  /**
   * Null, or ranges of memory that are one logical range, in this order: offsets, sizes and
   * thresholds are those of all of them, and a message may cover several. Copied by the call.
   */
  const ph_block *segments;
  size_t segment_count; /**< 1 to PH_MAILBOX_MOST_SEGMENTS; 0: `data` is the buffer. */
} ph_mailbox_buffer;

/** Bytes of a buffer, counted from its begin. */
typedef struct ph_mailbox_range {
  uint64_t offset;
  uint64_t size_bytes;
} ph_mailbox_range;

/** Where ranges go. */
typedef struct ph_mailbox_range_list {
  ph_mailbox_range *ranges;
  size_t capacity; /**< So many fit there. */
  size_t count;    /**< How many there are; set by the call. */
} ph_mailbox_range_list;

/** A buffer that a mailbox has. */
typedef struct ph_mailbox_posted {
  uint64_t epoch;
  void *data;          /**< As posted, or the first segment. */
  uint64_t size_bytes; /**< Of all segments. */
  uint64_t cookie;
} ph_mailbox_posted;

/** A buffer that was handed over. */
typedef struct ph_mailbox_event {
  ph_mailbox box;
  uint64_t address; /**< Of the mailbox. */
  uint64_t epoch;   /**< The first of an address is 0 (but docs/mailbox.md, Names, where very many
                       were closed); those of a reopened address go on. */
  void *data;       /**< As posted, or the first segment; `cookie` may name the others. */
  uint64_t size_bytes;   /**< One past the highest byte that landed; what did not is undefined. */
  uint64_t posted_bytes; /**< The size with which it was posted. */
  uint64_t bytes;        /**< That landed. */
  uint64_t operations;   /**< That landed. */
  uint64_t cookie;
  uint32_t incarnation;
  ph_mailbox_why why;
  uint64_t named; /**< By the message that landed last; differs from `address` in a catch-all. */
  ph_rank from;   /**< Sender of the message that landed last; PH_ANY_RANK: none has landed. */
  uint64_t withdrawn_bytes;      /**< By ph_mailbox_withdraw(). */
  uint64_t withdrawn_operations; /**< By ph_mailbox_withdraw(). */
} ph_mailbox_event;

/** Arguments of ph_mailbox_put() and ph_mailbox_append(). Zero what you do not use. */
typedef struct ph_mailbox_put_args {
  size_t size;        /**< sizeof(ph_mailbox_put_args) of the caller. */
  uint64_t address;   /**< Of the mailbox. */
  uint64_t offset;    /**< In its buffer. ph_mailbox_append(): 0. */
  const void *source; /**< May be null if size_bytes is 0. */
  uint64_t
      size_bytes; /**< Above the setting `mailbox_carried_max` the receiver reads the source. */
  uint64_t epoch; /**< The one that is meant (zeroed: epoch 0), or PH_ANY_EPOCH. */
  uint32_t incarnation; /**< The one that is meant, or 0: any. */
  uint32_t flags;       /**< PH_NO_LCE: not with more than `mailbox_carried_max` bytes. */
  ph_id local;
  /** Null: the local completion is probed when the source may be reused. Else the request ends with
   * the receiver's verdict, and ph_cancel() calls the message back. Not with PH_NO_LCE. */
  ph_request *request;
  /** Null, or with a request: yours again when that is over. It says then in which epoch the last
   * byte has landed; PH_ANY_EPOCH: in none, as the status of the request says. */
  uint64_t *landed_in;
} ph_mailbox_put_args;

/** Arguments of ph_mailbox_withdraw(). Zero what you do not use. */
typedef struct ph_mailbox_withdraw_args {
  size_t size;          /**< sizeof(ph_mailbox_withdraw_args) of the caller. */
  uint64_t address;     /**< Of the mailbox. */
  uint64_t bytes;       /**< That will not come. */
  uint64_t operations;  /**< That will not come. */
  uint64_t epoch;       /**< The one that is meant (zeroed: epoch 0), or PH_ANY_EPOCH. */
  uint32_t incarnation; /**< The one that is meant, or 0: any. */
  uint32_t flags;       /**< PH_NO_LCE. */
  ph_id local;
  ph_request *request; /**< As of ph_mailbox_put(). */
} ph_mailbox_withdraw_args;

/** Arguments of ph_mailbox_get(). Zero what you do not use. */
typedef struct ph_mailbox_get_args {
  size_t size;       /**< sizeof(ph_mailbox_get_args) of the caller. */
  uint64_t address;  /**< Of the mailbox. */
  uint64_t offset;   /**< In its buffer. */
  void *destination; /**< May be null if size_bytes is 0. */
  uint64_t size_bytes;
  uint64_t epoch;       /**< A retained one, or one that is posted (zeroed: epoch 0), or
                           PH_ANY_EPOCH: the current one. */
  uint32_t incarnation; /**< The one that is meant, or 0: any. */
  uint32_t flags;       /**< PH_NO_LCE. */
  ph_id local;
  ph_request *request; /**< Null: the local completion is probed. Not together with PH_NO_LCE. */
} ph_mailbox_get_args;

#endif
