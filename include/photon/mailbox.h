/**
 * Mailboxes: the receiver owns its memory. A sender names a mailbox of a rank and an offset, never
 * an address; the receiver posts buffers, says when one is complete, and nothing that comes late
 * can touch what it has got back, or what was posted instead.
 * Source of the idea: Grant, Levenhagen, Dosanjh and Widener, "RVMA: Remote Virtual Memory Access".
 * docs/mailbox.md says what the paper leaves open, and what was chosen.
 *
 *   buffer: posted -- those before it are handed over --> current -- threshold reached, or
 *           ph_mailbox_inc_epoch(), or ph_mailbox_close() --> handed over: an event tells, and the
 *           memory is the owner's again
 *
 * Promises (docs/mailbox.md):
 *  - A message lands in one epoch, whole (but PH_MAILBOX_SPLIT), and is counted when its last byte
 * is in place; or it is refused, touches nothing, and its sender hears of it.
 *  - What was handed over changes no more, whatever its senders do.
 *  - Messages of one lane to one mailbox land in the order of their calls, but that one which names
 *    a later epoch may wait while others land; epochs are handed over in order.
 *  - A mailbox without a buffer delays no other mailbox, put or get: a message that waits there
 *    uses up no credit of its sender.
 * A message lands when its receiver makes progress: in any probe, test or wait, or by its progress
 * thread. It never waits for ids that the receiver has not probed.
 */
#ifndef PHOTON_MAILBOX_H
#define PHOTON_MAILBOX_H

#include "rma.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/**
 * Opens a mailbox of this lane.
 * Effect:  messages to `address` land in the buffers that are posted to it; those that came before
 *          the first buffer, and after the call, are kept up to `mailbox_early_bytes` a peer. A
 *          reopened address is a new incarnation, and its epochs go on where they ended.
 * Status:  PH_ERR_ARGUMENT (an unknown unit, placing or flag; too many retained; what the flags do
 *          not allow; a steered mailbox that lingers), PH_ERR_RANK (`source`), PH_ERR_STATE (the
 *          address is open; the lane has a catch-all; finalized), PH_ERR_MEMORY, PH_ERR_FORKED.
 * Threads: any, as of all calls here. Never blocks.
 */
PH_API ph_status ph_mailbox_open(ph_context *context, const ph_mailbox_args *args, ph_mailbox *box);

/**
 * Posts a buffer: it is filled after all that were posted before.
 * Ownership: the buffer, and where its pointer stands, are the library's until the event. The list
 *            of segments is the caller's again at once.
 * Status:    PH_ERR_ARGUMENT (no bytes, null, a pointer that is not at a multiple of 64, a
 *            threshold that is 0 or that the buffer can never count; segments that are empty, wrap
 *            around, overlap each other or are too many; both segments and `data`), PH_ERR_STATE
 *            (it overlaps a buffer that this mailbox has or retains; the handle is closed or
 *            another lane's), PH_ERR_MEMORY.
 */
PH_API ph_status ph_mailbox_post(ph_context *context, ph_mailbox box,
                                 const ph_mailbox_buffer *buffer);

/**
 * Makes progress and takes an event of that mailbox, or, if `box` is zero, of any of this lane:
 * PH_OK; else PH_AGAIN, and `event` is unchanged. Events of one mailbox come in the order of its
 * epochs. PH_ERR_ARGUMENT: `event` is null. PH_ERR_STATE: closed, and no event is left.
 */
PH_API ph_status ph_mailbox_take(ph_context *context, ph_mailbox box, ph_mailbox_event *event);

/** ph_mailbox_take() that sleeps as ph_wait() does; PH_TIMEOUT after timeout_us (or PH_FOREVER). */
PH_API ph_status ph_mailbox_wait(ph_context *context, ph_mailbox box, ph_mailbox_event *event,
                                 int64_t timeout_us);

/**
 * Hands the current buffer over as it is: messages that have not landed whole land in the next,
 * which is current at once. The event comes when nothing writes to the buffer any more: at once,
 * but where a network is reading a large message into it. Status: PH_AGAIN: there is no buffer.
 * PH_ERR_STATE: as ph_mailbox_post().
 */
PH_API ph_status ph_mailbox_inc_epoch(ph_context *context, ph_mailbox box);

/** How many epochs were handed over: the number of the current one. PH_ERR_STATE: closed. */
PH_API ph_status ph_mailbox_epoch(ph_context *context, ph_mailbox box, uint64_t *epoch,
                                  uint32_t *incarnation);

/**
 * Gives a retained buffer back before its time: it may be posted again. PH_ERR_STATE: the epoch is
 * not retained.
 */
PH_API ph_status ph_mailbox_release(ph_context *context, ph_mailbox box, uint64_t epoch);

/**
 * Makes `epoch`, which has to be retained, the last complete one again.
 * Effect: buffers of later epochs that are retained come back by events, as void
 *         (PH_MAILBOX_REWOUND); the current buffer starts empty, as epoch + 1; the mailbox has a
 * new incarnation, and messages that name an older one are refused (PH_ERR_EPOCH).
 */
PH_API ph_status ph_mailbox_rewind(ph_context *context, ph_mailbox box, uint64_t epoch);

/**
 * The retained buffers, newest first: at most `capacity`; *count says how many there are. The event
 * of each is repeated.
 */
PH_API ph_status ph_mailbox_retained(ph_context *context, ph_mailbox box, ph_mailbox_event *events,
                                     size_t capacity, size_t *count);

/**
 * What has landed in the buffer of that epoch, which is current, posted or retained, in a mailbox
 * with PH_MAILBOX_COUNT_ONCE or PH_MAILBOX_REFUSE_OVERLAP: ranges in order, none of which touches
 * another. PH_ERR_STATE: the mailbox keeps no ranges, or the epoch has no such buffer.
 */
PH_API ph_status ph_mailbox_ranges(ph_context *context, ph_mailbox box, uint64_t epoch,
                                   ph_mailbox_range_list *list);

/**
 * The buffers that a mailbox has and has not handed over, in the order of their epochs: at most
 * `capacity`; *count says how many there are. Source of the idea: RVMA_Win_get_buf_ptrs() of the
 * paper. PH_ERR_STATE: closed.
 */
PH_API ph_status ph_mailbox_buf_ptrs(ph_context *context, ph_mailbox box,
                                     ph_mailbox_posted *buffers, size_t capacity, size_t *count);

/**
 * Closes a mailbox. All buffers come back by events, the current one with what has landed; messages
 * that were kept, and all that come later, are refused (PH_ERR_NOT_FOUND), or dropped
 * (PH_MAILBOX_SILENT_CLOSE). Events that were not
 * taken stay, and ph_mailbox_take() of the handle finds them.
 */
PH_API ph_status ph_mailbox_close(ph_context *context, ph_mailbox box);

/**
 * Sends a message to a steered mailbox of `rank`.
 * Ownership:  the source is yours again with the local completion; unchanged until then.
 * Completion: local = the source may be reused: of more than `mailbox_carried_max` bytes that is
 *             when the receiver has read them, or refused the message. With a request: when the
 * message has landed (PH_OK), or was refused. Of a message that was over, a refusal comes as one
 * more local completion with the error, as of a put. Refusals:   PH_ERR_NOT_FOUND (no such
 * mailbox), PH_ERR_ACCESS (it is for another source), PH_ERR_RANGE (it leaves the buffer, or
 * overlaps what is there: PH_MAILBOX_REFUSE_OVERLAP), PH_ERR_MEMORY (the receiver finds no memory
 * for its ranges),
 * PH_ERR_EPOCH (the epoch or the incarnation that it names is over), PH_ERR_NO_BUFFER (there is
 * none, and it is not kept), PH_ERR_ARGUMENT (an offset into a managed mailbox, an append to a
 * steered one, an empty append). Status:     PH_AGAIN: nothing was sent; `mailbox_early_bytes` are
 * under way to that rank, or 1,024 large messages, or `requests` operations, or there is no room.
 *             PH_ERR_ARGUMENT (unknown flags, a null source, an offset that wraps), PH_ERR_RANK,
 *             PH_ERR_ID_SIZE, PH_ERR_MEMORY, PH_ERR_PEER, PH_ERR_DEPARTED, PH_ERR_STATE,
 *             PH_ERR_FORKED.
 * Abort:      ph_cancel() of the request asks the receiver for the message (PH_TOO_LATE: it has
 *             gone). The request ends with the verdict: PH_OK, it had landed, and counts
 *             (`landed_in`); PH_ERR_NOT_FOUND, it had not, nothing of it counts or will, and the
 *             source is yours; PH_ERR_PEER, the receiver was lost, and nobody knows. Any other
 *             error: it was refused. What PH_MAILBOX_SPLIT has begun to land goes on.
 * Order:      as above. Threads: any. Never blocks.
 */
PH_API ph_status ph_mailbox_put(ph_context *context, ph_rank rank, const ph_mailbox_put_args *args);

/** The same to a managed mailbox: the receiver says where it lands. */
PH_API ph_status ph_mailbox_append(ph_context *context, ph_rank rank,
                                   const ph_mailbox_put_args *args);

/** ph_mailbox_put() of any epoch and under PH_NO_LCE, with arguments in registers; at most
 * `mailbox_carried_max` bytes. */
PH_API ph_status ph_mailbox_put_u64(ph_context *context, ph_rank rank, uint64_t address,
                                    uint64_t offset, ph_const_block source);

/**
 * Says that so many bytes and operations will not come.
 * Effect:     they count for the threshold of the current buffer, or of that of the epoch which is
 *             named, as messages would, but nothing lands. If the threshold is so reached the
 * buffer is handed over (PH_MAILBOX_INCOMPLETE); its event says what has landed, and how much was
 * withdrawn. What passes the threshold counts for no other epoch. Completion: as ph_mailbox_put()
 * of no bytes. Refusals: PH_ERR_NOT_FOUND (no such mailbox; a catch-all takes none), PH_ERR_ACCESS
 * (it is for another source, or for reading), PH_ERR_ARGUMENT (it is the catch-all), PH_ERR_EPOCH
 * (the epoch or the incarnation that it names is over), PH_ERR_RANGE (more than the buffer's
 * threshold, or the sums wrap), PH_ERR_NO_BUFFER (there is none, and it is not kept). Status: as
 * ph_mailbox_put(); PH_ERR_ARGUMENT also where there are no bytes nor operations. Order:      in
 * that of the messages of its lane to that mailbox. Threads: any. Never blocks.
 */
PH_API ph_status ph_mailbox_withdraw(ph_context *context, ph_rank rank,
                                     const ph_mailbox_withdraw_args *args);

/**
 * Reads from a buffer of a mailbox of `rank`: the current one, or that of an epoch which is
 * retained or posted. All bytes are of one epoch, and of one moment where there are at most
 * `mailbox_carried_max`. Its owner copies them in its progress, so nothing reads a buffer that came
 * back.
 * Effect:     where the mailbox was opened with PH_MAILBOX_READ the get counts for the threshold,
 * as one operation and by its bytes: an owner learns so that its block was read N times. Ownership:
 * the destination is the library's until the completion; what an error leaves there is undefined.
 * Completion: local, or the request: the bytes are there, or why not.
 * Refusals:   PH_ERR_NOT_FOUND (no such mailbox), PH_ERR_ACCESS (it is for another source),
 *             PH_ERR_RANGE (it leaves the buffer), PH_ERR_EPOCH (the epoch is over and not
 * retained, also in the middle of a large get, or the incarnation is), PH_ERR_NO_BUFFER (none is
 *             posted for that epoch: a get does not wait for one), PH_ERR_MEMORY (at its owner).
 * Status:     as ph_mailbox_put(). Threads: any. Never blocks.
 */
PH_API ph_status ph_mailbox_get(ph_context *context, ph_rank rank, const ph_mailbox_get_args *args);

#ifdef __cplusplus
}
#endif
#endif
