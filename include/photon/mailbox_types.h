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
            PH_MAILBOX_BYTES = 0,     /**< Bytes that landed, or that gets have read; those that
                                         land twice count twice, but for PH_MAILBOX_COUNT_ONCE. */
            PH_MAILBOX_OPERATIONS = 1 /**< Messages that landed, or gets, those without bytes
                                         included. */
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
                1, /**< Managed: the next message did not fit; PH_MAILBOX_SPLIT: no room is left. */
            PH_MAILBOX_EARLY = 2,      /**< ph_mailbox_inc_epoch(). */
            PH_MAILBOX_CLOSED = 3,     /**< ph_mailbox_close(). */
            PH_MAILBOX_REWOUND = 4,    /**< ph_mailbox_rewind(): its contents are void. */
            PH_MAILBOX_INCOMPLETE = 5, /**< Its threshold was reached only with what senders have
                                         withdrawn. */
            PH_MAILBOX_LINGER = 6      /**< `linger_us` have passed since its first byte. */
    } ph_mailbox_why;

/** Flags of ph_mailbox_args. */
enum {
  /**
   * A message that finds no buffer is refused (PH_ERR_NO_BUFFER) instead of being kept. One that
   * has its turn only behind a large message, which is landing in a managed mailbox, waits for that
   * all the same.
   */
  PH_MAILBOX_REFUSE_EARLY = 1 << 0,
  /**
   * It also takes the messages that name no open mailbox of this lane; a lane has one such mailbox.
   * Each buffer is handed over with one message, and its event says the address that was `named`;
   * a put lands at its offset, an append at the front. `threshold` is 0 or one operation, `placing`
   * PH_MAILBOX_STEERED. A message that names an epoch or an incarnation of another address is
   * refused (PH_ERR_NOT_FOUND), and so is one of a rank that is not `source`. Gets and withdrawals
   * of other addresses it does not take.
   */
  PH_MAILBOX_CATCH_ALL = 1 << 1,
  /**
   * Managed: a message may be divided, so that the buffers are one stream of bytes. Where a buffer
   * ends the message goes on in the next; it is an operation of the buffer that its last byte
   * lands in. One that is larger than all that is posted lands as far as there is room, and the
   * rest waits as early messages do; where it may not wait it is refused, and none of it lands.
   * A message that names an epoch, or is larger than its sender's `mailbox_carried_max`, is not
   * divided.
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
   * neither for a threshold of bytes nor in the event. The message itself does. Not for a
   * catch-all, nor with PH_MAILBOX_READ or PH_MAILBOX_GRANT_AHEAD. ph_mailbox_ranges() says what
   * has landed.
   */
  PH_MAILBOX_COUNT_ONCE = 1 << 4,
  /**
   * Steered: a message that overlaps what has landed in that epoch, or is landing, is refused
   * (PH_ERR_RANGE), and touches nothing. One without bytes overlaps nothing. In all else it is as
   * PH_MAILBOX_COUNT_ONCE; a mailbox has one of the two.
   */
  PH_MAILBOX_REFUSE_OVERLAP = 1 << 5,
  /**
   * Its buffers are for ph_mailbox_get(): gets count, and messages are refused (PH_ERR_ACCESS). Not
   * for a managed mailbox, nor a catch-all. A get of more than the reader's `mailbox_carried_max`
   * counts its bytes part by part, so a threshold in bytes may end the epoch in the middle of it:
   * count operations where gets may be large.
   */
  PH_MAILBOX_READ = 1 << 8,
  /**
   * Steered, with one `source`: buffers of one range are granted to it as they are posted. Where it
   * can store into them itself (shared memory; not over a network) it does so at the call, with
   * messages of 4 KiB and more that name neither epoch nor incarnation and have a completion, while
   * this rank makes no call at all. They count when this rank makes progress, as all messages do,
   * and where the guess was wrong it reads the source: nothing else changes. Not with
   * PH_MAILBOX_READ, a catch-all, PH_MAILBOX_COUNT_ONCE or PH_MAILBOX_REFUSE_OVERLAP.
   *
   * Before it can store ahead both ranks have to have met, and the source has to have read the
   * grants: this rank's ph_flush() of it after the posts pushes them, and any progress of the
   * source reads them.
   *
   * It costs a registration for each posted buffer, and a fence of the processes whenever another
   * message lands, or a buffer is taken back. So `max_regions` (PHOTON_MAX_REGIONS) of this rank
   * bounds the buffers that are granted. Each message that is stored ahead holds one of the
   * source's `requests` (PHOTON_REQUESTS) until this rank has counted it, and is one of the 1,024
   * large messages that may be under way to a rank.
   */
  PH_MAILBOX_GRANT_AHEAD = 1 << 9
};

/** In place of the number of an epoch: whichever is current when the message or the get comes. */
#define PH_ANY_EPOCH UINT64_MAX

/** A handle of an open mailbox of this lane. It is plain data; zero names no mailbox. */
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
  void *address;       /**< The buffer (its first segment); null: not handed over yet. */
  uint64_t size_bytes; /**< One past the highest byte that landed, counted from its begin. */
} ph_mailbox_pointer;

/** Arguments of ph_mailbox_open(). Zero what you do not use. */
typedef struct ph_mailbox_args {
  size_t size;        /**< sizeof(ph_mailbox_args) of the caller. */
  uint64_t address;   /**< Any number; the receiving lane has one mailbox under it at a time. */
  uint64_t threshold; /**< For buffers that are posted with none, in units. 0: in bytes, the size
                         of the buffer; in operations each buffer has to have its own. */
  ph_mailbox_unit unit;
  ph_mailbox_placing placing;
  uint32_t flags;    /**< PH_MAILBOX_REFUSE_EARLY and the others. */
  ph_rank source;    /**< The one rank that may send here (zeroed: rank 0), or PH_ANY_RANK. */
  uint32_t retained; /**< So many of the buffers handed over last are retained: gets may read them,
                        and ph_mailbox_rewind() may return to them. At most 65,536. */
  /**
   * Managed: so many microseconds after the first byte has landed in the current buffer it is
   * handed over as it is (PH_MAILBOX_LINGER), by whatever makes progress then; as by
   * ph_mailbox_inc_epoch(), what has not landed whole lands in the next. 0: never.
   */
  uint64_t linger_us;
} ph_mailbox_args;

/** A buffer may have so many segments. */
enum { PH_MAILBOX_MOST_SEGMENTS = 1024 };

/** Arguments of ph_mailbox_post(). Zero what you do not use. */
typedef struct ph_mailbox_buffer {
  size_t size;                 /**< sizeof(ph_mailbox_buffer) of the caller. */
  void *data;                  /**< Null where there are segments. */
  uint64_t size_bytes;         /**< At least 1; 0 where there are segments. */
  uint64_t threshold;          /**< 0: the mailbox's. */
  ph_mailbox_pointer *pointer; /**< Where it is written that the buffer is complete; null: nowhere,
                                  the event alone tells. */
  uint64_t cookie;             /**< Any number; it comes back with the event. */
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

/** Room for ranges, which is the caller's. */
typedef struct ph_mailbox_range_list {
  ph_mailbox_range *ranges; /**< Null if capacity is 0. */
  size_t capacity;          /**< So many fit there. */
  size_t count;             /**< How many there are; set by the call. It may be more than fit. */
} ph_mailbox_range_list;

/** A buffer that a mailbox has. */
typedef struct ph_mailbox_posted {
  uint64_t epoch;
  void *data;          /**< As posted, or the first segment. */
  uint64_t size_bytes; /**< The sum of all segments. */
  uint64_t cookie;     /**< As posted. */
} ph_mailbox_posted;

/** A buffer that was handed over. */
typedef struct ph_mailbox_event {
  ph_mailbox box;
  uint64_t address; /**< The mailbox's. */
  uint64_t epoch;   /**< The first of an address is 0 (but docs/mailbox.md, Names, where very many
                       were closed); those of a reopened address go on. */
  void *data;       /**< As posted, or the first segment; `cookie` may name the others. */
  uint64_t size_bytes;   /**< One past the highest byte that landed; what did not is undefined. */
  uint64_t posted_bytes; /**< The size with which it was posted. */
  uint64_t bytes;        /**< So many landed (PH_MAILBOX_READ: were read). */
  uint64_t operations;   /**< So many landed (PH_MAILBOX_READ: gets). */
  uint64_t cookie;       /**< As posted. */
  uint32_t incarnation; /**< The mailbox's when the buffer was handed over. One that was rewound has
                           that from before the rewind. */
  ph_mailbox_why why;
  uint64_t named; /**< The address that the message which landed last has named; differs from
                     `address` in a catch-all. */
  ph_rank from;   /**< Sender of the message that landed last; PH_ANY_RANK: none has landed. */
  uint64_t withdrawn_bytes;      /**< So many were withdrawn (ph_mailbox_withdraw()). */
  uint64_t withdrawn_operations; /**< So many were withdrawn. */
} ph_mailbox_event;

/** Arguments of ph_mailbox_put() and ph_mailbox_append(). Zero what you do not use. */
typedef struct ph_mailbox_put_args {
  size_t size;        /**< sizeof(ph_mailbox_put_args) of the caller. */
  uint64_t address;   /**< The mailbox's. */
  uint64_t offset;    /**< In its buffer, in bytes. ph_mailbox_append(): 0. */
  const void *source; /**< May be null if size_bytes is 0. */
  uint64_t
      size_bytes; /**< Above the setting `mailbox_carried_max` the receiver reads the source. */
  uint64_t epoch; /**< The one that is meant (zeroed: epoch 0), or PH_ANY_EPOCH. */
  uint32_t incarnation; /**< The one that is meant, or 0: any. */
  uint32_t flags;       /**< PH_NO_LCE: not with more than `mailbox_carried_max` bytes. */
  ph_id local;          /**< Comes with the local completion, and with a refusal. */
  /**
   * Null: the local completion is probed when the source may be reused. Else the request ends with
   * the receiver's verdict, and ph_cancel() calls the message back. Not with PH_NO_LCE.
   */
  ph_request *request;
  /**
   * Null, or, with a request, a place that is yours again when that is over. It says then in which
   * epoch the last byte has landed; PH_ANY_EPOCH: in none, as the status of the request says.
   */
  uint64_t *landed_in;
} ph_mailbox_put_args;

/** Arguments of ph_mailbox_withdraw(). Zero what you do not use. */
typedef struct ph_mailbox_withdraw_args {
  size_t size;          /**< sizeof(ph_mailbox_withdraw_args) of the caller. */
  uint64_t address;     /**< The mailbox's. */
  uint64_t bytes;       /**< So many will not come. */
  uint64_t operations;  /**< So many will not come. */
  uint64_t epoch;       /**< The one that is meant (zeroed: epoch 0), or PH_ANY_EPOCH. */
  uint32_t incarnation; /**< The one that is meant, or 0: any. */
  uint32_t flags;       /**< PH_NO_LCE. */
  ph_id local;
  ph_request *request; /**< As in ph_mailbox_put_args. */
} ph_mailbox_withdraw_args;

/** Arguments of ph_mailbox_get(). Zero what you do not use. */
typedef struct ph_mailbox_get_args {
  size_t size;       /**< sizeof(ph_mailbox_get_args) of the caller. */
  uint64_t address;  /**< The mailbox's. */
  uint64_t offset;   /**< In its buffer, in bytes. */
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
